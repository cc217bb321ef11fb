"""Positions: the JSON of a state of the game, in and out.

Every field may be absent; what it then is stands beside it::

    rules         "standard", or {"base": "standard", "opening_min": 30, ...}
    players       as many as there are hands, at least the fewest that the rules allow
    dealer        the seat to the right of ``seat``
    seat          the seat to the left of ``dealer``; 0 where that is absent too
    phase         "play" where there is a ``turn``, else "draw"; also "round_over", "match_over"
    hands         a list for each seat of cards and {"hidden": n}, n cards drawn from the unseen ones by ``seed``;
                  a hand that is not given is hidden: the cards that the rules deal, one more for a seat that has drawn
    has_opened    false for each seat
    turns         turns completed in the round: 1 for a seat that opened in an earlier turn, else 0
    scores        0 for each seat
    table         no melds; null is a slot that is empty
    pile          empty; its last card is the upcard
    stock         all the unseen cards, in an order drawn from ``seed``; its last card is drawn next
    turn          nothing but a card drawn from the stock; see below
    seed, game    0; they decide hidden cards, the order of an absent stock, and every shuffle to come
    episode       "round", or "match": what follows the end of the round
    round         0: rounds finished before this one
    in_match, in_round   true for each seat (in_round: as in_match)
    reentries     0 for each seat
    round_turns, match_turns   turns completed by all: the sum of ``turns``, and the same
    recycles, stock_known      0: how often the pile became the stock, how many bottom cards everybody knows
    known         no cards for each seat: what everybody saw it take and that it still holds
    discards      no cards for each seat: what it has discarded in this round
    pending       no seats: who has yet to choose re-entry, in "round_over"
    winners       no seats
    last_round    none has ended: {"end", "closer", "closed_in_hand", "points", "opened", "in_round", "turns"}

Points are at most 2**30, and counts of turns, rounds, re-entries and recycles at most 2**24.

And of ``turn``::

    drew          "stock", or "upcard"
    card          the upcard that was taken; until it is played the hand has it, if need be for a hidden card
    card_played   false: whether a card of that kind has been played since
    duty          what the upcard obliges to: "none", "play", "open_with", "open"; what the rules say, "none" once it
                  was played
    laid_points   0: points towards the opening
    laid_any      whether there are such points or new melds
    opened_now    whether the seat has opened and there are such points
    jokers_owed   0: jokers taken by swaps and still to be played; the hand has them, likewise
    new, last     no slots, none: the melds laid this turn, the last of them
    split         none: the slot whose run must be split
"""

from __future__ import annotations

from scala40_env.core.position_reader import position_from_json
from scala40_env.core.position_writer import position_to_json

__all__ = ["position_from_json", "position_to_json"]
