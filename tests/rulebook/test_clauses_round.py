"""Clauses of the rulebook, rows 39 to 60: going out, the end of the stock, points, the match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scala40_env.core.rules import FLAGS, Rules
from scala40_env.core.state import END_CLOSED, END_NAMES, MATCH_OVER, PHASE_NAMES, ROUND_OVER
from tests.reference.cases import kind
from tests.reference.state import State, empty_hand
from tests.rulebook.cases import Case, case, clause, with_stock

Flags = dict[str, Any]


def _others_hold(*hands: str) -> Callable[[State], None]:
    """The other seats hold these cards and have opened; what they held before is under the stock."""

    def change(state: State) -> None:
        for seat in range(1, len(hands) + 1):
            before = [card for card, count in enumerate(state.hands[seat]) for _ in range(count)]
            state.stock[:0] = before
            state.hands[seat] = empty_hand()
            state.has_opened.add(seat)
        for seat, cards in enumerate(hands, 1):
            for card in cards.split():
                state.stock.remove(kind(card))
                state.hands[seat][kind(card)] += 1

    return change


def _charged(other: str, *, opened: bool = True, **flags: Any) -> int:
    """What the other seat is charged for these cards when seat 0 goes out."""

    def change(state: State) -> None:
        _others_hold(other)(state)
        if not opened:
            state.has_opened.discard(1)

    after = case("2H", also=change, **flags).after("discard 2H")
    assert (after.row.end, after.row.closer, after.row.points[0]) == (END_CLOSED, 0, 0)
    return int(after.row.points[1])


# --- going out ----------------------------------------------------------------------------------------------------


@clause("close_needs_discard", False, True)
def test_row_39_the_last_card_is_discarded(flags: Flags):
    before = case("8H 8S 8C", **flags)
    assert before.may("lay 8H 8C 8S") == (not flags["close_needs_discard"])
    assert before.may("discard 8H")
    if not flags["close_needs_discard"]:
        after = before.after("lay 8H 8C 8S")
        assert (after.row.phase, after.row.end, after.row.closer) == (ROUND_OVER, END_CLOSED, 0)
    assert case("8H 8S 8C KD", **flags).after("lay 8H 8C 8S", "discard KD").row.end == END_CLOSED


def test_row_40_incartato():
    """Two sixes, the third one drawn, and nothing to discard: they may not be laid."""
    assert case("6H 6D 6C").legal == ["discard 6H", "discard 6D", "discard 6C"]


@clause("close_on_first_turn", False, True)
def test_row_41_going_out_on_the_first_turn(flags: Flags):
    hand = "KH KD KC QH QD QC 2S"
    first = case(hand, opened=False, first_turn=True, **flags)
    assert first.may("lay KH KD KC", "lay QH QD QC", "discard 2S") == flags["close_on_first_turn"]
    later = case(hand, opened=False, first_turn=False, **flags)
    assert later.may("lay KH KD KC", "lay QH QD QC", "discard 2S")


@clause("close_in_hand_multiplier", 1, 2)
def test_row_42_opening_and_going_out_in_one_turn_counts_more(flags: Flags):
    times = flags["close_in_hand_multiplier"]
    hand = "KH KD KC QH QD QC 2S"
    in_hand = case(hand, opened=False, also=_others_hold("5H 9D"), **flags)
    after = in_hand.after("lay KH KD KC", "lay QH QD QC", "discard 2S")
    assert (after.row.closed_in_hand, after.row.points[1]) == (1, 14 * times)
    opened_before = case(hand, opened=True, also=_others_hold("5H 9D"), **flags)
    after = opened_before.after("lay KH KD KC", "lay QH QD QC", "discard 2S")
    assert (after.row.closed_in_hand, after.row.points[1]) == (0, 14)


@clause("close_in_hand_needs_opening_min", False, True)
def test_row_42_going_out_in_hand_with_less_than_the_opening(flags: Flags):
    before = case("7H 7D 7C 2S", opened=False, **flags)
    assert before.may("lay 7H 7D 7C", "discard 2S") == (not flags["close_in_hand_needs_opening_min"])
    assert not case("7H 7D 7C 2S 3D", opened=False, **flags).may("lay 7H 7D 7C")


def test_row_43_after_the_close_everything_in_hand_counts():
    assert _charged("KH KD KC") == 30


# --- the stock ----------------------------------------------------------------------------------------------------


def _last_card(recycles: int = 0, **given: Any) -> Case:
    """One card is left in the stock and the rest in the pile, KD on top."""

    def change(state: State) -> None:
        with_stock("9D")(state)
        state.recycles = recycles

    return case("2H 5C", "4S 5S 6S", phase="draw", top_discard="KD", also=change, **given)


@clause("stock_recycle", "shuffle", "flip", "end_hand")
def test_row_44_the_stock_runs_out(flags: Flags):
    before = _last_card(**flags)
    pile = before.row.pile[: before.row.pile_size].tolist()
    after = before.after("draw")
    stock = after.row.stock[: after.row.stock_size].tolist()
    if flags["stock_recycle"] == "end_hand":
        assert stock == []
        assert END_NAMES[after.after("discard 2H").row.end] == "stock_out"
        return
    assert after.row.pile_size == 0
    assert sorted(stock) == sorted(pile)
    if flags["stock_recycle"] == "flip":
        assert stock == pile[::-1], "the oldest discard is drawn next"
        assert after.row.stock_known == len(pile)
    else:
        assert stock not in (pile, pile[::-1])
        assert after.row.stock_known == 0


@clause("stock_recycle_when", "last_card_drawn", "draw_from_empty")
def test_row_45_when_the_pile_becomes_the_stock(flags: Flags):
    before = _last_card(**flags)
    after = before.after("draw")
    at_once = flags["stock_recycle_when"] == "last_card_drawn"
    assert (after.row.recycles, after.row.stock_size == 0) == ((1, False) if at_once else (0, True))
    assert after.after("discard 2H").row.pile_size == (1 if at_once else before.row.pile_size + 1)
    assert after.after("discard 2H", "draw").row.recycles == 1


@clause("stock_recycle_keeps_top", False, True)
def test_row_46_whether_the_upcard_stays(flags: Flags):
    after = _last_card(**flags).after("draw")
    kept = after.row.pile[: after.row.pile_size].tolist()
    assert kept == ([kind("KD")] if flags["stock_recycle_keeps_top"] else [])


@clause("max_stock_recycles", 0, 2, None)
def test_row_47_how_often_the_pile_becomes_the_stock(flags: Flags):
    most = flags["max_stock_recycles"]
    after = _last_card(recycles=2, **flags).after("draw")
    assert after.row.recycles == (3 if most is None else 2)
    ended = after.after("discard 2H")
    assert END_NAMES[ended.row.end] == ("none" if most is None else "stock_out")
    assert _last_card(recycles=0, **flags).after("draw").row.recycles == (0 if most == 0 else 1)


@clause("max_turns_per_round", 3, 9, None)
def test_row_47_how_many_turns_a_round_has(flags: Flags):
    """Two turns have been played."""
    after = case("2H KD 5C", "4S 5S 6S", **flags).after("discard 2H")
    assert END_NAMES[after.row.end] == ("turn_cap" if flags["max_turns_per_round"] == 3 else "none")


@clause("dead_round_result", "void", "all_count")
def test_row_47_a_round_that_nobody_closed(flags: Flags):
    before = case("2H KD 5C", "4S 5S 6S", max_turns_per_round=3, also=_others_hold("KH 4D"), **flags)
    points = before.after("discard 2H").row.points[:2].tolist()
    assert points == ([0, 0] if flags["dead_round_result"] == "void" else [15, 14])


def test_row_47_a_dead_position_ends_the_round():
    def change(state: State) -> None:
        _others_hold("KH 4D")(state)

    dead = case("2H KD 5C", "7H 7D 7C 7S", also=change)
    assert END_NAMES[dead.after("discard 2H").row.end] == "dead_position"
    alive = case("2H KD 5C", "7H 7D 7C 7S", "4S 5S 6S", also=change)
    assert END_NAMES[alive.after("discard 2H").row.end] == "none"


# --- points -------------------------------------------------------------------------------------------------------


@clause("hand_joker_points", 14, 25)
def test_row_48_a_joker_in_hand(flags: Flags):
    assert _charged("JK 5D", **flags) == flags["hand_joker_points"] + 5


@clause("hand_ace_points", 11, 14)
def test_row_49_an_ace_in_hand(flags: Flags):
    assert _charged("AD 5D", **flags) == flags["hand_ace_points"] + 5
    assert _charged("AD AS", **flags) == 2 * flags["hand_ace_points"]


@clause("lone_ace_points", 1, 11)
def test_row_50_a_single_ace(flags: Flags):
    assert _charged("AD", hand_ace_points=13, **flags) == flags["lone_ace_points"]
    assert _charged("AD AD", hand_ace_points=13, **flags) == 26


@clause("point_scale", "faces_10", "rank_values")
def test_row_51_figures_and_other_cards_in_hand(flags: Flags):
    figures = {"faces_10": 30, "rank_values": 11 + 12 + 13}[flags["point_scale"]]
    assert _charged("JD QC KH 2D TD 7S", **flags) == figures + 19


@clause("unopened_penalty", None, 0, 100)
def test_row_52_a_seat_that_never_opened(flags: Flags):
    penalty = flags["unopened_penalty"]
    assert _charged("5D KC", opened=False, **flags) == (15 if penalty is None else penalty)
    assert _charged("5D KC", opened=True, **flags) == 15


def test_row_53_the_closer_scores_nothing():
    after = case("2H", also=_others_hold("5D")).after("discard 2H")
    assert after.row.points.tolist() == [0, 5, 0, 0, 0, 0]
    assert after.row.totals.tolist() == [0, 5, 0, 0, 0, 0]


# --- the match ----------------------------------------------------------------------------------------------------


def _match(totals: list[int], *others: str, reentries: int = 0, **flags: Any) -> Case:
    """A match in which seat 0 goes out now; the others hold these cards."""

    def change(state: State) -> None:
        _others_hold(*others)(state)
        state.whole_match = True
        state.totals = list(totals)
        state.reentries = [reentries] * state.num_seats

    return case("2H", players=len(totals), also=change, **flags).after("discard 2H")


def _seats(mask: int) -> list[int]:
    return [seat for seat in range(6) if mask >> seat & 1]


@clause("match_limit", 101, 151, 201)
def test_row_54_the_limit(flags: Flags):
    limit = flags["match_limit"]
    short = _match([0, limit - 6, 0], "5D", "5C", **flags)
    assert (PHASE_NAMES[short.row.phase], _seats(short.row.in_match)) == ("draw", [0, 1, 2])
    reached = _match([0, limit - 5, 0], "5D", "5C", **flags)
    assert (PHASE_NAMES[reached.row.phase], _seats(reached.row.in_match)) == ("draw", [0, 2])
    assert reached.row["round"] == 1


@clause("limit_test", "ge", "gt")
def test_row_55_reaching_the_limit_or_passing_it(flags: Flags):
    reached = _match([0, 96], "5D", **flags)
    assert (reached.row.phase == MATCH_OVER) == (flags["limit_test"] == "ge")
    assert _match([0, 97], "5D", **flags).row.phase == MATCH_OVER


@clause("match_mode", "elimination", "single_hand", "lowest_at_target")
def test_row_56_to_58_how_a_match_is_won(flags: Flags):
    mode = flags["match_mode"]
    after = _match([50, 99, 10], "5D", "5C", **flags)
    winners = {"elimination": [], "single_hand": [0], "lowest_at_target": [2]}[mode]
    assert (_seats(after.row.winners), after.row.phase == MATCH_OVER) == (winners, bool(winners))
    last = _match([50, 99, 98], "5D", "5C", **flags)
    assert _seats(last.row.winners) == [0]
    nobody_over = _match([50, 20, 10], "5D", "5C", **flags)
    assert _seats(nobody_over.row.winners) == ([0] if mode == "single_hand" else [])


@clause("reentry", "none", "automatic", "paid_optional")
def test_row_59_coming_back(flags: Flags):
    how = flags["reentry"]
    after = _match([50, 99, 60], "5D", "5C", reentry_max=None, **flags)
    if how == "paid_optional":
        assert (PHASE_NAMES[after.row.phase], after.row.seat, after.legal) == ("round_over", 1, ["reenter", "leave"])
        assert _seats(after.after("leave").row.in_match) == [0, 2]
        after = after.after("reenter")
    came_back = how != "none"
    assert _seats(after.row.in_match) == ([0, 1, 2] if came_back else [0, 2])
    assert after.row.totals[:3].tolist() == [50, 65 if came_back else 104, 65]
    assert after.row.reentries[1] == came_back


@clause("reentry_max", 0, 1, 2, None)
def test_row_59_how_often_a_seat_comes_back(flags: Flags):
    most = flags["reentry_max"]
    after = _match([50, 99, 60], "5D", "5C", reentry="automatic", reentries=1, **flags)
    assert (1 in _seats(after.row.in_match)) == (most in (2, None))


@clause("reentry_cost", 0.0, 0.5, 1.0)
def test_row_59_what_coming_back_costs(flags: Flags):
    """The stake is for the faces to settle: the engine carries it, in hundredths."""
    index = [flag.name for flag in FLAGS].index("reentry_cost")
    assert Rules.from_mapping(flags).vector()[index] == round(100 * flags["reentry_cost"])


@clause("tie_break", "shared", "extra_hand")
def test_row_60_ties(flags: Flags):
    after = _match([50, 96, 45], "5D", "5C", match_mode="lowest_at_target", **flags)
    assert after.row.totals[:3].tolist() == [50, 101, 50]
    if flags["tie_break"] == "shared":
        assert (after.row.phase, _seats(after.row.winners)) == (MATCH_OVER, [0, 2])
    else:
        assert (PHASE_NAMES[after.row.phase], _seats(after.row.in_match)) == ("draw", [0, 2])
        assert _seats(after.row.in_round) == [0, 2]
