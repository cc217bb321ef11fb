"""Which actions are legal: those after which some sequence of plays ends the turn. Decided by trying everything.

Three things keep the trying short. A state that was tried in this call is not tried again. With nothing owed
no search is needed: the turn can be finished if and only if enough cards are in hand, since some discard is always
allowed. And a state is given up where it is plain that what is owed can never be done (``_hopeless``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from scala40_env.core import actions
from scala40_env.core.cards import ACE, HIGH_ACE, JOKER, NUM_RANKS
from scala40_env.core.rules import Rules
from tests.reference import melds, plays
from tests.reference.melds import Meld
from tests.reference.state import DRAW, MUST_OPEN, MUST_OPEN_WITH, MUST_PLAY, PLAY, ROUND_OVER, State

Tried = dict[Hashable, bool]

MOST_TRIED = 10_000
"""How many states are tried for one position, some seconds, before it is left undecided."""


class UndecidedError(Exception):
    """There are too many ways to play the turn to try them all."""


def legal_actions(state: State, rules: Rules | None = None) -> list[int]:
    """The legal actions, in order of their numbers.

    Args:
        state: The position.
        rules: The rules, where they are to be other than the state's own.

    Raises:
        UndecidedError: There are too many ways to play the turn.
    """
    if rules is not None and rules != state.rules:
        state = state.copy()
        state.rules = rules
    if state.phase == ROUND_OVER:
        return [actions.REENTER, actions.LEAVE] if state.pending_reentry else []
    if state.phase not in (DRAW, PLAY):
        return []
    tried: Tried = {}
    return sorted(action for action in plays.candidates(state) if _is_legal(state, action, tried))


def _is_legal(state: State, action: int, tried: Tried) -> bool:
    if action == actions.DRAW:
        return True  # a hand has a card, so after the draw there are two: one to discard, one to keep
    if action == actions.TAKE:
        return can_finish(plays.take(state), tried)
    if actions.DISCARD <= action < actions.SPLIT:
        return True  # it ends the turn
    return can_finish(plays.play(state, action), tried)


def can_finish(state: State, tried: Tried) -> bool:
    """Whether some sequence of plays from here ends the turn legally.

    Args:
        state: A position in the play phase.
        tried: The answers found so far; new ones are added.

    Raises:
        UndecidedError: Too many have been found.
    """
    if not plays.owes(state, going_out=False):
        return sum(state.hand) >= plays.cards_needed(state)
    if plays.goes_out_by_play(state) or plays.discards(state):
        return True
    key = _key(state)
    if key not in tried:
        if len(tried) >= MOST_TRIED:
            raise UndecidedError
        tried[key] = not _hopeless(state) and any(
            can_finish(plays.play(state, action), tried) for action in _promising_first(state)
        )
    return tried[key]


def _key(state: State) -> Hashable:
    """What the rest of the turn depends on; which slot a meld lies in does not matter, only whether it is special."""
    turn = state.turn
    last = turn.last_slot if state.rules.lay_off_in_opening_turn == "none" else None  # else it decides nothing
    table = Counter(
        (meld, slot in turn.new_slots, slot == last, slot == turn.split_slot) for slot, meld in state.table.items()
    )
    turn_fields = (turn.taken, turn.taken_played, turn.duty, turn.laid_points, turn.laid_any, turn.jokers_owed)
    return tuple(state.hand), frozenset(table.items()), turn_fields, state.opened, turn.opened_now


def _promising_first(state: State) -> list[int]:
    """All plays, those first that use the taken card or are worth the most: a success ends the search."""

    def promise(action: int) -> tuple[bool, int]:
        if action < actions.LAY_OFF:
            meld = melds.lays(state.rules)[action]
            return state.turn.taken in meld.kinds(), melds.points(meld, state.rules)
        if action < actions.SWAP:
            slot, end = divmod(action - actions.LAY_OFF, actions.NUM_ENDS)
            fits = melds.extensions(state.table[slot], state.rules)
            return any(one.end == end and one.kind == state.turn.taken for one in fits), 0
        return False, 0

    return sorted(plays.plays(state), key=promise, reverse=True)


# --- giving up early ----------------------------------------------------------------------------------------------


def _hopeless(state: State) -> bool:
    """Whether it is plain that the turn cannot be finished; False says nothing.

    No play makes the hand larger, so a hand already too small is hopeless. The others are explained where they are.
    """
    if sum(state.hand) < plays.cards_needed(state):
        return True
    if state.turn.duty in (MUST_PLAY, MUST_OPEN_WITH) and not _taken_may_be_played(state):
        return True
    return _must_open(state) and not _may_open(state) and not _may_go_out_unopened(state)


def _must_open(state: State) -> bool:
    turn = state.turn
    return not state.opened and (turn.laid_any or turn.duty in (MUST_OPEN, MUST_OPEN_WITH))


def _may_open(state: State) -> bool:
    """Whether the cards that could be played at all, at their best values, reach the opening.

    Of the hand, the cards needed at the end of the turn stay behind.
    """
    rules = state.rules
    best_rank = max(rules.rank_points[: rules.ranks] if rules.ranks < NUM_RANKS else rules.rank_points)
    best_joker = 11 if rules.joker_opening_value == "fixed_11" else max(best_rank, rules.rank_points[HIGH_ACE])
    worth = [_best_value(kind, rules) for kind in _playable_in_opening(state)]
    worth += [best_joker] * _jokers_in_reach(state)
    can_be_played = sum(state.hand) - plays.cards_needed(state)
    best = sum(sorted(worth, reverse=True)[: max(0, can_be_played)])
    return state.turn.laid_points + best >= rules.opening_min


def _may_go_out_unopened(state: State) -> bool:
    """Whether going out without the points is allowed, and at most one card cannot be played.

    Jokers may be taken with cards that cannot be laid, where swaps come before the opening: then it is left open.
    """
    if state.rules.close_in_hand_needs_opening_min or not plays.closing_allowed(state):
        return False
    if _swaps_in_reach(state):
        return True
    stuck = sum(state.hand) - len(_playable_in_opening(state)) - state.hand[JOKER]
    return stuck <= 1


def _best_value(kind: int, rules: Rules) -> int:
    rank = kind % NUM_RANKS
    return rules.rank_points[HIGH_ACE if rank == ACE else rank]


def _jokers_in_reach(state: State) -> int:
    """Jokers in hand that may be played, and those that might be taken from the table."""
    if not state.opened and state.rules.opening_joker == "forbidden":
        return 0
    on_table = sum(meld.joker is not None for meld in state.table.values())
    return state.hand[JOKER] + (on_table if _swaps_in_reach(state) else 0)


def _swaps_in_reach(state: State) -> bool:
    """Whether jokers may be taken from the table, now or once the taken card is in the opening."""
    rules = state.rules
    return rules.joker_swap != "off" and (state.opened or not rules.joker_swap_needs_opened)


def _playable_in_opening(state: State) -> list[int]:
    """The natural cards in hand that might be laid, or laid off on a meld of this turn."""
    new_melds = [state.table[slot] for slot in state.turn.new_slots]
    in_lays = _kinds_in_lays(state)
    playable = []
    for kind, count in enumerate(state.hand[:JOKER]):
        if count and (kind in in_lays or _near_some_meld(kind, new_melds)):
            playable += [kind] * count
    return playable


def _taken_may_be_played(state: State) -> bool:
    taken = state.turn.taken
    if taken is None or taken == JOKER:
        return True
    slots: Iterable[int] = state.turn.new_slots if state.turn.duty == MUST_OPEN_WITH else state.table
    return taken in _kinds_in_lays(state) or _near_some_meld(taken, [state.table[slot] for slot in slots])


def _kinds_in_lays(state: State) -> set[int]:
    """The natural cards in hand that are in some meld of three from the hand and the jokers in reach."""
    jokers = _jokers_in_reach(state)
    found: set[int] = set()
    hand = state.hand
    for _, meld, cards in melds.cards_of_lays(state.rules):
        if (meld.joker is None or jokers) and all(kind == JOKER or hand[kind] for kind in cards):
            found.update(cards)
    return found - {JOKER}


def _near_some_meld(kind: int, table: Iterable[Meld]) -> bool:
    """Whether a card may come onto one of these melds, now or after other plays.

    A card laid off on a run has two neighbours there. If both came from the hand, the three are a lay of the hand; else
    one of them was on the table before, and the card is at most two steps beyond the run. A set takes only its rank,
    and without a joker only the suit that it lacks.
    """
    suit, rank = divmod(kind, NUM_RANKS)
    for meld in table:
        if meld.is_set:
            if rank == meld.ranks[0] and (meld.joker is not None or suit not in meld.suits):
                return True
        elif suit == meld.suits[0]:
            places = (ACE, HIGH_ACE) if rank == ACE else (rank,)
            if any(meld.ranks[0] - 2 <= place <= meld.ranks[-1] + 2 for place in places):
                return True
    return False
