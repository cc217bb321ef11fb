"""Hand-made cases of the twin: the stock, the ends of a round, the match, and the reading of the engine's rows."""

from __future__ import annotations

from typing import Any

from scala40_env.core import actions
from scala40_env.core import state as engine
from scala40_env.core.cards import JOKER
from scala40_env.core.rules import Rules
from tests.reference import melds, scoring
from tests.reference.adapter import adopt_deal, differences, from_row
from tests.reference.cases import discard, kind, lay, off, on_table, play_all, position
from tests.reference.legality import legal_actions
from tests.reference.rules_of_play import apply, is_dead_position
from tests.reference.state import (
    CLOSED,
    DEAD_POSITION,
    DRAW,
    MATCH_OVER,
    MUST_OPEN_WITH,
    ROUND_OVER,
    STOCK_OUT,
    STUCK,
    TURN_CAP,
    State,
    new_state,
)

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
