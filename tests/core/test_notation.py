"""Text and back: cards, hands, melds and actions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scala40_env.core import actions as act
from scala40_env.core.cards import HIGH_ACE, JOKER, NO_KIND, NUM_KINDS
from scala40_env.core.notation import (
    CARD_NAMES,
    Meld,
    NoSuchPlayError,
    NotationError,
    format_action,
    format_card,
    format_hand,
    format_meld,
    hand_kinds,
    hand_masks,
    lay_of_meld,
    meld_fault,
    meld_of_lay,
    parse_action,
    parse_card,
    parse_choices,
    parse_hand,
    parse_meld,
)
from scala40_env.core.quoting import shown
from scala40_env.core.rules import Rules
from scala40_env.core.state import NO_JOKER, RUN, SET, blank

STANDARD = Rules()


def table_row(*melds: str, hand: str = "") -> Any:
    """A row with these melds on the table and this hand for seat 0."""
    rows = blank()
    row = rows[0]
    row.num_seats = 2
    for slot, text in enumerate(melds):
        meld = parse_meld(text.split())
        row.used_slots |= 1 << slot
        row.meld_type[slot], row.meld_rank[slot], row.meld_suits[slot] = meld.type, meld.rank, meld.suits
        row.meld_size[slot], row.meld_joker[slot] = meld.size, meld.joker
    row.hand_one[0], row.hand_two[0], row.hand_jokers[0] = hand_masks(parse_hand(hand))
    return row


def test_every_card_is_read_as_it_is_written() -> None:
    assert len(set(CARD_NAMES)) == NUM_KINDS
    for kind in range(NUM_KINDS):
        assert parse_card(format_card(kind)) == kind
    assert (CARD_NAMES[0], CARD_NAMES[9], CARD_NAMES[51], CARD_NAMES[JOKER]) == ("AH", "TH", "KS", "JK")
    assert format_card(NO_KIND) == "??"


@pytest.mark.parametrize("text", ["", "1H", "10H", "ah", "AX", "A", "JK=7C", "jk", " AH", None, 3, ["AH"], "AH" * 99])
def test_a_card_written_wrongly_is_refused_in_one_line(text: object) -> None:
    with pytest.raises(NotationError, match=r"^pile: .* is not a card") as caught:
        parse_card(text, "pile")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 150


@given(st.lists(st.integers(0, JOKER - 1), max_size=20), st.integers(0, 4))
def test_hands_survive_masks_and_text(kinds: list[int], jokers: int) -> None:
    held = sorted(kind for kind in set(kinds) for _ in range(min(kinds.count(kind), 2))) + [JOKER] * jokers
    assert hand_kinds(*hand_masks(held)) == held
    assert parse_hand(format_hand(held)) == held


def test_every_meld_of_three_is_read_as_it_is_written() -> None:
    seen = set()
    for action in range(act.LAY_SET, act.LAY_OFF):
        meld = meld_of_lay(action)
        assert parse_meld(format_meld(meld).split()) == meld
        assert lay_of_meld(meld) == action
        seen.add(format_meld(meld))
    assert len(seen) == 400


def all_runs() -> list[Meld]:
    """Every run of every length in hearts, with no joker or one at any place; no run with two natural aces."""
    return [
        Meld(RUN, low, 0, size, joker)
        for low in range(12)
        for size in range(3, HIGH_ACE - low + 2)
        for joker in [NO_JOKER, *range(low, low + size)]
        if size < 14 or joker in (0, HIGH_ACE)
    ]


@pytest.mark.parametrize("meld", all_runs(), ids=format_meld)
def test_every_run_is_read_as_it_is_written(meld: Meld) -> None:
    assert parse_meld(meld.texts()) == meld


@given(st.sampled_from([meld for meld in all_runs() if not (meld.size == 13 or meld.size == 14)]), st.randoms())
def test_the_order_of_the_cards_of_a_run_does_not_matter(meld: Meld, random: Any) -> None:
    words = meld.texts()
    random.shuffle(words)
    assert parse_meld(words) == meld


def test_the_place_of_the_ace_tells_its_end_where_it_fits_both() -> None:
    spades = [rank + "S" for rank in "A23456789TJQK"]
    assert parse_meld(spades).rank == 0
    assert parse_meld(spades[::-1]).rank == 0
    assert parse_meld(spades[1:] + spades[:1]).rank == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("KS AS 2S", "follow one another"),
        ("QS KS AS 2S", "follow one another"),
        ("9H 9C 9C", "each suit only once"),
        ("6H 7H", "at least three"),
        ("4H 5H 6D", "neither"),
        ("7H 7D 7C 7S JK=7H", "each suit only once"),
        ("5D JK=6D JK=7D 8D", "one joker"),
        ("2H 8H 8D", "neither"),
        ("4H 4H 5H", "follow one another"),
        ("AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH", "one natural ace"),
    ],
)
def test_cards_that_are_no_meld_are_refused_with_the_reason(words: str, reason: str) -> None:
    with pytest.raises(NoSuchPlayError, match=reason):
        parse_meld(words.split())


@pytest.mark.parametrize("word", ["JK", "JK=", "JK=JK", "JK7C", "JK=1C", "JKK"])
def test_a_joker_in_a_meld_names_its_card(word: str) -> None:
    with pytest.raises(NotationError, match=r"joker|not a card"):
        parse_meld(["7H", "7D", word])


@pytest.mark.parametrize(
    ("words", "flags", "reason"),
    [
        ("4H 5H 6H 7H 8H 9H", {"max_run": 5}, "at most 5"),
        ("AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH JK=AH", {"max_run": 13}, "at most 13"),
        ("7H 7D 7S", {"suits": 3, "packs": 2, "hand_size": 5}, "not in the deck"),
        ("JH QH KH", {"ranks": 11}, "not in the deck"),
        ("7H 7D JK=7C", {"jokers": 0}, "no jokers"),
    ],
)
def test_what_the_rules_forbid_of_a_meld(words: str, flags: dict[str, Any], reason: str) -> None:
    assert reason in (meld_fault(parse_meld(words.split()), Rules(**flags)) or "")
    assert meld_fault(parse_meld(["AH", "2H", "3H"]), Rules(**flags)) is None


@pytest.mark.parametrize("identity", ["declared", "any_missing"])
def test_every_action_is_read_as_it_is_written(identity: str) -> None:
    rules = Rules(joker_identity=identity)
    row = table_row(
        "7H 7D JK=7C",
        "4D 5D 6D",
        "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC",
        "QH KH JK=AH",
        "8H 8D 8C 8S",
        "AS 2S 3S",
        "9H 9C 9S",
        "JK=TH TC TS",
        hand="7S",
    )
    texts = [format_action(action, row, rules) for action in range(act.NUM_ACTIONS)]
    assert len(set(texts)) == act.NUM_ACTIONS
    for action, text in enumerate(texts):
        assert parse_action(text, row, rules) == [action], text
        assert parse_action(str(action), row, rules) == parse_action(action, row, rules) == [action]


def test_the_words_of_the_actions() -> None:
    row = table_row("7H 7D JK=7C", "4D 5D 6D", "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC")
    expected = {
        act.DRAW: "draw",
        act.TAKE: "take",
        act.lay_off(0, act.LOW): "off 7S @0",
        act.lay_off(0, act.HIGH): "off 7C @0",
        act.lay_off(1, act.HIGH): "off 7D @1",
        act.lay_off(1, act.JOKER_LOW): "off JK=3D @1",
        act.lay_off(2, act.LOW): "off AC @2 low",
        act.lay_off(2, act.JOKER_HIGH): "off JK=AC @2 high",
        act.lay_off(5, act.JOKER_HIGH): "off JK @5 high",
        act.SWAP: "swap 7C @0",
        act.SWAP + 5: "swap @5",
        act.DISCARD + JOKER: "discard JK",
        act.split(4, 3): "split @4 after 3",
        act.REENTER: "reenter",
        act.LEAVE: "leave",
    }
    for action, text in expected.items():
        assert format_action(action, row, STANDARD) == text


def played(texts: list[list[int]], row: Any) -> set[str]:
    """The meld that each way of laying leaves in the lowest free slot."""
    made = set()
    for way in texts:
        meld = meld_of_lay(way[0])
        for action in way[1:]:
            meld = meld.grown((action - act.LAY_OFF) % act.NUM_ENDS)
        made.add(format_meld(meld))
    return made


@given(st.sampled_from(all_runs()))
def test_every_way_of_laying_a_long_run_makes_that_run(meld: Meld) -> None:
    rules = Rules(max_run=14, double_ace_run="with_joker")
    row = table_row("7H 7D 7S")
    ways = parse_choices("lay " + format_meld(meld), row, rules)
    assert len(ways) == meld.size - 2
    assert played(ways, row) == {format_meld(meld)}
    assert {(action - act.LAY_OFF) // act.NUM_ENDS for way in ways for action in way[1:]} <= {1}


@pytest.mark.parametrize("words", ["8H 8D 8C 8S", "8H 8D JK=8C 8S", "JK=8H 8D 8C 8S"])
def test_every_way_of_laying_a_set_of_four_makes_that_set(words: str) -> None:
    ways = parse_choices("lay " + words, table_row(), STANDARD)
    assert len(ways) == 4
    assert played(ways, None) == {words}
    if "JK" in words:
        assert meld_of_lay(ways[0][0]).joker != NO_JOKER, "first the ways that lay the joker at once"


def test_the_upcard_just_taken_is_laid_at_once() -> None:
    row = table_row()
    row.taken = parse_card("9D")
    (first, *_) = parse_choices("lay 5D 6D 7D 8D 9D", row, STANDARD)
    assert format_meld(meld_of_lay(first[0])) == "7D 8D 9D"


def test_several_cards_are_laid_off_in_an_order_that_fits() -> None:
    row = table_row("4D 5D 6D")
    made = parse_action("off 8D 2D JK=3D 7D @0", row, STANDARD)
    meld = Meld.from_row(row, 0)
    for action in made:
        assert meld.face_at(action - act.LAY_OFF) is not None
        meld = meld.grown(action - act.LAY_OFF)
    assert format_meld(meld) == "2D JK=3D 4D 5D 6D 7D 8D"
    with pytest.raises(NoSuchPlayError, match="9D does not fit"):
        parse_action("off 7D 9D @0", row, STANDARD)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("off 9C @0", "does not fit"),
        ("off 7D @9", "no meld lies in slot 9"),
        ("swap 7S @1", "is to be had for 7C"),
        ("swap 7S @0", "has no joker"),
        ("swap 7S @7", "no meld"),
        ("lay KS AS 2S", "follow one another"),
        ("lay 6H 7H", "at least three"),
    ],
)
def test_what_no_action_can_mean_has_a_reason(text: str, reason: str) -> None:
    row = table_row("9H 9C 9D", "7H 7D JK=7C", hand="7S")
    with pytest.raises(NoSuchPlayError, match=reason):
        parse_action(text, row, STANDARD)


MALFORMED = ["", "   ", "pass", "draw 7H", "draw\x00", "DRAW", "off", "off 7D", "off @3", "off 7D 3", "off 7D @36"]
MALFORMED += [
    "off 7D @-1",
    "off 7D @333333",
    "off JK @0",
    "off JK=JK @0",
    "swap",
    "swap 7C 8C @1",
    "swap @x",
    "discard",
]
MALFORMED += ["discard 7H 8H", "discard JK=7C", "split @4", "split @4 after 6", "split 4 after 3", "lay 7H 7D 7X"]
MALFORMED += ["lay JK JK JK", "-1", "745", "9" * 5000, "²"]


@pytest.mark.parametrize("text", [*MALFORMED, -1, 745, 10**30, 1.5, None, True, ["draw"], {"draw": 1}])
def test_an_action_written_wrongly_is_refused_in_one_line(text: object) -> None:
    with pytest.raises(NotationError) as caught:
        parse_action(text, table_row("4D 5D 6D"), STANDARD)
    assert not isinstance(caught.value, NoSuchPlayError)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_swap_gives_the_card_in_hand_where_any_missing_one_will_do() -> None:
    rules = Rules(joker_identity="any_missing")
    row = table_row("7H 7D JK=7C", hand="7S")
    assert format_action(act.SWAP, row, rules) == "swap 7S @0"
    assert format_action(act.SWAP, row) == "swap 7S @0"
    assert format_action(act.SWAP, row, STANDARD) == "swap 7C @0"
    assert parse_action("swap 7S @0", row, rules) == [act.SWAP]


def test_a_swap_that_is_not_to_be_had_says_why() -> None:
    rules = Rules(joker_identity="any_missing")

    def reason(text: str, hand: str, rules: Rules) -> str:
        with pytest.raises(NoSuchPlayError) as caught:
            parse_action(text, table_row("6D 6H JK=6S", hand=hand), rules)
        return str(caught.value)

    both = "action: with 6S in hand, for which the joker was laid, the one swap of slot 0 gives that card"
    assert reason("swap 6C @0", "6C 6S", rules) == both
    assert reason("swap 6C @0", "2H", rules) == "action: 6C is not in hand"
    assert reason("swap 6S @0", "6C", rules) == "action: 6S is not in hand"
    assert reason("swap 5S @0", "5S", rules) == "action: the joker in slot 0 is to be had for 6S or 6C, not 5S"
    assert reason("swap 6C @0", "6C", STANDARD) == "action: the joker in slot 0 is to be had for 6S, not 6C"
    assert parse_action("swap 6S @0", table_row("6D 6H JK=6S", hand="6C 6S"), rules) == [act.SWAP]


@pytest.mark.parametrize("value", ["x" * 10**5, 10**4000, [[[]]], {"a": 1}, float("nan"), None, True, "a\nb", b"x"])
def test_any_value_is_shown_on_one_short_line(value: object) -> None:
    assert "\n" not in shown(value)
    assert len(shown(value)) < 60


def test_a_set_knows_its_missing_suit() -> None:
    assert parse_meld(["7H", "7D", "JK=7C"]).missing_suit() == 3
    assert parse_meld(["7H", "7D", "JK=7C"]).type == SET
