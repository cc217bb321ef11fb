"""Why an action is not legal: the first rule that it breaks, in a card player's words.

Which actions are legal is asked of the engine, so that ``explain`` says "legal" if and only if the mask does; what is
judged here is only which rule to name.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scala40_env.core import actions as act
from scala40_env.core.actions import HIGH, JOKER_HIGH, JOKER_LOW
from scala40_env.core.cards import JOKER
from scala40_env.core.jit import kernel
from scala40_env.core.melds import LONGEST_UNSPLIT
from scala40_env.core.moves import play
from scala40_env.core.notation import (
    CARD_NAMES,
    Meld,
    format_meld,
    holds,
    meld_fault,
    meld_of_lay,
    no_such_action,
    swap_card,
)
from scala40_env.core.position_writer import plain
from scala40_env.core.rules import Rules
from scala40_env.core.state import (
    DRAW,
    DUTY_NONE,
    DUTY_OPEN,
    DUTY_OPEN_WITH,
    DUTY_PLAY,
    EMPTY,
    MATCH_OVER,
    NO_JOKER,
    NO_SLOT,
    ROUND_OVER,
    RUN,
    allocate,
)

LEGAL = "legal"
_OFF_SUITS = 4
"""Cards of a full set."""


def why_not(row: Any, rules: Rules, action: int) -> str:
    """The first rule that an action breaks of which it is known that it is not legal."""
    if not 0 <= action < act.NUM_ACTIONS:
        return no_such_action(int(action), rules)
    rows = allocate(1)
    rows[0] = row
    return _Judge(rows, rules).why_not(int(action))


@kernel
def _play_one(rows: Any, R: NDArray[np.int64], action: int) -> None:
    play(rows[0], R, action)


class _Judge:
    """Finds the rule that an illegal action breaks."""

    def __init__(self, rows: Any, rules: Rules) -> None:
        self.rows = rows
        self.rules = rules
        self.s: SimpleNamespace = plain(rows[0])
        seated = self.s.seat < self.s.num_seats
        self.opened = seated and bool(self.s.has_opened >> self.s.seat & 1)
        self.first_turn = seated and not rules.close_on_first_turn and self.s.turns[self.s.seat] == 0

    def why_not(self, action: int) -> str:
        """The reason, by phase and kind of action."""
        s = self.s
        if s.phase == MATCH_OVER:
            return "the match is over"
        if s.phase == ROUND_OVER:
            return (
                "between rounds there is only the choice to re-enter or to leave"
                if s.pending_reentry
                else "the round is over"
            )
        if action >= act.REENTER:
            return "no seat chooses between re-entry and leaving now"
        if s.phase == DRAW:
            return self._draw(action)
        if action < act.LAY_SET:
            return "a card has been drawn already; play, or discard to end the turn"
        return self._play(action)

    def _draw(self, action: int) -> str:
        s, rules = self.s, self.rules
        if action == act.DRAW:
            return "the stock is empty, and the pile cannot become the stock"
        if action != act.TAKE:
            return "a turn begins with a card from the stock, or with the upcard"
        if s.pile_size == 0:
            return "the pile is empty"
        card = CARD_NAMES[int(s.pile[s.pile_size - 1])]
        if self.opened:
            return f"the upcard must be played this turn, and {card} could not be{self._left()}"
        if rules.take_before_opening == "never":
            return "a seat that has not opened may not take the upcard"
        if rules.take_before_opening == "must_use_in_opening":
            return f"{card} could not be part of an opening of {rules.opening_min} points{self._left()}"
        return f"the seat could not open this turn with {rules.opening_min} points{self._left()}"

    def _left(self) -> str:
        """What a play must leave in hand."""
        if self.first_turn:
            return " with two cards left, since nobody goes out on the first turn"
        return " with a card left to discard" if self.rules.close_needs_discard else ""

    def _play(self, action: int) -> str:
        split = self.s.split_slot
        if split != NO_SLOT and not self._concerns(action, split):
            return f"the run in slot {split} is too long and must be split first"
        if action < act.LAY_OFF:
            return self._lay(meld_of_lay(action)) or self._unfinished(action)
        if action < act.SWAP:
            slot, end = divmod(action - act.LAY_OFF, act.NUM_ENDS)
            return self._lay_off(slot, end) or self._unfinished(action)
        if action < act.DISCARD:
            return self._swap(action - act.SWAP) or self._unfinished(action)
        if action < act.SPLIT:
            return self._discard(action - act.DISCARD)
        return self._split(*divmod(action - act.SPLIT, act.NUM_SPLITS))

    def _concerns(self, action: int, slot: int) -> bool:
        is_lay_off = act.LAY_OFF <= action < act.SWAP and (action - act.LAY_OFF) // act.NUM_ENDS == slot
        return is_lay_off or act.SPLIT <= action < act.REENTER

    # --- plays -----------------------------------------------------------------------------------------------------

    def _holds(self, kind: int) -> bool:
        return holds(self.s, self.s.seat, kind)

    def _lay(self, meld: Meld) -> str | None:
        fault = meld_fault(meld, self.rules)
        if fault:
            return fault
        lacking = [CARD_NAMES[kind] for kind in meld.kinds() if not self._holds(kind)]
        if lacking:
            return f"{' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not in hand"
        return self._opening_joker() if meld.joker != NO_JOKER else None

    def _opening_joker(self) -> str | None:
        if self.rules.opening_joker == "forbidden" and (not self.opened or self.s.opened_now):
            return "the melds of an opening may have no joker"
        return None

    def _lay_off(self, slot: int, end: int) -> str | None:
        meld = Meld.from_row(self.s, slot)
        if meld.type == EMPTY:
            return f"no meld lies in slot {slot}"
        joker = end in (JOKER_LOW, JOKER_HIGH)
        fault = self._may_lay_off_on(slot) or self._fits(meld, end, joker)
        if fault:
            return fault
        if joker:
            fault = self._may_lay_off_joker(slot)
        face = JOKER if joker else meld.face_at(end)
        if fault or face is None or self._holds(face):
            return fault
        return f"{CARD_NAMES[face]} is not in hand"

    def _may_lay_off_on(self, slot: int) -> str | None:
        s, is_new = self.s, bool(self.s.new_slots >> slot & 1)
        if not self.opened:
            return None if is_new else "a seat that has not opened lays off only on the melds of its opening"
        if not s.opened_now:
            return None
        if s.duty == DUTY_OPEN_WITH and not is_new:
            return f"{CARD_NAMES[s.taken]}, which was taken, must be in the opening first"
        if self.rules.lay_off_in_opening_turn == "own_melds_only" and not is_new:
            return "in the turn of its opening a seat lays off only on its own new melds"
        if self.rules.lay_off_in_opening_turn == "none" and slot != s.last_slot:
            return "in the turn of its opening a seat only lengthens the meld that it has just laid"
        return None

    def _fits(self, meld: Meld, end: int, joker: bool) -> str | None:
        if joker and meld.joker != NO_JOKER:
            return f"{format_meld(meld)} has a joker already"
        if meld.type == RUN:
            return self._fits_run(meld, end)
        if meld.size == _OFF_SUITS:
            return f"{format_meld(meld)} has all four suits"
        if end == HIGH and self.rules.joker_identity == "declared" and meld.joker != NO_JOKER:
            return f"the joker of {format_meld(meld)} stands for that card; it can only be swapped"
        if end in (HIGH, JOKER_HIGH) and meld.face_at(end) is None:
            return "a set has no other end"
        if meld.missing_suit() >= self.rules.suits or (end == HIGH and meld.joker >= self.rules.suits):
            return f"{format_meld(meld)} has all the suits of this deck"
        return None

    def _fits_run(self, meld: Meld, end: int) -> str | None:
        face = meld.face_at(end)
        if face is None:
            return f"nothing comes {'after' if end in (HIGH, JOKER_HIGH) else 'before'} the ace of {format_meld(meld)}"
        limit = LONGEST_UNSPLIT if self.rules.run_overflow == "split" else self.rules.max_run
        if meld.size >= limit:
            return f"a run has at most {limit} cards"
        fault = meld_fault(meld.grown(end), self.rules, max(limit, meld.size + 1))
        return None if fault is None else fault

    def _may_lay_off_joker(self, slot: int) -> str | None:
        if not self.opened and self.rules.opening_joker == "only_if_clean_melds_reach_min":
            return "no joker is laid off before the melds without one are enough to open"
        return self._opening_joker() if self.s.new_slots >> slot & 1 else None

    def _swap(self, slot: int) -> str | None:
        s = self.s
        if self.rules.joker_swap == "off":
            return "these rules have no swaps of jokers"
        meld = Meld.from_row(s, slot)
        if meld.type == EMPTY:
            return f"no meld lies in slot {slot}"
        card = swap_card(s, slot, self.rules)
        if card is None:
            return f"{format_meld(meld)} has no joker"
        if self.rules.joker_swap_needs_opened and not self.opened:
            return "only a seat that has opened may swap a joker"
        if s.duty == DUTY_OPEN_WITH:
            return f"{CARD_NAMES[s.taken]}, which was taken, must be in the opening first"
        return None if self._holds(card) else f"{CARD_NAMES[card]} is not in hand"

    def _split(self, slot: int, code: int) -> str:
        first = code + act.SHORTEST_RUN
        if self.rules.run_overflow != "split":
            return "these rules do not split runs"
        if slot != self.s.split_slot:
            return f"slot {slot} holds no run that must be split"
        size = int(self.s.meld_size[slot])
        return f"split after {first}, one part of a run of {size} would not be of three to five cards"

    # --- ends ------------------------------------------------------------------------------------------------------

    def _discard(self, kind: int) -> str:
        s, rules, card = self.s, self.rules, CARD_NAMES[kind]
        if not self._holds(kind):
            return f"{card} is not in hand"
        owed = self._owed(s, self.opened)
        closing = s.hand_size[s.seat] == 1
        if owed:
            return owed
        if closing and self.first_turn:
            return "nobody goes out on the first turn"
        if kind == JOKER and rules.joker_discard == "closing_only" and not closing:
            return "a joker may be discarded only to go out"
        if kind == s.taken and not s.taken_played and not rules.rediscard_taken:
            return f"{card} was taken this turn and may not be discarded again"
        return f"{card} could be laid off, and these rules forbid to discard it"

    def _owed(self, s: SimpleNamespace, opened: bool) -> str | None:
        """What must still be done before the turn may end."""
        if s.split_slot != NO_SLOT:
            return f"the run in slot {s.split_slot} is too long and must be split first"
        if s.duty in (DUTY_PLAY, DUTY_OPEN_WITH):
            where = "" if s.duty == DUTY_PLAY else " in the opening"
            return f"{CARD_NAMES[s.taken]} was taken and must be played this turn{where}"
        if not opened and (s.laid_any or s.duty == DUTY_OPEN):
            return f"the opening has {s.laid_points} of the {self.rules.opening_min} points that it needs"
        return "the joker taken must be played this turn" if s.jokers_owed else None

    def _unfinished(self, action: int) -> str:
        """Why the turn could not be completed after a play that the cards allow."""
        size = int(self.s.hand_size[self.s.seat])
        _play_one(self.rows, self.rules.vector(), action)
        after = plain(self.rows[0])
        opened = bool(after.has_opened >> after.seat & 1)
        kept = int(after.hand_size[after.seat])
        if self.first_turn and kept < 2:
            return "nobody goes out on the first turn: two cards must be left"
        if kept < 1 and self.rules.close_needs_discard:
            return "no card would be left to discard"
        if not opened and (after.laid_any or after.duty in (DUTY_OPEN, DUTY_OPEN_WITH)):
            with_card = f" and have {CARD_NAMES[after.taken]} in it" if after.duty == DUTY_OPEN_WITH else ""
            return f"the opening could not reach {self.rules.opening_min} points{with_card}{self._left()}"
        if after.duty != DUTY_NONE:
            return f"{CARD_NAMES[after.taken]} was taken and could no longer be played this turn{self._left()}"
        if after.jokers_owed:
            return f"the joker taken must be played this turn, and could not be{self._left()}"
        return f"the turn could not be ended with the {size - kept} cards gone"
