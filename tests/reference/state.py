"""Everything on and around the table, in words and plain containers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from scala40_env.core.cards import NUM_KINDS
from scala40_env.core.rules import Rules
from tests.reference.melds import Meld

# phases
DRAW, PLAY, ROUND_OVER, MATCH_OVER = "draw", "play", "round_over", "match_over"
# how a round ended
CLOSED, DEAD_POSITION, STOCK_OUT, TURN_CAP, STUCK = "closed", "dead_position", "stock_out", "turn_cap", "stuck"
# what was drawn this turn
STOCK, UPCARD = "stock", "upcard"
# what the taken upcard obliges to: play it; open with it; open, with it or without
MUST_PLAY, MUST_OPEN_WITH, MUST_OPEN = "must_play", "must_open_with", "must_open"

Hand = list[int]
"""How many cards of each kind are held, by kind."""


def empty_hand() -> Hand:
    """No cards."""
    return [0] * NUM_KINDS


@dataclass(slots=True)
class Turn:
    """What the seat to act has done in this turn."""

    drew: str | None = None
    taken: int | None = None
    """The kind taken as upcard."""
    taken_played: bool = False
    """A card of that kind has been played since."""
    duty: str | None = None
    """What the taken card still obliges to."""
    laid_points: int = 0
    """Points towards the opening."""
    laid_any: bool = False
    opened_now: bool = False
    jokers_owed: int = 0
    """Jokers taken from the table that must be played this turn."""
    new_slots: set[int] = field(default_factory=set)
    """Where the melds of this turn lie."""
    last_slot: int | None = None
    """Where the meld laid last in this turn lies."""
    split_slot: int | None = None
    """Where a run lies that is too long."""

    def copy(self) -> Turn:
        """An independent copy."""
        return replace(self, new_slots=set(self.new_slots))


@dataclass(slots=True)
class State:
    """A game. Lists by seat have one entry for each seat; the last card of ``stock`` and of ``pile`` is the top."""

    rules: Rules
    num_seats: int
    whole_match: bool = True

    # the match
    round: int = 0
    in_match: set[int] = field(default_factory=set)
    in_round: set[int] = field(default_factory=set)
    dealer: int = 0
    totals: list[int] = field(default_factory=list)
    reentries: list[int] = field(default_factory=list)
    winners: set[int] = field(default_factory=set)

    # the last round that ended
    end: str | None = None
    closer: int | None = None
    closed_in_hand: bool = False
    points: list[int] = field(default_factory=list)
    ended_opened: set[int] = field(default_factory=set)
    ended_in_round: set[int] = field(default_factory=set)
    ended_turns: int = 0

    # the round
    phase: str = DRAW
    seat: int | None = 0
    pending_reentry: set[int] = field(default_factory=set)
    round_turns: int = 0
    match_turns: int = 0
    turns: list[int] = field(default_factory=list)
    has_opened: set[int] = field(default_factory=set)
    recycles: int = 0
    hands: list[Hand] = field(default_factory=list)
    known: list[Hand] = field(default_factory=list)
    """The cards of each hand that everybody knows."""
    table: dict[int, Meld] = field(default_factory=dict)
    stock: list[int] = field(default_factory=list)
    stock_known: int = 0
    """How many cards from the bottom of the stock everybody knows."""
    pile: list[int] = field(default_factory=list)
    discards: list[Hand] = field(default_factory=list)
    turn: Turn = field(default_factory=Turn)

    def copy(self) -> State:
        """An independent copy, all the way down (melds never change, so they are shared)."""
        return replace(
            self,
            in_match=set(self.in_match),
            in_round=set(self.in_round),
            totals=list(self.totals),
            reentries=list(self.reentries),
            winners=set(self.winners),
            points=list(self.points),
            ended_opened=set(self.ended_opened),
            ended_in_round=set(self.ended_in_round),
            pending_reentry=set(self.pending_reentry),
            turns=list(self.turns),
            has_opened=set(self.has_opened),
            hands=[list(hand) for hand in self.hands],
            known=[list(hand) for hand in self.known],
            table=dict(self.table),
            stock=list(self.stock),
            pile=list(self.pile),
            discards=[list(kinds) for kinds in self.discards],
            turn=self.turn.copy(),
        )

    @property
    def hand(self) -> Hand:
        """The hand of the seat to act."""
        return self.hands[self.acting]

    @property
    def acting(self) -> int:
        """The seat to act; there must be one."""
        assert self.seat is not None, "nobody is to act"
        return self.seat

    @property
    def opened(self) -> bool:
        """Whether the seat to act has opened, in this turn or before."""
        return self.seat in self.has_opened

    @property
    def awaits_deal(self) -> bool:
        """The match goes on and the next round is to be dealt."""
        return self.whole_match and self.phase == ROUND_OVER and not self.pending_reentry

    def free_slot(self) -> int:
        """The lowest slot in which nothing lies."""
        return next(slot for slot in range(len(self.table) + 1) if slot not in self.table)

    def seats_after(self, seat: int) -> list[int]:
        """All seats in turn order, from the left of one round to that one itself."""
        return [(seat + step) % self.num_seats for step in range(1, self.num_seats + 1)]


def new_state(rules: Rules, num_seats: int, whole_match: bool = True) -> State:
    """A state in which nothing has been dealt yet and every seat is in the match and the round."""
    return State(
        rules=rules,
        num_seats=num_seats,
        whole_match=whole_match,
        in_match=set(range(num_seats)),
        in_round=set(range(num_seats)),
        totals=[0] * num_seats,
        reentries=[0] * num_seats,
        points=[0] * num_seats,
        turns=[0] * num_seats,
        hands=[empty_hand() for _ in range(num_seats)],
        known=[empty_hand() for _ in range(num_seats)],
        discards=[empty_hand() for _ in range(num_seats)],
    )
