"""The rules record, the rulebooks and what is said of a bad value."""

from __future__ import annotations

import json
import tomllib
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scala40_env.core import rules as rules_module
from scala40_env.core.rules import FLAGS, NO_LIMIT, TAKEN_USES, Flag, Rules, RulesError, read_rulebook, rulebook_names

EXPECTED: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "rulebooks.json").read_text("utf-8"))
"""The values of the five rulebooks as the rules reference lists them; it does not list the size of a pack."""

NAMED = sorted(EXPECTED)
FLAG_NAMES = [flag.name for flag in FLAGS]

# Rules in which the value of a flag is sound on its own, though not beside the other values of ``standard``.
COMPANIONS: dict[str, dict[str, Any]] = {
    "run_overflow": {"max_run": 5},
    "max_run": {"double_ace_run": "with_joker"},
    "min_players": {"max_players": 6},
    "max_players": {"min_players": 2},
}


def wrong_type(flag: Flag) -> list[Any]:
    """Values of types that the flag cannot have."""
    if flag.values == "bool" or flag.name == "table_rearrangement":
        return [0, 1, "true", None]
    if flag.values == "float":
        return ["1.0", True, None, [1.0]]
    if flag.values == "uses":
        return ["lay", None, 3, ("lay", 1)]
    if isinstance(flag.values[0], str):
        return [True, 0, None, [flag.values[0]]]
    return [True, 1.5, str(flag.values[0]), [flag.values[0]], *([] if flag.optional else [None])]


def wrong_value(flag: Flag) -> list[Any]:
    """Values of the right type that the flag cannot have."""
    if flag.name == "table_rearrangement":
        return [True]
    if flag.values == "bool":
        return []
    if flag.values == "float":
        return [-0.01, 1e7, float("nan"), float("inf")]
    if flag.values == "uses":
        return [(), ("lay", "lay"), ("discard",), ("lay", "swap", "keep")]
    if isinstance(flag.values[0], str):
        return ["", flag.values[0].upper(), f"{flag.values[0]} "]
    low, high = (int(bound) for bound in flag.values)
    return [low - 1, high + 1, 10**30]


def good_values(flag: Flag) -> list[Any]:
    """Every named value, or the ends of the range."""
    if flag.name == "table_rearrangement":
        return [False]
    if flag.values == "bool":
        return [False, True]
    if flag.values == "float":
        return [0, 0.25, 1e6]
    if flag.values == "uses":
        return [TAKEN_USES, ("swap",), ("lay_off", "lay")]
    return [*dict.fromkeys(flag.values), *([None] if flag.optional else [])]


def every(values: Any) -> list[Any]:
    """Parameters ``flag, value`` for each flag and each of its ``values(flag)``."""
    return [pytest.param(flag, value, id=f"{flag.name}={value!r}") for flag in FLAGS for value in values(flag)]


class TestRulebooks:
    """What the files say."""

    def test_the_names(self) -> None:
        assert rulebook_names() == sorted([*NAMED, "tiny"])

    @pytest.mark.parametrize("name", NAMED)
    def test_values_equal_the_reference(self, name: str) -> None:
        assert Rules.load(name).to_mapping() == {"suits": 4, "ranks": 13, **EXPECTED[name]}

    @pytest.mark.parametrize("name", rulebook_names())
    def test_every_flag_has_a_value_and_a_source(self, name: str) -> None:
        content = read_rulebook(name)
        assert list(content["flags"]) == FLAG_NAMES
        assert list(content["sources"]) == FLAG_NAMES
        for flag, source in content["sources"].items():
            assert isinstance(source, str), flag
            assert len(source.split()) >= 3, flag
            assert "\n" not in source, flag

    @pytest.mark.parametrize("name", NAMED)
    def test_every_source_quotes_its_text_or_says_that_it_is_silent(self, name: str) -> None:
        content = read_rulebook(name)
        text = content["about"]["source"][:3]
        for flag, source in content["sources"].items():
            if source.startswith(text):
                assert "«" in source, flag
            else:
                assert source.startswith(("silent; ", "unused; ")), flag
            assert source.count("«") == source.count("»"), flag

    @pytest.mark.parametrize("name", rulebook_names())
    def test_about(self, name: str) -> None:
        about = read_rulebook(name)["about"]
        assert list(about) == ["title", "language", "source", "summary"]
        assert all(isinstance(value, str) and value and "\n" not in value for value in about.values())

    def test_the_defaults_are_standard(self) -> None:
        assert Rules() == Rules.load("standard")

    def test_tiny_is_small(self) -> None:
        tiny = Rules.load("tiny")
        assert (tiny.deck_size, tiny.suits, tiny.ranks, tiny.hand_size) == (10, 3, 3, 3)
        tiny.check_players(2)
        changed = {name for name in FLAG_NAMES if getattr(tiny, name) != getattr(Rules(), name)}
        sources = read_rulebook("tiny")["sources"]
        assert changed <= {name for name, source in sources.items() if source.startswith("chosen; ")}

    def test_none_stands_for_null(self) -> None:
        path = Path(rules_module.__file__).parent / "rulebooks" / "international.toml"
        assert tomllib.loads(path.read_text("utf-8"))["flags"]["reentry_max"] == "none"
        assert Rules.load("international").reentry_max is None

    def test_an_unknown_rulebook_is_refused_with_the_names(self) -> None:
        with pytest.raises(RulesError, match=r"no rulebook 'standrd'.*cerchio.*standard"):
            Rules.load("standrd")


class TestValues:
    """What a flag may be."""

    def test_flags_and_record_list_the_same_names_in_one_order(self) -> None:
        assert [field.name for field in fields(Rules)] == FLAG_NAMES
        assert len(set(FLAG_NAMES)) == len(FLAG_NAMES)

    @pytest.mark.parametrize(("flag", "value"), every(good_values))
    def test_a_good_value_is_taken(self, flag: Flag, value: Any) -> None:
        companions = COMPANIONS.get(flag.name, {})
        given = {"hand_size": 1, **companions, flag.name: value}
        if flag.name == "run_overflow" and value == "forbid":
            given["max_run"] = 13
        assert getattr(Rules(**given), flag.name) == value

    @pytest.mark.parametrize(("flag", "value"), every(lambda flag: wrong_type(flag) + wrong_value(flag)))
    def test_a_bad_value_is_refused_in_one_line_that_names_the_flag(self, flag: Flag, value: Any) -> None:
        for make in (lambda: Rules(**{flag.name: value}), lambda: Rules.from_mapping({flag.name: value})):
            with pytest.raises(RulesError) as caught:
                make()
            message = str(caught.value)
            assert message.startswith(f"rules.{flag.name}: ")
            assert "\n" not in message
            assert len(message) < 200

    @pytest.mark.parametrize(
        ("given", "flag"),
        [
            ({"min_players": 5, "max_players": 4}, "min_players"),
            ({"max_run": 14}, "max_run"),
            ({"run_overflow": "split"}, "run_overflow"),
            ({"packs": 1, "suits": 1, "jokers": 0}, "hand_size"),
            ({"max_turns_per_round": None, "max_stock_recycles": None}, "max_turns_per_round"),
            ({"max_turns_per_round": None, "take_after_opening": "free"}, "max_turns_per_round"),
        ],
    )
    def test_values_that_do_not_fit_together_are_refused(self, given: dict[str, Any], flag: str) -> None:
        with pytest.raises(RulesError, match=rf"^rules\.{flag}: [^\n]+$"):
            Rules(**given)

    def test_rules_are_frozen_and_hashable(self) -> None:
        rules = Rules()
        with pytest.raises(FrozenInstanceError):
            rules.opening_min = 30  # type: ignore[misc]
        assert {Rules.load(name) for name in NAMED} | {rules} == {Rules.load(name) for name in NAMED}


class TestMappings:
    """Flags by name, in and out."""

    @pytest.mark.parametrize("name", rulebook_names())
    def test_round_trip(self, name: str) -> None:
        rules = Rules.load(name)
        assert Rules.from_mapping(rules.to_mapping()) == rules
        assert Rules.from_mapping(json.loads(json.dumps(rules.to_mapping()))) == rules

    def test_changes_over_a_base(self) -> None:
        rules = Rules.from_mapping({"base": "hops", "opening_min": 30, "taken_card_uses": ["lay"]})
        assert rules.to_mapping() == {**Rules.load("hops").to_mapping(), "opening_min": 30, "taken_card_uses": ["lay"]}

    def test_the_base_is_standard_where_none_is_named(self) -> None:
        assert Rules.from_mapping({}) == Rules.load("standard")

    def test_of_takes_rules_a_name_or_flags(self) -> None:
        rules = Rules.load("hops")
        assert Rules.of(rules) is rules
        assert Rules.of("hops") == rules
        assert Rules.of({"base": "hops"}) == rules

    @pytest.mark.parametrize("given", [None, 3, ["hops"], b"hops"])
    def test_of_refuses_anything_else(self, given: Any) -> None:
        with pytest.raises(RulesError, match=r"^rules: expected [^\n]+$"):
            Rules.of(given)

    @pytest.mark.parametrize("base", [None, 3, ["hops"]])
    def test_a_base_is_a_name(self, base: Any) -> None:
        with pytest.raises(RulesError, match=r"^rules\.base: [^\n]+$"):
            Rules.from_mapping({"base": base})

    @pytest.mark.parametrize("name", FLAG_NAMES)
    def test_a_misspelt_flag_is_refused_with_the_nearest_one(self, name: str) -> None:
        misspelt = f"{name[:-2]}{name[-1]}"
        with pytest.raises(RulesError, match=rf"no flag '{misspelt}'; did you mean '\w+'\?$") as caught:
            Rules.from_mapping({misspelt: 1})
        assert repr(name) in str(caught.value)

    def test_a_flag_like_no_other_is_refused_without_a_guess(self) -> None:
        with pytest.raises(RulesError, match=r"^rules: there is no flag 'zzz'$"):
            Rules.from_mapping({"zzz": 1})

    def test_a_rulebook_cannot_be_changed_by_a_caller(self) -> None:
        Rules.load("standard").to_mapping()["opening_min"] = 0
        assert Rules.load("standard").opening_min == 40


class TestVector:
    """The rules as kernels read them."""

    @pytest.mark.parametrize("name", rulebook_names())
    def test_shape_and_read_only(self, name: str) -> None:
        vector = Rules.load(name).vector()
        assert vector.shape == (rules_module.RULES_SIZE,) == (len(FLAGS) + 37,)
        assert vector.dtype == np.int64
        with pytest.raises(ValueError, match="read-only"):
            vector[0] = 1

    @pytest.mark.parametrize("name", rulebook_names())
    def test_each_flag_is_at_its_index(self, name: str) -> None:
        rules = Rules.load(name)
        vector = rules.vector()
        for i, flag in enumerate(FLAGS):
            value = getattr(rules, flag.name)
            if value is None:
                assert vector[i] == NO_LIMIT
            elif flag.values == "uses":
                assert [use for bit, use in enumerate(TAKEN_USES) if vector[i] >> bit & 1] == list(value)
            elif flag.values == "float":
                assert vector[i] == round(100 * value)
            elif isinstance(value, str):
                assert flag.values[vector[i]] == value
            else:
                assert vector[i] == value

    def test_the_names_of_the_indices(self) -> None:
        vector = Rules.load("international").vector()
        assert vector[rules_module.R_MAX_RUN] == 5
        assert vector[rules_module.R_OVERFLOW] == rules_module.OVERFLOW_SPLIT
        assert vector[rules_module.R_OPENING_JOKER] == rules_module.OPENING_JOKER_FORBIDDEN
        assert vector[rules_module.R_TAKE_BEFORE] == rules_module.TAKE_TO_OPEN
        assert vector[rules_module.R_RECYCLE] == rules_module.RECYCLE_FLIP
        assert vector[rules_module.R_REENTRY] == rules_module.REENTRY_PAID
        assert vector[rules_module.R_REENTRY_MAX] == NO_LIMIT
        assert vector[rules_module.R_LONE_ACE] == 1

    @pytest.mark.parametrize(("name", "cards", "kinds"), [("standard", 108, 52), ("tiny", 10, 9)])
    def test_the_deck(self, name: str, cards: int, kinds: int) -> None:
        vector = Rules.load(name).vector()
        assert vector[rules_module.R_DECK_SIZE] == cards
        assert int(vector[rules_module.R_DECK_MASK]).bit_count() == kinds

    @pytest.mark.parametrize(("scale", "figures"), [("faces_10", [10, 10, 10, 11]), ("rank_values", [11, 12, 13, 14])])
    def test_the_points_by_rank(self, scale: str, figures: list[int]) -> None:
        vector = Rules(point_scale=scale).vector()
        assert vector[rules_module.R_POINTS : rules_module.R_PREFIX].tolist() == [
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            9,
            10,
            *figures,
        ]

    def test_different_rules_have_different_vectors(self) -> None:
        assert len({Rules.load(name).vector().tobytes() for name in rulebook_names()}) == len(rulebook_names())


class TestPlayers:
    """How many may play."""

    @pytest.mark.parametrize(
        ("name", "good"), [(name, range(2, 5 if name == "hops" else 7)) for name in NAMED] + [("tiny", range(2, 3))]
    )
    def test_every_number(self, name: str, good: range) -> None:
        rules = Rules.load(name)
        for players in range(-1, 10):
            if players in good:
                rules.check_players(players)
            else:
                with pytest.raises(RulesError, match=rf"^players: these rules are for 2 to {good[-1]}, got {players}$"):
                    rules.check_players(players)

    @pytest.mark.parametrize("players", [True, 2.0, "2", None])
    def test_a_number_is_an_integer(self, players: Any) -> None:
        with pytest.raises(RulesError, match=r"^players: expected an integer, got "):
            Rules().check_players(players)

    def test_an_integer_of_numpy_will_do(self) -> None:
        Rules().check_players(np.int64(4))

    def test_a_deck_too_small_is_refused(self) -> None:
        with pytest.raises(RulesError, match=r"^players: 54 cards are too few for 5 hands of 13$"):
            Rules(packs=1, jokers=2).check_players(5)
