"""Clauses of the rulebook, rows 1 to 17: players, cards, deal, melds."""

from __future__ import annotations

from typing import Any

import pytest

from scala40_env.core.cards import JOKER
from scala40_env.core.game import Game
from scala40_env.core.rules import Rules, RulesError
from tests.reference.random_play import cards_in
from tests.rulebook.cases import case, clause, dealt

Flags = dict[str, Any]


@clause("min_players", 2, 3)
def test_row_1_fewest_players(flags: Flags):
    rules = Rules.from_mapping(flags)
    rules.check_players(flags["min_players"])
    with pytest.raises(RulesError):
        rules.check_players(flags["min_players"] - 1)


@clause("max_players", 4, 6)
def test_row_1_most_players(flags: Flags):
    rules = Rules.from_mapping(flags)
    rules.check_players(flags["max_players"])
    with pytest.raises(RulesError):
        rules.check_players(flags["max_players"] + 1)


@clause("packs", 1, 2)
def test_row_2_packs(flags: Flags):
    counts = cards_in(dealt(**flags).twin)
    assert counts[:JOKER] == [flags["packs"]] * 52
    assert sum(counts) == {1: 56, 2: 108}[flags["packs"]]


@clause("jokers", 0, 1, 2, 3, 4)
def test_row_2_jokers(flags: Flags):
    counts = cards_in(dealt(**flags).twin)
    assert counts[JOKER] == flags["jokers"]
    assert sum(counts) == 104 + flags["jokers"]


@clause("suits", 1, 2, 3, 4)
def test_row_2_suits_of_a_smaller_deck(flags: Flags):
    counts = cards_in(dealt(hand_size=5, **flags).twin)
    assert [sum(counts[13 * suit : 13 * suit + 13]) for suit in range(4)] == [
        26 if suit < flags["suits"] else 0 for suit in range(4)
    ]


@clause("ranks", 3, 7, 13)
def test_row_2_ranks_of_a_smaller_deck(flags: Flags):
    counts = cards_in(dealt(hand_size=5, **flags).twin)
    assert counts[13:26] == [2 if rank < flags["ranks"] else 0 for rank in range(13)]


@clause("hand_size", 1, 7, 13)
def test_row_3_hand(flags: Flags):
    sizes = dealt(players=4, **flags).row.hand_size
    assert sizes.tolist() == [flags["hand_size"]] * 4 + [0, 0]


def test_row_4_left_of_the_dealer_begins_and_the_deal_passes_to_the_left():
    game = Game("standard", 3, seed=4, episode="match")
    dealer = int(game.row.dealer)
    assert game.seat == (dealer + 1) % 3
    while game.row["round"] == 0:
        seat, turns = game.seat, int(game.row.round_turns)
        game.play(int(game.legal_actions()[-1]))
        if game.row["round"] == 0 and game.row.round_turns > turns:
            assert game.seat == (seat + 1) % 3
    assert game.row.dealer == (dealer + 1) % 3
    assert game.seat == (dealer + 2) % 3


@clause("upcard_joker", "allow", "redraw")
def test_row_5_a_joker_as_upcard(flags: Flags):
    upcards = [dealt(seed, **flags).row.pile[0] for seed in range(120)]
    assert (JOKER in upcards) == (flags["upcard_joker"] == "allow")


@clause("first_player_may_keep_upcard", False, True)
def test_row_6_the_first_player_may_keep_the_upcard(flags: Flags):
    before = case("2H 5D 9C", phase="draw", opened=False, first_turn=True, top_discard="7C", **flags)
    assert before.may("take") == flags["first_player_may_keep_upcard"]
    assert before.may("take", "discard 2H") == flags["first_player_may_keep_upcard"]
    assert not before.may("draw", "discard 2H", "take"), "the second player is not the first"


def test_row_7_twos_are_ordinary_cards():
    assert case("2H 2D 2C KS").starting("lay") == ["2H 2D 2C"]
    assert case("2H 5D 5C KS").starting("lay") == []


def test_row_8_sets_are_three_or_four_cards_of_different_suits():
    assert case("7H 7D 7C 7S KS").may("lay 7H 7D 7C", "off 7S @0", "discard KS")
    assert case("7H 7H 7D KS QC").starting("lay") == []
    assert case("7S KS QC", "7H 7D 7C 7S").starting("off") == []


@clause("min_run", 3)
def test_row_9_runs_have_three_cards_or_more(flags: Flags):
    assert case("5H 6H KD QC", **flags).starting("lay") == []
    assert case("5H 6H 7H 8H KD QC", **flags).starting("lay") == ["5H 6H 7H", "6H 7H 8H"]


def test_row_10_the_ace_is_low_or_high_and_never_both():
    assert case("AH 2H 3H KD").starting("lay") == ["AH 2H 3H"]
    assert case("QH KH AH 4D").starting("lay") == ["QH KH AH"]
    assert case("KH AH 2H 9D").starting("lay") == []
    assert case("AH 9D 4C", "2H 3H 4H").starting("off") == ["AH @0"]
    assert case("AH 9D 4C", "JH QH KH").starting("off") == ["AH @0"]
    assert case("2H 9D 4C", "QH KH AH").starting("off") == []


@clause("max_run", 5, 13, 14)
def test_row_11_the_longest_run(flags: Flags):
    longest = flags["max_run"]
    given = {**flags, "double_ace_run": "with_joker" if longest == 14 else "never"}
    assert case("9D KS QC", "4D 5D 6D 7D 8D", **given).may("off 9D @0") == (longest > 5)
    if longest > 5:
        twelve = case("AD JK KS QC", "2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD", **given)
        assert twelve.may("off AD @0 low")
        assert twelve.may("off AD @0 low", "off JK=AD @0") == (longest == 14)


@clause("run_overflow", "forbid", "split")
def test_row_12_a_run_that_grows_past_the_limit(flags: Flags):
    before = case("9D TD KS QC", "4D 5D 6D 7D 8D", max_run=5, **flags)
    if flags["run_overflow"] == "forbid":
        assert before.starting("off") == []
        return
    pending = before.after("off 9D @0")
    assert pending.legal == ["off TD @0", "split @0 after 3"]
    assert pending.after("split @0 after 3").row.meld_size[:3].tolist() == [3, 3, 0]
    assert pending.after("off TD @0").legal == ["split @0 after 3", "split @0 after 4"]
    alone = case("9D KS QC", "4D 5D 6D 7D 8D", max_run=5, **flags).after("off 9D @0")
    assert alone.row.meld_size[:3].tolist() == [3, 3, 0], "where there is one way, nobody is asked"


@clause("double_ace_run", "never", "with_joker")
def test_row_13_an_ace_at_both_ends(flags: Flags):
    max_run = 14 if flags["double_ace_run"] == "with_joker" else 13
    thirteen = "AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD"
    both = case("AD JK KS QC", thirteen, max_run=max_run, **flags)
    assert both.may("off JK=AD @0") == (max_run == 14)
    assert not both.may("off AD @0"), "never two natural aces"
    joker_low = case("AD KS QC", thirteen.replace("AD", "JK=AD"), max_run=max_run, **flags)
    assert joker_low.may("off AD @0") == (max_run == 14)


def test_row_14_an_equal_meld_may_be_laid_again():
    assert case("4D 5D 6D KS", "4D 5D 6D").may("lay 4D 5D 6D", "discard KS")


@clause("max_jokers_per_meld", 1)
def test_row_15_one_joker_in_a_meld(flags: Flags):
    assert case("JK 7D KS QC", "4D 5D JK=6D", **flags).starting("off") == ["7D @0"]
    assert case("JK JK 5D KS", **flags).starting("lay") == []


@clause("joker_identity", "declared", "any_missing")
def test_row_16_what_a_joker_in_a_set_stands_for(flags: Flags):
    any_missing = flags["joker_identity"] == "any_missing"
    other = case("7S KS QC", "7H 7D JK=7C", joker_swap="to_hand", **flags)
    assert other.may("swap 7S @0") == any_missing
    assert other.may("off 7S @0")
    itself = case("7C KS QC", "7H 7D JK=7C", joker_swap="to_hand", **flags)
    assert itself.may("swap 7C @0")
    assert itself.may("off 7C @0") == any_missing
    if any_missing:
        assert itself.after("off 7C @0").row.meld_joker[0] == 3, "the joker stands for spades from then on"


@clause("table_rearrangement", False)
def test_row_17_melds_on_the_table_stay_as_they_are(flags: Flags):
    legal = case("7H 7D KS", "7C 8C 9C TC", **flags).legal
    assert legal == ["discard 7H", "discard 7D", "discard KS"]
    with pytest.raises(RulesError):
        Rules.from_mapping({"table_rearrangement": True})
