"""There is a clause for every flag, and for every value that a flag may have."""

from __future__ import annotations

import pytest

from scala40_env.core.rules import FLAGS, TAKEN_USES, Flag
from tests.rulebook import test_clauses_cards, test_clauses_round, test_clauses_turn
from tests.rulebook.cases import COVERED

MODULES = (test_clauses_cards, test_clauses_turn, test_clauses_round)


def _tried(flag: Flag) -> set[object]:
    return {value for name, value in COVERED if name == flag.name}


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.name)
def test_every_value_of_a_flag_has_a_clause(flag: Flag):
    tried = _tried(flag)
    if flag.values == "bool":
        assert tried == {False, True}
    elif flag.values == "uses":
        assert {use for uses in tried for use in uses} == set(TAKEN_USES)  # type: ignore[attr-defined]
        assert {(use,) for use in TAKEN_USES} < tried
    elif isinstance(flag.values, tuple) and isinstance(flag.values[0], str):
        assert tried == set(flag.values)
    else:  # numbers: two of them at least, where there are two
        only_one = isinstance(flag.values, tuple) and flag.values[0] == flag.values[1]
        assert len(tried - {None}) >= (1 if only_one else 2)
    assert (None in tried) == flag.optional


def test_clauses_are_numbered_by_the_rows_of_the_reference():
    names = [name for module in MODULES for name in vars(module) if name.startswith("test_")]
    assert all(name.startswith("test_row_") for name in names)
    rows = {int(name.split("_")[2]) for name in names} | {57, 58}  # these two are in the name of row 56
    assert rows == set(range(1, 61))
