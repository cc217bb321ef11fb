"""Tests of the twin itself: the scenarios of the rulebook, cases made by hand, and random play."""

from __future__ import annotations

import pytest

from scala40_env.core import actions
from scala40_env.core.cards import JOKER
from scala40_env.core.rules import Rules
from tests.reference import melds, scenario
from tests.reference.cases import discard, kind, lay, off, on_table, play_all, position, split, swap
from tests.reference.legality import legal_actions
from tests.reference.scenario import parse_meld
from tests.reference.state import (
    CLOSED,
    MUST_OPEN_WITH,
)

SCENARIOS = scenario.load()


@pytest.mark.parametrize("case", SCENARIOS, ids=[case["id"] for case in SCENARIOS])
def test_scenario(case: scenario.Scenario):
    found = scenario.answer(case)
    assert found == case["answer"], case["why"]
    assert type(found) is type(case["answer"])


# --- melds --------------------------------------------------------------------------------------------------------


def test_every_lay_has_its_number():
    assert len(melds.lays(Rules())) == 400
    assert lay("AH AD AC") == actions.LAY_SET
    assert lay("7H 7D JK=7C") == actions.LAY_SET + 4 * 13 + 6
    assert lay("AH 2H 3H") == actions.LAY_RUN
    assert lay("4D JK=5D 6D") == actions.LAY_RUN + (2 * 4 + 1) * 12 + 3
    assert lay("QS JK=KS AS") == actions.LAY_RUN + (2 * 4 + 3) * 12 + 11


def test_small_decks_have_no_high_ace_and_no_missing_suits():
    rules = Rules(suits=3, ranks=6, min_players=2, max_players=2, hand_size=5)
    assert all(suit < 3 and rank < 6 for meld in melds.lays(rules).values() for suit, rank in meld.places)
    run = melds.make_run(0, 3, 3)
    assert {one.end for one in melds.extensions(run, rules)} == {actions.LOW, actions.JOKER_LOW}
    three = melds.make_set([(0, 2), (1, 2), (2, 2)])
    assert melds.extensions(three, rules) == ()


def test_an_ace_at_both_ends_needs_a_joker_as_one_of_them():
    rules = Rules(max_run=14, double_ace_run="with_joker")
    thirteen = melds.make_run(0, 0, 13)
    assert [one.end for one in melds.extensions(thirteen, rules)] == [actions.JOKER_HIGH]
    with_low_joker = melds.make_run(0, 0, 13, joker_rank=0)
    assert [one.end for one in melds.extensions(with_low_joker, rules)] == [actions.HIGH]
    with_inner_joker = melds.make_run(0, 0, 13, joker_rank=5)
    assert melds.extensions(with_inner_joker, rules) == ()
    assert melds.extensions(thirteen, Rules()) == ()


def test_the_other_missing_suit_may_join_or_buy_where_any_missing():
    declared, anyhow = Rules(), Rules(joker_identity="any_missing")
    meld = parse_meld(["7H", "7D", "JK=7C"], declared)
    assert meld is not None
    assert [one.kind for one in melds.extensions(meld, declared)] == [kind("7S")]
    assert {one.end: one.kind for one in melds.extensions(meld, anyhow)} == {
        actions.LOW: kind("7S"),
        actions.HIGH: kind("7C"),
    }
    moved = next(one.grown for one in melds.extensions(meld, anyhow) if one.end == actions.HIGH)
    assert moved == parse_meld(["7H", "7D", "7C", "JK=7S"], anyhow)
    assert [card for card, _ in melds.exchanges(meld, declared)] == [kind("7C")]
    assert [card for card, _ in melds.exchanges(meld, anyhow)] == [kind("7C"), kind("7S")]


@pytest.mark.parametrize(
    ("cards", "fixed_11", "expected"),
    [
        ("AH 2H 3H", False, 6),
        ("QH KH AH", False, 31),
        ("AH AD AC", False, 33),
        ("JK=AH 2H 3H", False, 6),
        ("JK=AH 2H 3H", True, 16),
        ("KH KD JK=KS", True, 31),
    ],
)
def test_points(cards: str, fixed_11: bool, expected: int):
    rules = Rules(joker_opening_value="fixed_11" if fixed_11 else "represented")
    meld = parse_meld(cards.split(), rules)
    assert meld is not None
    assert melds.points(meld, rules) == expected


# --- the opening --------------------------------------------------------------------------------------------------


def test_a_lay_that_cannot_become_an_opening_is_not_legal():
    state = position("AH 2H 3H KD KC 9S 4D 6C", opened=False)
    assert lay("AH 2H 3H") not in legal_actions(state)
    richer = position("AH 2H 3H KD KC KS 9S JH JD JC 4D", opened=False)
    assert lay("AH 2H 3H") in legal_actions(richer)


def test_lay_offs_on_the_melds_of_the_opening_count():
    state = position("KH KD KC KS 9S 4D 6C", "TH JH QH", opened=False)
    state = play_all(state, lay("KH KD KC"))
    assert legal_actions(state) == [off(1)]  # the king of hearts' place on the old run may not be used: it is not open
    state = play_all(state, off(1))
    assert state.opened
    assert state.turn.opened_now
    assert state.turn.laid_points == 40


def test_after_a_complete_opening_everything_else_may_follow():
    state = position("KH KD KC AH AD AC 9H 2S 5C", "6H 7H 8H", opened=False)
    state = play_all(state, lay("KH KD KC"), lay("AH AD AC"))
    assert {off(0, actions.HIGH), discard("2S"), discard("9H")} <= set(legal_actions(state))


@pytest.mark.parametrize(
    ("mode", "old", "first", "last"),
    [("any", True, True, True), ("own_melds_only", False, True, True), ("none", False, False, True)],
)
def test_lay_offs_in_the_opening_turn(mode: str, old: bool, first: bool, last: bool):
    state = position(
        "KH KD KC QH QD QC 9H KS QS 5C",
        "6H 7H 8H",
        opened=False,
        lay_off_in_opening_turn=mode,
        playable_discard_opened="allowed",
    )
    legal = legal_actions(play_all(state, lay("KH KD KC"), lay("QH QD QC")))
    assert [off(0, actions.HIGH) in legal, off(1) in legal, off(2) in legal] == [old, first, last]


def test_joker_melds_do_not_count_where_clean_melds_must_reach_the_minimum():
    state = position(
        "KH KD KC JK QH QD 4S 5S 6S 2C 7D", opened=False, opening_joker="only_if_clean_melds_reach_min", opening_min=45
    )
    state = play_all(state, lay("QH QD JK=QC"))
    assert state.turn.laid_points == 0
    assert not state.opened
    state = play_all(state, lay("4S 5S 6S"), lay("KH KD KC"))
    assert state.turn.laid_points == 45
    assert state.opened


def test_going_out_without_the_points_where_the_rules_allow_it():
    flags = {"opened": False, "close_in_hand_needs_opening_min": False}
    state = position("2H 3H 4H 9S", **flags)
    after = play_all(state, lay("2H 3H 4H"), discard("9S"))
    assert (after.end, after.closer, after.closed_in_hand) == (CLOSED, 0, True)
    assert lay("2H 3H 4H") not in legal_actions(position("2H 3H 4H 9S TD", **flags))
    assert lay("2H 3H 4H") not in legal_actions(position("2H 3H 4H 9S", opened=False))
    assert lay("2H 3H 4H") not in legal_actions(position("2H 3H 4H 9S", first_turn=True, **flags))


# --- the upcard ---------------------------------------------------------------------------------------------------


def test_the_taken_card_must_go_into_the_opening():
    state = position("KH KD QH QD QC 2S 5C 7D", rules="italian", opened=False, phase="draw", top_discard="KS")
    state = play_all(state, actions.TAKE)
    assert state.turn.duty == MUST_OPEN_WITH
    assert state.known[0][kind("KS")] == 1
    assert set(legal_actions(state)) == {lay("KH KD KS"), lay("QH QD QC")}
    state = play_all(state, lay("QH QD QC"), lay("KH KD KS"))
    assert state.turn.duty is None
    assert state.known[0][kind("KS")] == 0


def test_the_taken_card_must_be_played_and_a_use_that_does_not_count_leaves_the_duty():
    given = {"phase": "draw", "top_discard": "7C"}
    state = position("2H KD", "4C 5C 6C", taken_card_uses=["lay"], **given)
    assert actions.TAKE not in legal_actions(state)
    state = position("2H KD", "4C 5C 6C", taken_card_uses=["lay_off"], **given)
    assert legal_actions(play_all(state, actions.TAKE)) == [off(0, actions.HIGH)]


def test_the_taken_card_may_not_go_back_unless_it_was_played_or_there_is_another():
    state = position("2H KD", rules="italian", phase="draw", top_discard="7C")
    assert discard("7C") not in legal_actions(play_all(state, actions.TAKE))
    state = position("2H 7C", rules="italian", phase="draw", top_discard="7C")
    assert discard("7C") in legal_actions(play_all(state, actions.TAKE))


def test_the_first_player_may_keep_the_upcard():
    state = position("2H KD 4S", phase="draw", top_discard="7C", opened=False, first_turn=True)
    assert legal_actions(state) == [actions.DRAW]
    state.rules = Rules(first_player_may_keep_upcard=True)
    assert legal_actions(state) == [actions.DRAW, actions.TAKE]
    assert play_all(state, actions.TAKE).turn.duty is None


# --- jokers -------------------------------------------------------------------------------------------------------


def test_a_swapped_joker_is_owed_until_it_is_played():
    state = position("7C KD 2H", "7H 7D JK=7C")
    state = play_all(state, swap(0))
    assert state.turn.jokers_owed == 1
    assert legal_actions(state) == [off(0, actions.JOKER_LOW)]
    assert play_all(state, off(0, actions.JOKER_LOW)).turn.jokers_owed == 0


def test_a_joker_taken_as_upcard_is_settled_before_an_owed_one():
    state = position("7C KD 2H KC", "7H 7D 7S JK=7C", "4S 5S 6S", phase="draw", top_discard="JK")
    state = play_all(state, actions.TAKE, swap(0))
    assert (state.turn.duty, state.turn.jokers_owed) == ("must_play", 1)
    state = play_all(state, off(1, actions.JOKER_HIGH))
    assert (state.turn.duty, state.turn.jokers_owed) == (None, 1)


# --- discards -----------------------------------------------------------------------------------------------------


def test_where_every_discard_is_forbidden_every_one_is_allowed():
    state = position("8H 4H", "5H 6H 7H", rules="international")
    state.has_opened.clear()
    assert {discard("8H"), discard("4H")} <= set(legal_actions(state))


def test_the_ban_on_playable_discards_needs_enough_players():
    given = {"rules": "international", "playable_discard_min_players": 3}
    assert discard("8H") in legal_actions(position("8H KD 2C", "5H 6H 7H", **given))
    assert discard("8H") not in legal_actions(position("8H KD 2C", "5H 6H 7H", players=3, **given))


def test_a_joker_is_discarded_only_to_close_where_the_rules_say_so():
    state = position("JK KD", joker_discard="closing_only")
    assert legal_actions(state) == [discard("KD")]
    assert legal_actions(position("JK", joker_discard="closing_only")) == [discard("JK")]


def test_one_card_more_is_kept_on_the_first_turn():
    state = position("2H 3H 4H 9S TD", first_turn=True)
    assert lay("2H 3H 4H") in legal_actions(state)
    assert lay("2H 3H 4H") not in legal_actions(position("2H 3H 4H 9S", first_turn=True))


# --- splits and quartets ------------------------------------------------------------------------------------------


def test_a_run_of_six_that_cannot_grow_splits_by_itself():
    state = play_all(position("9S KD 2C", "4S 5S 6S 7S 8S", rules="international"), off(0, actions.HIGH))
    assert on_table(state, 0, "4S 5S 6S")
    assert on_table(state, 1, "7S 8S 9S")
    assert state.turn.split_slot is None
    assert state.turn.new_slots == set()


def test_a_run_that_can_grow_waits_and_the_player_chooses():
    state = play_all(position("9S TS KD 2C", "4S 5S 6S 7S JK=8S", rules="international"), off(0, actions.HIGH))
    assert state.turn.split_slot == 0
    assert legal_actions(state) == [off(0, actions.HIGH), split(0, 3)]
    state = play_all(state, off(0, actions.HIGH))
    assert legal_actions(state) == [split(0, 3), split(0, 4)]
    state = play_all(state, split(0, 4))
    assert on_table(state, 0, "4S 5S 6S 7S")
    assert on_table(state, 1, "JK=8S 9S TS")


def test_a_completed_quartet_goes_under_the_stock_hearts_first():
    state = position("9C KD 2C", "4S 5S 6S", "9H JK=9D 9S", rules="international")
    before = list(state.stock)
    state = play_all(state, off(1))
    assert 1 not in state.table
    assert state.stock == [kind("9S"), kind("9C"), JOKER, kind("9H"), *before]
    assert state.stock_known == 4
