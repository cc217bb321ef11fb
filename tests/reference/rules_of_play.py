"""``apply``: what an action does, through the end of the turn and of the round.

A round's end is split in two. ``apply`` stops with the books closed: totals, who is out, who may re-enter, winners,
the next dealer. Where the match goes on, the state ``awaits_deal``, and the caller deals the next round.
"""

from __future__ import annotations

from collections.abc import Callable

from scala40_env.core import actions
from tests.reference import melds, plays
from tests.reference.legality import legal_actions
from tests.reference.plays import candidates
from tests.reference.scoring import ask_next_or_pass_deal, end_round, reenter
from tests.reference.state import (
    CLOSED,
    DEAD_POSITION,
    DRAW,
    PLAY,
    ROUND_OVER,
    STOCK,
    STOCK_OUT,
    STUCK,
    TURN_CAP,
    State,
    Turn,
)

__all__ = ["apply", "candidates", "is_dead_position"]

Reshuffle = Callable[[list[int]], list[int]]
"""Gives the new order of a stock that is shuffled: the cards in, the last one of the answer on top."""


def apply(state: State, action: int, reshuffle: Reshuffle | None = None) -> State:
    """The state after an action; the state given is not changed.

    Args:
        state: The position.
        action: An action that exists there; that it is legal is not checked.
        reshuffle: Where the pile is shuffled to become the stock, its new order.

    Raises:
        ValueError: The action does not exist there.
    """
    if state.phase == ROUND_OVER and state.pending_reentry and action in (actions.REENTER, actions.LEAVE):
        return _choose_reentry(state, action)
    if state.phase not in (DRAW, PLAY) or action not in candidates(state):
        raise ValueError(f"action {action} does not exist in phase {state.phase}")
    if action == actions.DRAW:
        return _draw(state, reshuffle)
    if action == actions.TAKE:
        return plays.take(state)
    if actions.DISCARD <= action < actions.SPLIT:
        return _discard(state, action - actions.DISCARD)
    after = plays.play(state, action)
    if plays.goes_out_by_play(after):
        _count_turn(after)
        end_round(after, CLOSED, after.seat)
    return after


def _choose_reentry(state: State, action: int) -> State:
    after = state.copy()
    seat = after.acting
    after.pending_reentry.discard(seat)
    if action == actions.REENTER:
        reenter(after, seat)
    else:
        after.in_match.discard(seat)
    ask_next_or_pass_deal(after)
    return after


# --- drawing ------------------------------------------------------------------------------------------------------


def _draw(state: State, reshuffle: Reshuffle | None) -> State:
    after = state.copy()
    if not after.stock:
        _recycle(after, reshuffle)
    everybody_knows = after.stock_known == len(after.stock)
    kind = after.stock.pop()
    after.stock_known = min(after.stock_known, len(after.stock))
    after.hand[kind] += 1
    if everybody_knows:
        after.known[after.acting][kind] += 1
    if not after.stock and after.rules.stock_recycle_when == "last_card_drawn" and plays.can_recycle(after):
        _recycle(after, reshuffle)
    after.turn.drew = STOCK
    after.phase = PLAY
    return after


def _recycle(state: State, reshuffle: Reshuffle | None) -> None:
    """The pile becomes the stock."""
    keeps = 1 if state.rules.stock_recycle_keeps_top else 0
    split_at = len(state.pile) - keeps
    cards, state.pile = state.pile[:split_at], state.pile[split_at:]
    if state.rules.stock_recycle == "flip":
        state.stock = cards[::-1]  # turned over: the oldest discard comes to the top
        state.stock_known = len(cards)
    else:
        assert reshuffle is not None, "this recycle is shuffled, and nobody said how"
        state.stock = list(reshuffle(list(cards)))
        assert sorted(state.stock) == sorted(cards), "a shuffle keeps the cards"
        state.stock_known = 0
    state.recycles += 1


# --- the end of the turn ------------------------------------------------------------------------------------------


def _discard(state: State, kind: int) -> State:
    after = state.copy()
    seat = after.acting
    plays.leaves_hand(after, kind)
    after.pile.append(kind)
    after.discards[seat][kind] += 1
    _count_turn(after)
    if not any(after.hand):
        end_round(after, CLOSED, seat)
        return after
    why = _why_round_ends(after)
    if why is not None:
        end_round(after, why)
        return after
    after.turn = Turn()
    after.phase = DRAW
    after.seat = next(other for other in after.seats_after(seat) if other in after.in_round)
    if not plays.can_draw(after) and not legal_actions(after):
        end_round(after, STUCK)
    return after


def _count_turn(state: State) -> None:
    """The seat to act has completed its turn, by a discard or by going out."""
    state.round_turns += 1
    state.match_turns += 1
    state.turns[state.acting] += 1


def _why_round_ends(state: State) -> str | None:
    """Why nobody plays on after this turn, or None."""
    rules = state.rules
    if is_dead_position(state):
        return DEAD_POSITION
    if rules.max_turns_per_round is not None and state.round_turns >= rules.max_turns_per_round:
        return TURN_CAP
    no_recycle_left = rules.max_stock_recycles is not None and state.recycles >= rules.max_stock_recycles
    if not state.stock and (rules.stock_recycle == "end_hand" or no_recycle_left):
        return STOCK_OUT
    return None


def is_dead_position(state: State) -> bool:
    """Whether nobody can ever play a card again: few cards in every hand, and no meld with room."""
    few = 2 if state.rules.close_needs_discard else 1
    all_opened = state.in_round <= state.has_opened
    all_few = all(sum(state.hands[seat]) <= few for seat in state.in_round)
    room = any(melds.extensions(meld, state.rules) for meld in state.table.values())
    return all_opened and all_few and not room
