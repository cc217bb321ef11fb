"""Positions built by hand of chance: what play at random hardly ever reaches.

Hands rich in jokers and in cards that go together, many melds with jokers on the table, full melds, stocks of a few
cards, dead positions, matches near their end. Each is a position at the start of a turn or just after the draw, in
which nothing is owed: whatever is owed later comes from the plays of the walk.
"""

from __future__ import annotations

import random
from typing import Any

from scala40_env.core.cards import HIGH_ACE, JOKER, NUM_RANKS
from scala40_env.core.rules import Rules
from tests.reference import melds
from tests.reference.adapter import deck, to_row
from tests.reference.melds import Meld
from tests.reference.state import DRAW, PLAY, STOCK, Hand, State, new_state

STYLES = ("mixed", "mixed", "rich", "rich", "jokers", "full", "crowded", "small")
"""``rich`` hands go together, ``jokers`` lie everywhere, ``full`` melds have no room, ``small`` hands near the end."""


def position(rules: Rules, players: int, episode: str, seed: int) -> Any:
    """A position that depends on these alone, as a record array of one row.

    Args:
        rules: The rules.
        players: How many seats, as the rules allow.
        episode: ``"round"`` or ``"match"``.
        seed: Which of the positions.
    """
    rng = random.Random(f"position {seed} {players}")
    while True:
        state = _Builder(rules, players, episode == "match", rng).build()
        if _is_whole(state):
            return to_row(state)


def _is_whole(state: State) -> bool:
    """Whether the cards of a small deck sufficed for every hand, and the seat to act has something to draw."""
    sizes = {seat: sum(state.hands[seat]) for seat in state.in_round}
    enough = 2 if state.phase == PLAY else 1
    return min(sizes.values()) >= 1 and sizes[state.acting] >= enough and len(state.stock) >= 1


class _Builder:
    """Builds one position, from a deck whose cards go to the table, the hands, the pile and the stock in turn."""

    def __init__(self, rules: Rules, players: int, whole_match: bool, rng: random.Random) -> None:
        self.rules = rules
        self.rng = rng
        self.left: Hand = deck(rules)
        self.style = rng.choice(STYLES)
        self.state: State = new_state(rules, players, whole_match)

    def build(self) -> State:
        """The position."""
        self._seats()
        self._table()
        self._hands()
        self._pile_and_stock()
        if self.state.whole_match:
            self._match()
        return self.state

    def _seats(self) -> None:
        """Who sits where, who has opened, and how far the round is."""
        state, rng = self.state, self.rng
        state.dealer = rng.randrange(state.num_seats)
        if state.whole_match and state.num_seats > 2 and rng.random() < 0.4:
            stay = rng.randint(2, state.num_seats - 1)
            state.in_match = state.in_round = set(rng.sample(range(state.num_seats), stay))
        seats = sorted(state.in_round)
        state.seat = rng.choice(seats)
        state.phase = rng.choice([DRAW, PLAY])
        state.turn.drew = STOCK if state.phase == PLAY else None
        laps = rng.choice([0, 1, 1, 5, 20])
        chance = 1.0 if self.style in ("full", "small") else rng.choice([0.2, 0.6, 0.9])
        for seat in seats:
            state.turns[seat] = laps
            if laps and rng.random() < chance:
                state.has_opened.add(seat)
        state.round_turns = state.match_turns = sum(state.turns)
        most = 3 if self.rules.max_stock_recycles is None else self.rules.max_stock_recycles
        state.recycles = rng.randint(0, min(most, 3)) if rng.random() < 0.3 else 0

    # --- the table ------------------------------------------------------------------------------------------------

    def _table(self) -> None:
        if not self.state.has_opened:
            return
        most = {"crowded": 20, "small": 10}.get(self.style, 7)
        for _ in range(self.rng.randint(1, most)):
            meld = self._new_meld()
            if meld is not None:
                self.state.table[self._slot()] = meld

    def _slot(self) -> int:
        """The lowest free slot, or another, as after quartets have left the table."""
        gap = 1 if self.rules.completed_quartet == "to_stock_bottom" and self.rng.random() < 0.2 else 0
        free = [slot for slot in range(len(self.state.table) + 2) if slot not in self.state.table]
        return free[gap]

    def _new_meld(self) -> Meld | None:
        """A meld of cards that are left, grown by some; taken out of what is left."""
        chance = {"jokers": 0.9, "full": 0.1}.get(self.style, 0.3)
        wants_joker = self.rng.random() < chance
        choices = list(melds.lays(self.rules).values())
        for _ in range(60):
            meld = self.rng.choice(choices)
            if (meld.joker is not None) == wants_joker and self._has(meld.kinds()):
                return self._grown(meld)
        return None

    def _grown(self, meld: Meld) -> Meld:
        self._spend(meld.kinds())
        more = 13 if self.style == "full" else self.rng.choice([0, 0, 1, 2, 9])
        for _ in range(more):
            fits = [one for one in melds.extensions(meld, self.rules) if self.left[one.kind]]
            fits = [one for one in fits if melds.is_valid(one.grown, self.rules)]
            fits = [one for one in fits if not self._leaves_the_table(one.grown)]
            naturals = [one for one in fits if one.kind != JOKER]
            if not (naturals or fits):
                break
            one = self.rng.choice(naturals or fits)
            self._spend([one.kind])
            meld = one.grown
        return meld

    def _leaves_the_table(self, meld: Meld) -> bool:
        return meld.is_set and len(meld) == 4 and self.rules.completed_quartet == "to_stock_bottom"

    def _has(self, kinds: list[int]) -> bool:
        return all(self.left[kind] >= kinds.count(kind) for kind in kinds)

    def _spend(self, kinds: list[int]) -> None:
        for kind in kinds:
            self.left[kind] -= 1

    # --- the hands ------------------------------------------------------------------------------------------------

    def _hands(self) -> None:
        state = self.state
        seats = [state.acting, *(seat for seat in sorted(state.in_round) if seat != state.acting)]
        for seat in seats:
            size = self._hand_size(seat)
            if seat == state.acting and state.phase == PLAY:
                size += 1
            for _ in range(min(size, sum(self.left) - 4 * len(seats))):
                self._deal_to(seat)
            if self.rng.random() < 0.3:
                state.known[seat] = [self.rng.randint(0, count) for count in state.hands[seat]]

    def _hand_size(self, seat: int) -> int:
        rng, dealt = self.rng, self.rules.hand_size
        if seat not in self.state.has_opened and rng.random() < 0.9:
            return dealt  # who has not opened has laid nothing
        if self.style in ("full", "small"):
            return rng.choice([1, 1, 2, 2, 3])
        return rng.choice([1, 2, 3, rng.randint(1, dealt), rng.randint(1, dealt), dealt])

    def _deal_to(self, seat: int) -> None:
        hand = self.state.hands[seat]
        kind = self._card_for(hand)
        hand[kind] += 1
        self.left[kind] -= 1

    def _card_for(self, hand: Hand) -> int:
        """A card that goes with those in hand, or onto the table, or any."""
        rng = self.rng
        chance = rng.random()
        wanted: list[int] = []
        if chance < {"jokers": 0.25, "rich": 0.12}.get(self.style, 0.03):
            wanted = [JOKER]
        elif chance < 0.6 and self.style in ("rich", "jokers", "crowded"):
            wanted = self._neighbours(hand)
        elif chance < 0.85:
            wanted = self._cards_for_table()
        wanted = [kind for kind in wanted if self.left[kind]]
        if not wanted:
            wanted = [kind for kind, count in enumerate(self.left) for _ in range(count)]
        return rng.choice(wanted)

    def _neighbours(self, hand: Hand) -> list[int]:
        held = [kind for kind, count in enumerate(hand[:JOKER]) if count]
        if not held:
            return []
        suit, rank = divmod(self.rng.choice(held), NUM_RANKS)
        if self.rng.random() < 0.4:
            return [other * NUM_RANKS + rank for other in range(self.rules.suits)]
        near = [rank + step for step in (-2, -1, 1, 2)]
        if rank == 0:
            near += [HIGH_ACE - 2, HIGH_ACE - 1]
        exist = [other for other in near if melds.exists((suit, other), self.rules)]
        return [melds.natural_kind((suit, other)) for other in exist]

    def _cards_for_table(self) -> list[int]:
        """Cards that fit onto a meld, or for which a joker may be taken."""
        if not self.state.table:
            return []
        meld = self.rng.choice(list(self.state.table.values()))
        wanted = [kind for kind, _ in melds.exchanges(meld, self.rules)]
        return wanted + [one.kind for one in melds.extensions(meld, self.rules)]

    # --- what is left ---------------------------------------------------------------------------------------------

    def _pile_and_stock(self) -> None:
        state, rng = self.state, self.rng
        top = self._card_for(state.hand) if rng.random() < 0.8 and any(self.left) else None
        if top is not None and self.left[top]:
            self.left[top] -= 1
        else:
            top = None
        cards = [kind for kind, count in enumerate(self.left) for _ in range(count)]
        rng.shuffle(cards)
        in_stock = rng.choice([1, 2, 3, len(cards), rng.randint(0, len(cards))])
        in_stock = max(1, min(in_stock, len(cards)))
        state.stock, state.pile = cards[:in_stock], cards[in_stock:]
        if top is not None:
            state.pile.append(top)
        if self.rules.stock_recycle == "flip" or self.rules.completed_quartet == "to_stock_bottom":
            state.stock_known = rng.choice([0, 0, min(4, in_stock), in_stock])

    def _match(self) -> None:
        """Totals near the limit, close to one another; who is out has met it."""
        state, rng, limit = self.state, self.rng, self.rules.match_limit
        state.round = rng.randint(0, 9)
        for seat in range(state.num_seats):
            if seat in state.in_match:
                near = rng.choice([limit, limit, 12])
                state.totals[seat] = max(0, near - rng.randint(1, 12))
            else:
                state.totals[seat] = limit + rng.randint(1, 60)
            if self.rules.reentry != "none" and rng.random() < 0.3:
                state.reentries[seat] = rng.randint(0, 2)
        tied = len(state.in_match) < state.num_seats and self.rules.match_mode != "elimination"
        if tied or self.rules.match_mode == "single_hand":
            self._start_level()

    def _start_level(self) -> None:
        """Where nobody leaves before a tie is played off, or one round decides: those still in have equal totals."""
        state = self.state
        level = min(state.totals)
        for seat in state.in_match:
            state.totals[seat] = level
