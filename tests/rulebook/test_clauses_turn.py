"""Clauses of the rulebook, rows 18 to 38: the opening, the draw, plays on the table, discards."""

from __future__ import annotations

from typing import Any

from tests.reference.cases import kind
from tests.rulebook.cases import case, clause

Flags = dict[str, Any]

# --- the opening --------------------------------------------------------------------------------------------------


@clause("opening_min", 0, 30, 40)
def test_row_18_the_least_opening(flags: Flags):
    """Three threes are 9 points and three kings 30, together 39."""
    before = case("3H 3D 3C KH KD KC 2S 5S", opened=False, **flags)
    assert before.may("lay 3H 3D 3C", "discard 2S") == (flags["opening_min"] == 0)
    assert before.may("lay KH KD KC", "discard 2S") == (flags["opening_min"] <= 30)
    assert before.may("lay 3H 3D 3C") == (flags["opening_min"] <= 30), "what is begun can be finished"
    assert case("4H 4D 4C KH KD KC 2S 5S", opened=False, **flags).may("lay 4H 4D 4C", "lay KH KD KC", "discard 2S")


@clause("point_scale", "faces_10", "rank_values")
def test_row_19_what_figures_are_worth_in_the_opening(flags: Flags):
    """Three queens and three threes: 39 points with figures at 10, 45 with the queen at 12."""
    before = case("3H 3D 3C QH QD QC 2S 5S", opened=False, **flags)
    assert before.may("lay 3H 3D 3C") == (flags["point_scale"] == "rank_values")


@clause("joker_opening_value", "represented", "fixed_11")
def test_row_20_what_a_joker_is_worth_in_the_opening(flags: Flags):
    """Two kings and a joker, and three threes: 39 points with the joker as a king, 40 with it at 11."""
    before = case("3H 3D 3C KH KD JK 2S 5S", opened=False, **flags)
    assert before.may("lay 3H 3D 3C") == (flags["joker_opening_value"] == "fixed_11")


@clause("opening_joker", "allowed", "forbidden", "only_if_clean_melds_reach_min")
def test_row_21_jokers_in_the_opening(flags: Flags):
    how = flags["opening_joker"]
    needs_joker = case("KH KD JK QH QD QC 2S 5S", opened=False, **flags)
    assert needs_joker.may("lay QH QD QC") == (how == "allowed")
    clean = case("KH KD KC 4H 4D 4C 9H 9D JK 2S 5S", opened=False, **flags)
    assert clean.may("lay KH KD KC", "lay 4H 4D 4C", "discard 2S")
    assert clean.may("lay 9H 9D JK=9C", "lay KH KD KC", "lay 4H 4D 4C") == (how != "forbidden")
    assert clean.may("lay KH KD KC", "lay 4H 4D 4C", "lay 9H 9D JK=9C") == (how != "forbidden")


def test_row_22_nobody_must_lay():
    assert case("KH KD KC QH QD QC 2S 5S", opened=False).may("discard KH")


# --- the draw -----------------------------------------------------------------------------------------------------


@clause("take_before_opening", "never", "must_use_in_opening", "must_open")
def test_row_23_the_upcard_before_the_opening(flags: Flags):
    how = flags["take_before_opening"]
    given = {"phase": "draw", "opened": False, "top_discard": "7C", **flags}
    before = case("7H 7D KH KD KC QH QD QC 2S 5S", **given)
    without = ["take", "lay KH KD KC", "lay QH QD QC"]
    assert before.may("take") == (how != "never")
    assert before.may(*without, "discard 2S") == (how == "must_open")
    assert before.may(*without, "lay 7H 7D 7C", "discard 2S") == (how != "never")
    assert not before.may("take", "discard 2S")
    assert not case("7H 7D KH KD KC 2S 5S 9S", **{**given, "top_discard": "8C"}).may("take")
    unused = case("2H 9D KH KD KC QH QD QC 2S 5S", **given)
    assert unused.may("take") == (how == "must_open")


@clause("take_after_opening", "must_use", "free")
def test_row_24_the_upcard_after_the_opening(flags: Flags):
    useless = case("2H 5D KS", phase="draw", top_discard="9C", **flags)
    assert useless.may("take") == (flags["take_after_opening"] == "free")
    useful = case("9H 9D 2H KS", phase="draw", top_discard="9C", **flags)
    assert useful.may("take", "lay 9H 9D 9C", "discard KS")
    assert useful.may("take", "discard KS") == (flags["take_after_opening"] == "free")


@clause("taken_card_uses", ("lay",), ("lay_off",), ("swap",), ("lay", "lay_off"), ("lay", "lay_off", "swap"))
def test_row_25_what_counts_as_using_the_upcard(flags: Flags):
    uses = flags["taken_card_uses"]
    table = ["7H 7D JK=7C", "4C 5C 6C"]
    before = case("7D 7S 9H KS QD", *table, phase="draw", top_discard="7C", take_after_opening="must_use", **flags)
    assert before.may("take", "lay 7D 7C 7S", "discard KS") == ("lay" in uses)
    assert before.may("take", "off 7C @1", "discard KS") == ("lay_off" in uses)
    assert before.may("take", "swap 7C @0", "off JK=7S @0", "discard KS") == ("swap" in uses)


@clause("rediscard_taken", False, True)
def test_row_26_discarding_the_upcard_just_taken(flags: Flags):
    given = {"phase": "draw", "top_discard": "9C", "take_after_opening": "free", **flags}
    assert case("2H 5D KS", **given).may("take", "discard 9C") == flags["rediscard_taken"]
    assert case("2H 9C KS", **given).may("take", "discard 9C"), "another copy was in hand already"


def test_row_27_only_the_top_of_the_pile_is_taken():
    after = case("2H 5D KS", phase="draw", top_discard="9C", take_after_opening="free").after("take")
    assert after.twin.hands[0][kind("9C")] == 1
    assert after.row.pile_size == 0
    assert sum(after.twin.hands[0]) == 4


# --- on the table -------------------------------------------------------------------------------------------------


def test_row_28_laying_off_takes_an_opening():
    assert not case("7D KS QC", "4D 5D 6D", opened=False).may("off 7D @0")
    assert case("7D KS QC", "4D 5D 6D", opened=True).may("off 7D @0", "discard KS")


@clause("lay_off_in_opening_turn", "any", "own_melds_only", "none")
def test_row_29_laying_off_in_the_turn_of_the_opening(flags: Flags):
    how = flags["lay_off_in_opening_turn"]
    before = case("KH KD KC QH QD QC 7D KS QS 2S 5S", "4D 5D 6D", opened=False, **flags)
    opened = before.after("lay KH KD KC", "lay QH QD QC")
    assert opened.may("off 7D @0") == (how == "any")
    assert opened.may("off KS @1") == (how != "none")
    assert opened.may("off QS @2"), "the meld just laid is still being made"


def test_row_30_nobody_must_lay_off():
    assert case("7D KS QC", "4D 5D 6D").may("discard 7D")


@clause("joker_swap", "must_use", "must_use_or_return", "to_hand", "off")
def test_row_31_joker_swap(flags: Flags):
    how = flags["joker_swap"]
    full = case("7C KS QC", "7H 7D JK=7C 7S", **flags)
    assert full.may("swap 7C @0") == (how == "to_hand"), "there is no place for the joker"
    room = case("7C KS QC", "7H 7D JK=7C 7S", "4D 5D 6D", **flags)
    assert room.may("swap 7C @0") == (how != "off")
    assert room.may("swap 7C @0", "discard KS") == (how == "to_hand")
    assert room.may("swap 7C @0", "off JK=3D @1", "discard KS") == (how != "off")


@clause("joker_swap_needs_opened", False, True)
def test_row_32_swapping_before_the_opening(flags: Flags):
    before = case("5D KS QC 9H", "4D JK=5D 6D", opened=False, joker_swap="to_hand", **flags)
    assert before.may("swap 5D @0", "discard KS") == (not flags["joker_swap_needs_opened"])


def test_row_33_swapping_out_of_a_set_of_three():
    assert case("7C KS QC", "7H 7D JK=7C").may("swap 7C @0", "off JK=7S @0", "discard KS")


@clause("completed_quartet", "stay", "to_stock_bottom")
def test_row_34_completed_quartet(flags: Flags):
    before = case("7S KS QC", "7H 7D 7C", "4D 5D 6D", **flags)
    after = before.after("off 7S @0")
    if flags["completed_quartet"] == "stay":
        assert (after.row.used_slots, after.row.meld_size[0]) == (0b11, 4)
        assert after.row.stock_size == before.row.stock_size
    else:
        assert after.row.used_slots == 0b10
        assert after.row.stock[:4].tolist() == [kind(card) for card in ("7S", "7C", "7D", "7H")]
        assert after.row.stock_size == before.row.stock_size + 4
        assert after.row.stock_known == 4


def test_row_35_plays_come_in_any_order():
    before = case("8H 8C 8S 7D KS QC", "4D 5D 6D")
    assert before.may("lay 8H 8C 8S", "off 7D @0", "discard KS")
    assert before.may("off 7D @0", "lay 8H 8C 8S", "discard KS")


# --- discards -----------------------------------------------------------------------------------------------------


@clause("playable_discard_opened", "allowed", "forbidden")
def test_row_36_an_opened_seat_discards_what_could_be_laid_off(flags: Flags):
    allowed = flags["playable_discard_opened"] == "allowed"
    assert case("7D KS QC", "4D 5D 6D", **flags).may("discard 7D") == allowed
    assert case("7D KS QC", "4D 5D 6D", opened=False, **flags).may("discard 7D")
    assert case("5D KS QC", "4D JK=5D 6D", **flags).may("discard 5D"), "a card that only fits by a swap"


@clause("playable_discard_unopened", "allowed", "forbidden")
def test_row_36_an_unopened_seat_discards_what_could_be_laid_off(flags: Flags):
    allowed = flags["playable_discard_unopened"] == "allowed"
    assert case("7D KS QC", "4D 5D 6D", opened=False, **flags).may("discard 7D") == allowed
    assert case("7D KS QC", "4D 5D 6D", **flags).may("discard 7D")


@clause("playable_discard_closing", "allowed", "forbidden")
def test_row_36_the_last_card_could_be_laid_off(flags: Flags):
    """One card is all there is: where it is forbidden nothing is left, and then any card may go (row 37)."""
    assert case("7D", "4D 5D 6D", playable_discard_opened="forbidden", **flags).legal == ["discard 7D"]
    others = case("7D KS QC", "4D 5D 6D", **flags)
    assert others.may("discard 7D"), "this discard does not go out"


@clause("playable_discard_min_players", 2, 3)
def test_row_36_only_with_so_many_players(flags: Flags):
    given = {"playable_discard_opened": "forbidden", **flags}
    assert case("7D KS QC", "4D 5D 6D", **given).may("discard 7D") == (flags["playable_discard_min_players"] == 3)
    assert not case("7D KS QC", "4D 5D 6D", players=3, **given).may("discard 7D")


@clause("no_legal_discard", "any_card")
def test_row_37_where_every_discard_is_forbidden_any_card_may_go(flags: Flags):
    before = case("7D 3D", "4D 5D 6D", playable_discard_opened="forbidden", **flags)
    assert before.starting("discard") == ["3D", "7D"]


@clause("joker_discard", "allowed", "closing_only")
def test_row_38_discarding_a_joker(flags: Flags):
    assert case("JK KS 2C", **flags).may("discard JK") == (flags["joker_discard"] == "allowed")
    assert case("JK", **flags).may("discard JK")
    assert case("JK JK", **flags).may("discard JK"), "there is nothing else"
