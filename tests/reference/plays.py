"""The plays of a turn, one by one: which exist, what each does, and what the turn still owes.

"Exists" says nothing of whether the turn can be finished afterwards: that is ``legality``'s question.
"""

from __future__ import annotations

from collections.abc import Iterable

from scala40_env.core import actions
from scala40_env.core.cards import JOKER
from tests.reference import melds
from tests.reference.melds import Meld
from tests.reference.state import DRAW, MUST_OPEN, MUST_OPEN_WITH, MUST_PLAY, PLAY, UPCARD, State

# --- the end of the turn ------------------------------------------------------------------------------------------


def closing_allowed(state: State) -> bool:
    """Whether the seat may go out in this turn."""
    return state.rules.close_on_first_turn or state.turns[state.acting] > 0


def cards_needed(state: State) -> int:
    """How many cards must be in hand when the plays of the turn are over."""
    if not closing_allowed(state):
        return 2  # one to discard and one to keep
    return 1 if state.rules.close_needs_discard else 0


def owes(state: State, going_out: bool) -> bool:
    """Whether something must still be done before the turn may end, or end by going out."""
    rules, turn = state.rules, state.turn
    must_open = turn.duty == MUST_OPEN or (turn.laid_any and not state.opened)
    if must_open and not (going_out and not rules.close_in_hand_needs_opening_min):
        return True
    return turn.duty in (MUST_PLAY, MUST_OPEN_WITH) or turn.jokers_owed > 0 or turn.split_slot is not None


def goes_out_by_play(state: State) -> bool:
    """Whether the play just made ended the round, by leaving no card in hand."""
    if any(state.hand) or state.rules.close_needs_discard:
        return False
    return closing_allowed(state) and not owes(state, going_out=True)


# --- which plays exist --------------------------------------------------------------------------------------------


def can_recycle(state: State) -> bool:
    """Whether the pile may become the stock."""
    rules = state.rules
    if rules.stock_recycle == "end_hand":
        return False
    if rules.max_stock_recycles is not None and state.recycles >= rules.max_stock_recycles:
        return False
    return len(state.pile) > (1 if rules.stock_recycle_keeps_top else 0)


def can_draw(state: State) -> bool:
    """Whether there is a card to draw from the stock."""
    return bool(state.stock) or can_recycle(state)


def keeps_first_upcard(state: State) -> bool:
    """Whether this is the first turn of the round, in which the upcard may be taken and kept."""
    return state.rules.first_player_may_keep_upcard and state.round_turns == 0


def can_take(state: State) -> bool:
    """Whether the rules let this seat take the upcard, if it then does what that obliges it to."""
    if not state.pile:
        return False
    return keeps_first_upcard(state) or state.opened or state.rules.take_before_opening != "never"


def candidates(state: State) -> list[int]:
    """Every action that exists in a draw or play phase, whether or not the turn can be finished after it."""
    if state.phase == DRAW:
        draw = [actions.DRAW] if can_draw(state) else []
        take = [actions.TAKE] if can_take(state) else []
        return draw + take
    return plays(state) + discards(state)


def plays(state: State) -> list[int]:
    """The plays that do not end the turn: lay, lay off, swap, split."""
    if state.turn.split_slot is not None:
        return lay_offs(state, [state.turn.split_slot]) + _splits(state)
    return _lays(state) + lay_offs(state, sorted(_open_slots(state))) + _swaps(state)


def is_opening_turn(state: State) -> bool:
    """Whether the seat opens in this turn, if it does anything: it had not opened before."""
    return not state.opened or state.turn.opened_now


def _joker_banned_from_new_melds(state: State) -> bool:
    return state.rules.opening_joker == "forbidden" and is_opening_turn(state)


def _lays(state: State) -> list[int]:
    banned = _joker_banned_from_new_melds(state)
    hand = state.hand
    return [
        action
        for action, meld, (first, second, third) in melds.cards_of_lays(state.rules)
        if hand[first] and hand[second] and hand[third] and not (banned and meld.joker is not None)
    ]


def _open_slots(state: State) -> set[int]:
    """The slots onto which the seat may lay off."""
    turn, mode = state.turn, state.rules.lay_off_in_opening_turn
    if not state.opened:
        return set(turn.new_slots)
    if not turn.opened_now:
        return set(state.table)
    if mode == "any":
        allowed = set(state.table)
    elif mode == "own_melds_only":
        allowed = set(turn.new_slots)
    else:
        allowed = {slot for slot in state.table if slot == turn.last_slot}
    if turn.duty == MUST_OPEN_WITH:
        allowed &= turn.new_slots  # the taken card must still go into the opening
    return allowed


def lay_offs(state: State, slots: Iterable[int]) -> list[int]:
    """The lay-offs that exist on the given slots."""
    found = []
    for slot in slots:
        if slot not in _open_slots(state):
            continue
        joker_banned = _joker_lay_off_banned(state, slot)
        found += [
            actions.LAY_OFF + slot * actions.NUM_ENDS + one.end
            for one in melds.extensions(state.table[slot], state.rules)
            if state.hand[one.kind] and not (one.kind == JOKER and joker_banned)
        ]
    return found


def _joker_lay_off_banned(state: State, slot: int) -> bool:
    if slot in state.turn.new_slots and _joker_banned_from_new_melds(state):
        return True
    return state.rules.opening_joker == "only_if_clean_melds_reach_min" and not state.opened


def swaps_allowed(state: State) -> bool:
    """Whether the seat may take jokers from the table, for their cards."""
    rules = state.rules
    if rules.joker_swap == "off" or state.turn.duty == MUST_OPEN_WITH:
        return False
    return state.opened or not rules.joker_swap_needs_opened


def _swaps(state: State) -> list[int]:
    if not swaps_allowed(state):
        return []
    return [actions.SWAP + slot for slot in sorted(state.table) if _exchange(state, slot) is not None]


def _exchange(state: State, slot: int) -> tuple[int, Meld] | None:
    """The card of the hand that is given for the joker in a slot, and the meld afterwards."""
    for kind, after in melds.exchanges(state.table[slot], state.rules):
        if state.hand[kind]:
            return kind, after
    return None


def _splits(state: State) -> list[int]:
    slot = state.turn.split_slot
    assert slot is not None
    base = actions.SPLIT + slot * actions.NUM_SPLITS
    return [base + first - actions.SHORTEST_RUN for first in melds.split_lengths(state.table[slot])]


def discards(state: State) -> list[int]:
    """The discards that exist: none while something is owed."""
    size = sum(state.hand)
    closing = size == 1
    if size == 0 or owes(state, going_out=closing) or (closing and not closing_allowed(state)):
        return []
    held = [kind for kind, count in enumerate(state.hand) if count]
    forbidden = _forbidden_discards(state, closing)
    allowed = [kind for kind in held if kind not in forbidden]
    return [actions.DISCARD + kind for kind in allowed or held]


def _forbidden_discards(state: State, closing: bool) -> set[int]:
    rules, turn = state.rules, state.turn
    if closing:
        policy = rules.playable_discard_closing
    elif state.opened:
        policy = rules.playable_discard_opened
    else:
        policy = rules.playable_discard_unopened
    forbidden = set()
    if policy == "forbidden" and len(state.in_round) >= rules.playable_discard_min_players:
        forbidden |= melds.fitting_kinds(state.table.values(), rules)
    may_go_back = turn.taken_played or rules.rediscard_taken
    if turn.taken is not None and not may_go_back and state.hand[turn.taken] == 1:
        forbidden.add(turn.taken)
    if rules.joker_discard == "closing_only" and not closing:
        forbidden.add(JOKER)
    return forbidden


# --- what a play does ---------------------------------------------------------------------------------------------


def take(state: State) -> State:
    """The state after the upcard is taken."""
    after = state.copy()
    rules, turn = state.rules, after.turn
    kind = after.pile.pop()
    after.hand[kind] += 1
    after.known[after.acting][kind] += 1
    turn.drew, turn.taken = UPCARD, kind
    if keeps_first_upcard(state):
        turn.duty = None
    elif state.opened:
        turn.duty = MUST_PLAY if rules.take_after_opening == "must_use" else None
    else:
        turn.duty = MUST_OPEN_WITH if rules.take_before_opening == "must_use_in_opening" else MUST_OPEN
    after.phase = PLAY
    return after


def play(state: State, action: int) -> State:
    """The state after a lay, a lay-off, a swap or a split."""
    after = state.copy()
    if action < actions.LAY_OFF:
        _lay(after, melds.lays(state.rules)[action])
    elif action < actions.SWAP:
        _lay_off(after, *divmod(action - actions.LAY_OFF, actions.NUM_ENDS))
    elif action < actions.DISCARD:
        _swap(after, action - actions.SWAP)
    else:
        slot, part = divmod(action - actions.SPLIT, actions.NUM_SPLITS)
        _split(after, slot, part + actions.SHORTEST_RUN)
    return after


def leaves_hand(state: State, kind: int) -> None:
    """A card of the seat to act leaves its hand before everybody's eyes."""
    state.hand[kind] -= 1
    known = state.known[state.acting]
    known[kind] = max(0, known[kind] - 1)


def _lay(state: State, meld: Meld) -> None:
    slot = state.free_slot()
    state.table[slot] = meld
    state.turn.new_slots.add(slot)
    state.turn.last_slot = slot
    state.turn.laid_any = True
    for kind in meld.kinds():
        leaves_hand(state, kind)
        _card_played(state, kind, "lay", in_opening=True)
    _count_towards_opening(state, melds.points(meld, state.rules), meld)


def _lay_off(state: State, slot: int, end: int) -> None:
    turn = state.turn
    before = state.table[slot]
    extension = next(one for one in melds.extensions(before, state.rules) if one.end == end)
    grown = extension.grown
    state.table[slot] = grown
    leaves_hand(state, extension.kind)
    _card_played(state, extension.kind, "lay_off", in_opening=slot in turn.new_slots)
    if slot in turn.new_slots:
        worth = melds.card_points(grown, grown.places.index(extension.place), state.rules)
        _count_towards_opening(state, worth, grown)
    if grown.is_set and len(grown) == 4 and state.rules.completed_quartet == "to_stock_bottom":
        _quartet_under_stock(state, slot)
    if not grown.is_set and len(grown) > state.rules.max_run:
        turn.split_slot = slot
        _split_if_forced(state, slot)


def _swap(state: State, slot: int) -> None:
    exchange = _exchange(state, slot)
    assert exchange is not None
    kind, state.table[slot] = exchange
    leaves_hand(state, kind)
    _card_played(state, kind, "swap", in_opening=False)
    state.hand[JOKER] += 1
    state.known[state.acting][JOKER] += 1
    if state.rules.joker_swap != "to_hand":
        state.turn.jokers_owed += 1


def _split(state: State, slot: int, first_length: int) -> None:
    first, rest = melds.split(state.table[slot], first_length)
    other = state.free_slot()
    state.table[slot], state.table[other] = first, rest
    if slot in state.turn.new_slots:
        state.turn.new_slots.add(other)
    state.turn.split_slot = None


def _split_if_forced(state: State, slot: int) -> None:
    """Split at once where there is one way to do it and no card of the hand could still be added."""
    lengths = melds.split_lengths(state.table[slot])
    if len(lengths) == 1 and not lay_offs(state, [slot]):
        _split(state, slot, lengths[0])


def _quartet_under_stock(state: State, slot: int) -> None:
    """The four cards go under the stock, spades lowest; the last card of the list is the top."""
    quartet = state.table.pop(slot)
    state.stock[:0] = reversed(quartet.kinds())
    state.stock_known += 4
    state.turn.new_slots.discard(slot)
    if state.turn.last_slot == slot:
        state.turn.last_slot = None


def _card_played(state: State, kind: int, use: str, in_opening: bool) -> None:
    """Settle what a played card was owed for: the duty on the taken card first, else a joker."""
    turn = state.turn
    clears_duty = False
    if kind == turn.taken:
        turn.taken_played = True
        if turn.duty == MUST_PLAY:
            clears_duty = use in state.rules.taken_card_uses
        elif turn.duty == MUST_OPEN_WITH:
            clears_duty = in_opening
    if clears_duty:
        turn.duty = None
    elif kind == JOKER:
        turn.jokers_owed = max(0, turn.jokers_owed - 1)


def _count_towards_opening(state: State, worth: int, meld: Meld) -> None:
    """Add the points of a play to the opening, and open if they suffice."""
    if state.opened:
        return
    clean_only = state.rules.opening_joker == "only_if_clean_melds_reach_min"
    if not (clean_only and meld.joker is not None):
        state.turn.laid_points += worth
    if state.turn.laid_points >= state.rules.opening_min:
        state.has_opened.add(state.acting)
        state.turn.opened_now = True
        if state.turn.duty == MUST_OPEN:
            state.turn.duty = None
