"""Tests of the twin itself: the scenarios of the rulebook, cases made by hand, and random play."""

from __future__ import annotations

import random
from typing import Any

import pytest

from scala40_env.core import actions
from scala40_env.core import state as engine
from scala40_env.core.cards import JOKER
from scala40_env.core.rules import FLAGS, Rules, RulesError
from tests.reference import legality, melds, plays, scenario, scoring
from tests.reference.adapter import adopt_deal, deck, differences, from_row
from tests.reference.legality import legal_actions
from tests.reference.rules_of_play import apply, is_dead_position
from tests.reference.scenario import parse_card, parse_meld
from tests.reference.state import (
    CLOSED,
    DEAD_POSITION,
    DRAW,
    MATCH_OVER,
    MUST_OPEN_WITH,
    PLAY,
    ROUND_OVER,
    STOCK_OUT,
    STUCK,
    TURN_CAP,
    State,
    new_state,
)

SCENARIOS = scenario.load()


@pytest.mark.parametrize("case", SCENARIOS, ids=[case["id"] for case in SCENARIOS])
def test_scenario(case: scenario.Scenario):
    found = scenario.answer(case)
    assert found == case["answer"], case["why"]
    assert type(found) is type(case["answer"])


# --- help ---------------------------------------------------------------------------------------------------------


def position(hand: str, *table: str, rules: str = "standard", **given: Any) -> State:
    """A position for seat 0, cards written in words; what else is given is a flag or a field of a scenario."""
    fields = {"players": 2, "phase": "play", "opened": True, "first_turn": False, "top_discard": None}
    overrides = {name: given.pop(name) for name in list(given) if name not in fields}
    cards = {"hand": hand.split(), "table": [meld.split() for meld in table]}
    return scenario.state_of({**fields, **given, **cards, "rules": rules, "overrides": overrides})


def kind(card: str) -> int:
    return parse_card(card)[0]


def lay(cards: str) -> int:
    meld = parse_meld(cards.split(), Rules())
    return next(action for action, three in melds.lays(Rules()).items() if three == meld)


def off(slot: int, end: int = actions.LOW) -> int:
    return actions.LAY_OFF + slot * actions.NUM_ENDS + end


def swap(slot: int) -> int:
    return actions.SWAP + slot


def discard(card: str) -> int:
    return actions.DISCARD + kind(card)


def split(slot: int, first: int) -> int:
    return actions.SPLIT + slot * actions.NUM_SPLITS + first - 3


def play_all(state: State, *steps: int) -> State:
    for action in steps:
        assert action in legal_actions(state), action
        state = apply(state, action)
    return state


def on_table(state: State, slot: int, cards: str) -> bool:
    return state.table[slot] == parse_meld(cards.split(), state.rules)


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


# --- the stock ----------------------------------------------------------------------------------------------------


def test_a_flipped_pile_is_known_and_comes_oldest_first():
    state = position("2H KD", rules="international", phase="draw", top_discard="7C")
    drawn, state.stock, state.pile = kind("9D"), [kind("9D")], [kind("3S"), kind("4S"), kind("7C")]
    state = play_all(state, actions.DRAW)
    assert state.hand[drawn] == 1
    assert state.known[0][drawn] == 0
    assert state.stock == [kind("7C"), kind("4S"), kind("3S")]
    assert (state.pile, state.recycles, state.stock_known) == ([], 1, 3)
    state = play_all(state, discard("2H"), actions.DRAW)
    assert state.known[1][kind("3S")] == 1
    assert state.stock_known == 2


def test_the_top_of_the_pile_may_stay():
    state = position(
        "2H KD", phase="draw", top_discard="7C", stock_recycle_keeps_top=True, stock_recycle_when="draw_from_empty"
    )
    state.stock, state.pile = [], [kind("3S"), kind("4S"), kind("7C")]
    after = apply(state, actions.DRAW, reshuffle=sorted)
    assert after.pile == [kind("7C")]
    assert (after.hand[kind("4S")], after.stock) == (1, [kind("3S")])
    state.pile = [kind("7C")]
    assert actions.DRAW not in legal_actions(state)


# --- ends of a round ----------------------------------------------------------------------------------------------


def test_going_out_by_a_lay_where_no_discard_is_needed():
    state = play_all(position("6H 6D 6C", rules="hops"), lay("6H 6D 6C"))
    assert (state.phase, state.end, state.closer, state.seat) == (ROUND_OVER, CLOSED, 0, None)
    assert state.points[0] == 0
    assert state.points[1] == 100
    assert state.dealer == 0  # the deal has passed to the left


def test_a_dead_position_ends_the_round():
    state = position("2H KD 5C", "7H 7D 7S 7C")
    state.has_opened.add(1)
    for other in range(52):
        state.hands[1][other] = 0
    state.hands[1][kind("9D")] = 1
    state.hands[1][JOKER] = 0
    assert not is_dead_position(state)
    after = play_all(state, discard("2H"))
    assert (after.end, after.points) == (DEAD_POSITION, [0, 0])
    state.table[1] = melds.make_run(0, 3, 3)
    assert play_all(state, discard("2H")).phase == DRAW


def test_the_other_ends():
    state = position("2H KD 5C", "4S 5S 6S", max_turns_per_round=3)
    assert play_all(state, discard("2H")).end == TURN_CAP
    state = position("2H KD 5C", "4S 5S 6S", max_stock_recycles=0)
    state.stock = []
    assert play_all(state, discard("2H")).end == STOCK_OUT
    state = position("2H KD 5C", "4S 5S 6S", stock_recycle_keeps_top=True, dead_round_result="all_count")
    state.stock = []
    after = play_all(state, discard("2H"))
    assert after.end == STUCK
    assert after.points[0] == 15


# --- the match ----------------------------------------------------------------------------------------------------


def ended(totals: list[int], dealer: int = 0, **flags: Any) -> State:
    """A match after a round that brought these totals (and nobody closed)."""
    state = new_state(Rules.from_mapping(flags), len(totals))
    state.totals, state.dealer = totals, dealer
    scoring.end_round(state, STUCK)
    return state


def test_elimination_goes_on_among_those_below_the_limit():
    state = ended([104, 88, 12, 0], dealer=3)
    assert state.awaits_deal
    assert (state.in_match, state.in_round, state.dealer) == ({1, 2, 3}, {1, 2, 3}, 1)
    assert ended([104, 188, 12]).winners == {2}


def test_re_entry_by_choice_is_asked_from_the_left_of_the_dealer():
    state = ended([105, 130, 60, 80], dealer=0, reentry="paid_optional", reentry_max=None)
    assert (state.phase, state.seat, state.pending_reentry) == (ROUND_OVER, 1, {0, 1})
    state = play_all(state, actions.LEAVE)
    assert state.seat == 0
    state = play_all(state, actions.REENTER)
    assert state.totals == [80, 130, 60, 80]
    assert (state.reentries, state.in_match, state.dealer) == ([1, 0, 0, 0], {0, 2, 3}, 2)
    assert legal_actions(state) == []


def test_re_entry_is_limited():
    state = ended([105, 30, 60], reentry="automatic", reentry_max=1)
    assert state.totals == [60, 30, 60]
    state.totals = [110, 30, 60]
    scoring.end_round(state, STUCK)
    assert state.in_match == {1, 2}


def test_ties():
    assert ended([1005, 640, 640], match_mode="lowest_at_target", match_limit=1000).winners == {1, 2}
    state = ended([1005, 640, 640], match_mode="lowest_at_target", match_limit=1000, tie_break="extra_hand")
    assert (state.in_match, state.in_round, state.awaits_deal) == ({1, 2}, {1, 2}, True)
    state.totals = [1005, 650, 645]
    scoring.end_round(state, STUCK)
    assert (state.phase, state.winners) == (MATCH_OVER, {2})
    assert ended([110, 120, 110], tie_break="shared").winners == {0, 2}


def test_a_single_hand_is_won_by_the_closer():
    state = position("8H KD", "5H 6H 7H", match_mode="single_hand")
    state = play_all(state, off(0, actions.HIGH), discard("KD"))
    assert (state.phase, state.winners) == (MATCH_OVER, {0})


# --- rows ---------------------------------------------------------------------------------------------------------


def test_a_row_is_read():
    row = engine.blank()[0]
    row.num_seats, row.whole_match, row.in_match, row.in_round, row.seat = 2, 1, 3, 3, 1
    row.phase, row.has_opened = engine.PLAY, 2
    row.hand_one[1], row.hand_two[1] = 1 << 16 | 1 << 3, 1 << 3
    row.hand_jokers[1], row.hand_size[1] = 1, 4
    row.used_slots = 0b101
    row.meld_type[0], row.meld_rank[0], row.meld_suits[0], row.meld_size[0] = engine.SET, 6, 0b111, 3
    row.meld_joker[0] = 2
    row.meld_type[2], row.meld_rank[2], row.meld_suits[2], row.meld_size[2] = engine.RUN, 10, 3, 4
    row.meld_joker[2] = 13
    row.pile_size, row.pile[0] = 1, 5
    state = from_row(row, Rules())
    assert state.hand[kind("4H")] == 2
    assert state.hand[kind("AD")] == 1
    assert state.hand[JOKER] == 1
    assert on_table(state, 0, "7H 7D JK=7C")
    assert on_table(state, 2, "JS QS KS JK=AS")
    assert state.pile == [5]
    assert differences(state, row) == []


def test_each_difference_is_named():
    row = engine.blank()[0]
    row.num_seats = 2
    state = from_row(row, Rules())
    state.hands[1][kind("4H")] = 1
    state.totals[0] = 5
    state.turn.duty = MUST_OPEN_WITH
    state.table[3] = melds.make_run(0, 2, 3, joker_rank=3)
    row.hand_size[0] = 2
    assert differences(state, row) == [
        "totals: twin [5, 0], engine [0, 0]",
        "hands[1]: twin 4H, engine nothing",
        "table[3]: twin 3H JK=4H 5H, engine nothing",
        "turn.duty: twin 'must_open_with', engine None",
        "hand_size[0]: engine 2, but it holds 0 cards",
    ]


def test_a_wrong_deal_is_named():
    row = engine.blank()[0]
    row.num_seats, row.whole_match, row.in_match, row.in_round, row.seat = 2, 1, 3, 3, 1
    state = from_row(row, Rules())
    state.phase = ROUND_OVER
    _, complaints = adopt_deal(state, row)
    assert "deal: the cards are not those of the deck" in complaints
    assert "deal: seat 0 has 0 cards, not 13" in complaints


# --- random play --------------------------------------------------------------------------------------------------


def deal(rules: Rules, num_seats: int, rng: random.Random) -> State:
    state = new_state(rules, num_seats)
    cards = [card for card, count in enumerate(deck(rules)) for _ in range(count)]
    rng.shuffle(cards)
    for hand in state.hands:
        for _ in range(rules.hand_size):
            hand[cards.pop()] += 1
    state.pile, state.stock, state.dealer = [cards.pop()], cards, num_seats - 1
    return state


def random_rules(rng: random.Random, **fixed: Any) -> Rules:
    """Rules that differ in a few flags from a rulebook, or in many."""
    names = ["standard", "italian", "cerchio", "hops", "international"]
    while True:
        changes = {}
        for flag in rng.sample(FLAGS, rng.choice([3, 10, 25])):
            if isinstance(flag.values, tuple) and isinstance(flag.values[0], str):
                changes[flag.name] = rng.choice(flag.values)
            elif flag.values == "bool":
                changes[flag.name] = rng.random() < 0.5
        changes["opening_min"] = rng.choice([0, 10, 25, 40, 60])
        changes["max_run"] = 5 if changes.get("run_overflow") == "split" else rng.choice([4, 13, 14])
        try:
            return Rules.from_mapping({"base": rng.choice(names), **changes, **fixed})
        except RulesError:
            continue  # flags that do not go together


def random_round(rules: Rules, num_seats: int, seed: int, most: int = 300) -> list[State]:
    """The positions of a round in which plays are preferred to discards."""
    rng = random.Random(seed)
    state = deal(rules, num_seats, rng)
    seen = []
    while state.phase in (DRAW, PLAY) and len(seen) < most:
        seen.append(state)
        legal = legal_actions(state)
        assert legal, "there is always something to do"
        active = [action for action in legal if not actions.DISCARD <= action < actions.SPLIT]
        chosen = rng.choice(active if active and rng.random() < 0.8 else legal)
        state = apply(state, chosen, lambda cards: rng.sample(cards, len(cards)))
    return seen


def cards_in(state: State) -> list[int]:
    counts = [sum(hand[card] for hand in state.hands) for card in range(JOKER + 1)]
    for card in state.stock + state.pile + [card for meld in state.table.values() for card in meld.kinds()]:
        counts[card] += 1
    return counts


@pytest.mark.parametrize("seed", range(12))
def test_random_play_keeps_the_cards_and_never_gets_stuck(seed: int):
    rules = random_rules(random.Random(seed))
    for state in random_round(rules, 2 + seed % 3, seed):
        assert cards_in(state) == deck(rules)
        for meld in state.table.values():
            assert melds.is_valid(meld, rules, melds.longest_run(rules))
        for known, hand in zip(state.known, state.hands, strict=True):
            assert all(0 <= count <= held for count, held in zip(known, hand, strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_giving_up_early_changes_no_answer(seed: int, monkeypatch: pytest.MonkeyPatch):
    rng = random.Random(1000 + seed)
    rules = random_rules(rng, suits=rng.choice([2, 3, 4]), ranks=rng.choice([6, 8, 13]), hand_size=7, max_players=2)
    positions = random_round(rules, 2, seed, most=80)
    quick = [legal_actions(state) for state in positions]
    monkeypatch.setattr(legality, "_hopeless", lambda state: False)
    assert [legal_actions(state) for state in positions] == quick


def test_apply_leaves_the_state_alone():
    for state in random_round(Rules.load("international"), 3, 7, most=60):
        before = state.copy()
        for action in plays.candidates(state):
            apply(state, action, reshuffle=list)
        assert state == before
