"""The cases of the rulebook put to the twin: a state from a scenario, and its answer to the scenario's question.

A scenario names the hand of the seat to act, the melds on the table and little more; what it does not say (the other
hands, the stock) is filled with the cards that are not shown. A meld of more than three cards is laid as three, and the
rest laid off, in one turn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from scala40_env.core import actions
from scala40_env.core.cards import ACE, HIGH_ACE, JOKER, KING, NUM_RANKS, RANK_NAMES, SUIT_NAMES
from scala40_env.core.rules import Rules, RulesError
from tests.reference import melds, scoring
from tests.reference.adapter import deck
from tests.reference.legality import legal_actions
from tests.reference.melds import Meld, Place, make_set
from tests.reference.rules_of_play import apply
from tests.reference.state import DRAW, MATCH_OVER, PLAY, State, new_state

Scenario = dict[str, Any]
Step = list[Any]

SEAT = 0
"""The seat to act in every scenario; the dealer sits at its right, so in a first turn it is the first player."""


def load() -> list[Scenario]:
    """All scenarios, in the order of the file."""
    path = Path(__file__).parent / "data" / "scenarios.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# --- words to cards -----------------------------------------------------------------------------------------------


def parse_card(text: str) -> tuple[int, int | None]:
    """The kind, and for ``JK=7C`` the card that it stands for."""
    if text.startswith("JK"):
        return JOKER, parse_card(text[3:])[0] if "=" in text else None
    return SUIT_NAMES.index(text[1]) * NUM_RANKS + RANK_NAMES.index(text[0]), None


def parse_meld(cards: Sequence[str], rules: Rules) -> Meld | None:
    """The meld that the cards make in the order given, or None where they make none."""
    parsed = [parse_card(card) for card in cards]
    jokers = [i for i, (kind, _) in enumerate(parsed) if kind == JOKER]
    if len(jokers) > 1:
        return None
    kinds = [kind if stands_for is None else stands_for for kind, stands_for in parsed]
    places = [divmod(kind, NUM_RANKS) for kind in kinds]
    joker = jokers[0] if jokers else None
    readings = [make_set(places, None if joker is None else places[joker]), Meld(False, _in_run(places), joker)]
    return next((meld for meld in readings if melds.is_valid(meld, rules)), None)


def _in_run(places: list[Place]) -> tuple[Place, ...]:
    """As places of a run: an ace after a king is the high ace."""
    suit, rank = places[-1]
    if rank == ACE and places[-2][1] == KING:
        return (*places[:-1], (suit, HIGH_ACE))
    return tuple(places)


# --- a scenario to a state ----------------------------------------------------------------------------------------


def rules_of(scenario: Scenario) -> Rules:
    """The rules of a scenario."""
    return Rules.from_mapping({"base": scenario["rules"], **scenario.get("overrides", {})})


def state_of(scenario: Scenario) -> State:
    """The position of a scenario, in its draw or play phase."""
    rules = rules_of(scenario)
    state = new_state(rules, scenario["players"])
    state.dealer = state.num_seats - 1
    state.phase, state.seat = (DRAW if scenario["phase"] == "draw" else PLAY), SEAT
    if state.phase == PLAY:
        state.turn.drew = "stock"
    if not scenario["first_turn"]:
        state.turns = [1] * state.num_seats
        state.round_turns = state.num_seats
    if scenario["opened"]:
        state.has_opened.add(SEAT)
    for slot, cards in enumerate(scenario["table"]):
        meld = parse_meld(cards, rules)
        assert meld is not None, f"{cards} is no meld"
        state.table[slot] = meld
    for card in scenario["hand"]:
        state.hands[SEAT][parse_card(card)[0]] += 1
    if scenario["top_discard"] is not None:
        state.pile = [parse_card(scenario["top_discard"])[0]]
    _deal_unseen(state)
    return state


def _deal_unseen(state: State) -> None:
    """Give the other hands and the stock the cards that the scenario does not show."""
    unseen = deck(state.rules)
    shown = [kind for meld in state.table.values() for kind in meld.kinds()] + state.pile
    for kind in shown:
        unseen[kind] -= 1
    cards = [kind for kind, count in enumerate(unseen) for _ in range(count - state.hands[SEAT][kind])]
    for seat in range(1, state.num_seats):
        for _ in range(state.rules.hand_size):
            state.hands[seat][cards.pop()] += 1
    state.stock = cards


def _put_on_top(state: State, kind: int) -> None:
    """Make a card the next of the stock."""
    state.stock.remove(kind)
    state.stock.append(kind)


# --- steps --------------------------------------------------------------------------------------------------------


class IllegalStepError(Exception):
    """A step that may not be played."""


def run(state: State, steps: Iterable[Step]) -> State:
    """The state after the steps.

    Raises:
        IllegalStepError: One of them is not legal where it comes.
    """
    for name, *arguments in steps:
        state = _STEPS[name](state, *arguments)
    return state


def _do(state: State, action: int) -> State:
    if action not in legal_actions(state):
        raise IllegalStepError(action)
    return apply(state, action)


def _draw(state: State, card: str | None = None) -> State:
    if card is not None:
        state = state.copy()
        _put_on_top(state, parse_card(card)[0])
    return _do(state, actions.DRAW)


def _take(state: State) -> State:
    return _do(state, actions.TAKE)


def _keep_upcard(state: State) -> State:
    after = _take(state)
    if after.turn.duty is not None:
        raise IllegalStepError("the upcard must be used")
    return after


def _open(state: State, opening: list[list[str]]) -> State:
    """Several melds in one turn, which are the whole opening."""
    for cards in opening:
        state = _lay(state, cards)
    if SEAT not in state.has_opened:
        raise IllegalStepError("too few points")
    return state


def _lay(state: State, cards: list[str]) -> State:
    meld = parse_meld(cards, state.rules)
    first = parse_meld(cards[:3], state.rules)
    if meld is None or first is None:
        raise IllegalStepError(cards)
    slot = state.free_slot()
    state = _do(state, next(action for action, three in melds.lays(state.rules).items() if three == first))
    for card in cards[3:]:
        state = _lay_off(state, card, slot)
    return state


def _lay_off(state: State, card: str, slot: int) -> State:
    kind, stands_for = parse_card(card)
    for one in melds.extensions(state.table[slot], state.rules):
        if one.kind == kind and stands_for in (None, melds.natural_kind(one.place)):
            return _do(state, actions.LAY_OFF + slot * actions.NUM_ENDS + one.end)
    raise IllegalStepError(card)


def _swap(state: State, card: str, slot: int) -> State:
    given = [kind for kind, _ in melds.exchanges(state.table[slot], state.rules) if state.hand[kind]]
    if given[:1] != [parse_card(card)[0]]:
        raise IllegalStepError(card)
    return _do(state, actions.SWAP + slot)


def _take_from_meld(state: State, card: str, slot: int) -> State:
    raise IllegalStepError("no action takes a card out of a meld")


def _discard(state: State, card: str) -> State:
    return _do(state, actions.DISCARD + parse_card(card)[0])


_STEPS: dict[str, Callable[..., State]] = {
    "draw": _draw,
    "take": _take,
    "keep_upcard": _keep_upcard,
    "open": _open,
    "lay": _lay,
    "lay_off": _lay_off,
    "swap": _swap,
    "take_from_meld": _take_from_meld,
    "discard": _discard,
}


def _can_be_played(state: State, steps: list[Step], complete: bool) -> bool:
    try:
        after = run(state, steps)
    except IllegalStepError:
        return False
    return _turn_is_over(after) if complete else True


def _turn_is_over(state: State) -> bool:
    return state.phase not in (DRAW, PLAY) or state.seat != SEAT


def _can_go_out(state: State) -> bool:
    """Whether some way to play the turn goes out."""
    if _turn_is_over(state):
        return state.closer == SEAT
    return any(_can_go_out(apply(state, action)) for action in legal_actions(state))


# --- questions ----------------------------------------------------------------------------------------------------


def answer(scenario: Scenario) -> Any:
    """The twin's answer to a scenario's question."""
    question = dict(scenario["action"])
    return _ANSWERS[question.pop("type")](scenario, **question)


def _meld_valid(scenario: Scenario, cards: list[str]) -> bool:
    """May the cards be laid as one meld: they are one, and the player can lay them."""
    if parse_meld(cards, rules_of(scenario)) is None:
        return False
    return _can_be_played(state_of(scenario), [["lay", cards]], complete=False)


def _opening_total(scenario: Scenario, **question: Any) -> int:
    return sum(_points(cards, rules_of(scenario)) for cards in question["melds"])


def _points(cards: list[str], rules: Rules) -> int:
    meld = parse_meld(cards, rules)
    assert meld is not None
    return melds.points(meld, rules)


def _turn(scenario: Scenario, complete: bool, steps: list[Step]) -> bool:
    return _can_be_played(state_of(scenario), steps, complete)


def _prefix_completable(scenario: Scenario, steps: list[Step]) -> bool:
    return _can_be_played(state_of(scenario), steps, complete=False)  # a legal step is one that can be completed


def _can_close(scenario: Scenario) -> bool:
    return _can_go_out(state_of(scenario))


def _any_legal_discard(scenario: Scenario) -> bool:
    return any(actions.DISCARD <= action < actions.SPLIT for action in legal_actions(state_of(scenario)))


def _meld_count_after(scenario: Scenario, steps: list[Step]) -> int:
    return len(run(state_of(scenario), steps).table)


def _cards_to_stock(scenario: Scenario, steps: list[Step]) -> int:
    state = state_of(scenario)
    return len(run(state, steps).stock) - len(state.stock)


def _recycled_stock_size(scenario: Scenario, pile: int) -> int:
    state = _before_last_card(scenario, pile)
    return len(apply(state, actions.DRAW, reshuffle=list).stock)


def _next_draw_is_oldest_discard(scenario: Scenario) -> bool:
    """Whether the oldest discard comes first, however the cards are shuffled (where they are)."""
    state = _before_last_card(scenario, 20)
    shuffles: list[Callable[[list[int]], list[int]]] = [list, lambda cards: cards[::-1]]
    tops = [apply(state, actions.DRAW, reshuffle).stock[-1] for reshuffle in shuffles]
    return tops == [state.pile[0]] * 2


def _before_last_card(scenario: Scenario, pile: int) -> State:
    """A draw phase in which one card is left in the stock and so many lie in the pile."""
    state = state_of({**scenario, "phase": "draw"})
    state.hands[SEAT][state.stock.pop()] += 1
    different = sorted(set(state.stock))  # so that the oldest discard is like no other
    state.pile, state.stock = different[:pile], different[pile : pile + 1]
    return state


def _score(scenario: Scenario, closed_in_hand: bool, is_closer: bool) -> int:
    state = state_of(scenario)
    closer = SEAT if is_closer else SEAT + 1
    return scoring.round_points(state, "closed", closer, closed_in_hand)[SEAT]


def _is_out(scenario: Scenario, total: int) -> bool:
    return scoring.is_over(total, rules_of(scenario))


def _after_round(scenario: Scenario, totals: list[int]) -> State:
    """The match after a round that brought these totals; every seat that may re-enter does."""
    state = state_of({**scenario, "phase": "play", "players": len(totals)})
    state.totals = totals
    state.rules = Rules.from_mapping({**state.rules.to_mapping(), "dead_round_result": "void"})
    scoring.end_round(state, "stuck")  # adds no points
    while state.pending_reentry:
        state = apply(state, actions.REENTER)
    return state


def _match_over(scenario: Scenario, totals: list[int]) -> bool:
    return _after_round(scenario, totals).phase == MATCH_OVER


def _winning_total(scenario: Scenario, totals: list[int]) -> int:
    state = _after_round(scenario, totals)
    return next(state.totals[seat] for seat in state.winners)


def _reentry_total(scenario: Scenario, totals: list[int]) -> int:
    out = next(seat for seat, total in enumerate(totals) if scoring.is_over(total, rules_of(scenario)))
    return _after_round(scenario, totals).totals[out]


def _players_allowed(scenario: Scenario, n: int) -> bool:
    try:
        rules_of(scenario).check_players(n)
    except RulesError:
        return False
    return True


def _flag(scenario: Scenario, flag: str, value: Any) -> bool:
    return bool(getattr(rules_of(scenario), flag) == value)


_ANSWERS: dict[str, Callable[..., Any]] = {
    "meld_valid": _meld_valid,
    "opening_total": _opening_total,
    "turn": _turn,
    "prefix_completable": _prefix_completable,
    "can_close": _can_close,
    "any_legal_discard": _any_legal_discard,
    "meld_count_after": _meld_count_after,
    "cards_to_stock": _cards_to_stock,
    "recycled_stock_size": _recycled_stock_size,
    "next_draw_is_oldest_discard": _next_draw_is_oldest_discard,
    "score": _score,
    "is_out": _is_out,
    "match_over": _match_over,
    "winning_total": _winning_total,
    "reentry_total": _reentry_total,
    "players_allowed": _players_allowed,
    "flag": _flag,
}
