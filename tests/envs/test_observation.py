"""Every slice of an observation against a plain reading of the row, and of the log of actions; the layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scala40_env.core.actions import DISCARD, DRAW, NUM_ACTIONS, SPLIT, TAKE
from scala40_env.core.cards import JOKER, NO_KIND, NUM_KINDS, NUM_RANKS
from scala40_env.core.game import Game
from scala40_env.core.rules import FLAGS, Rules, RulesError
from scala40_env.core.state import DRAW as PHASE_DRAW
from scala40_env.core.state import NO_JOKER, NO_SLOT, RUN, SET
from scala40_env.envs.memory import bytes_of
from scala40_env.envs.observation import (
    describe,
    layout,
    observation_size,
    observe_row,
    shown_rules,
    state_layout,
    state_row,
    state_size,
)
from tests.envs.play import CASES, choose, positions, short
from tests.laws.redeal import hand_of, known_of

POSITIONS = 150


def seen(game: Game, viewer: int) -> Any:
    out = np.full(observation_size(int(game.row.num_seats)), 77, dtype=np.uint8)
    observe_row(bytes_of(game.rows), game.vector, shown_rules(game.rules), 0, viewer, out)
    return out


def one_hot(size: int, index: int) -> list[int]:
    return [int(i == index) for i in range(size)]


def by_kind(kinds: Any) -> list[int]:
    return np.bincount(np.asarray(list(kinds), dtype=np.int64), minlength=NUM_KINDS).tolist()


def kind_at(suit: int, rank: int) -> int:
    return suit * NUM_RANKS + rank % NUM_RANKS


def cards_of_meld(row: Any, slot: int) -> list[tuple[int, int, bool]]:
    """The places of a meld in order: suit, rank 0 ... 13, and whether the joker lies there."""
    suits, joker = int(row.meld_suits[slot]), int(row.meld_joker[slot])
    if row.meld_type[slot] == SET:
        return [(suit, int(row.meld_rank[slot]), suit == joker) for suit in range(4) if suits >> suit & 1]
    low = int(row.meld_rank[slot])
    return [(suits, rank, rank == joker) for rank in range(low, low + int(row.meld_size[slot]))]


def fits(row: Any, rules: Rules, slot: int) -> set[int]:
    """The natural kinds that fit onto a meld, from the words of the rules."""
    meld = cards_of_meld(row, slot)
    if row.meld_type[slot] == SET:
        if len(meld) == 4:
            return set()
        missing = set(range(rules.suits)) - {suit for suit, _, _ in meld}
        if rules.joker_identity == "any_missing":
            missing |= {suit for suit, _, by_joker in meld if by_joker}
        return {kind_at(suit, meld[0][1]) for suit in missing}
    longest = 10 if rules.run_overflow == "split" else rules.max_run
    if len(meld) >= longest:
        return set()
    suit, low, high = meld[0][0], meld[0][1], meld[-1][1]
    found = set()
    for rank, other_ace, other_by_joker in ((low - 1, high == 13, meld[-1][2]), (high + 1, low == 0, meld[0][2])):
        if rank < 0 or rank > (13 if rules.ranks == 13 else rules.ranks - 1):
            continue
        if rank in (0, 13) and other_ace and not (rules.double_ace_run == "with_joker" and other_by_joker):
            continue
        found.add(kind_at(suit, rank))
    return found


def expected_shared(game: Game, viewer: int) -> dict[str, list[int]]:
    """The slices that are not about a seat, one by one."""
    row, rules = game.row, game.rules
    slots = [slot for slot in range(36) if int(row.used_slots) >> slot & 1]
    jokers = [kind_at(suit, rank) for slot in slots for suit, rank, by_joker in cards_of_meld(row, slot) if by_joker]
    pile = [int(kind) for kind in row.pile[: int(row.pile_size)]]
    bottom = [int(kind) for kind in row.stock[: int(row.stock_known)]]
    all_known = 0 < len(bottom) == int(row.stock_size)
    layable = set().union(*(fits(row, rules, slot) for slot in slots))
    made = {
        "hand": hand_of(row, viewer).tolist(),
        "upcard": one_hot(NUM_KINDS + 1, pile[-1] if pile else NUM_KINDS),
        "pile": by_kind(pile),
        "layable": [int(kind in layable) for kind in range(NUM_KINDS)],
        "table_jokers": by_kind(jokers),
        "known_stock": by_kind(bottom),
        "next_card": one_hot(NUM_KINDS + 1, bottom[-1] if all_known else NUM_KINDS),
        "taken": one_hot(NUM_KINDS + 1, NUM_KINDS if row.taken == NO_KIND else int(row.taken)),
        "phase": one_hot(4, int(row.phase)),
        "drew": one_hot(3, int(row.drew)),
        "duty": one_hot(4, int(row.duty)),
        "table_new": [int(row.new_slots) >> slot & 1 for slot in range(36)],
        "table_type": [int(row.meld_type[slot]) if slot in slots else 0 for slot in range(36)],
        "table_rank": [int(row.meld_rank[slot]) if slot in slots else 0 for slot in range(36)],
        "table_suits": [int(row.meld_suits[slot]) if slot in slots else 0 for slot in range(36)],
        "table_size": [len(cards_of_meld(row, slot)) if slot in slots else 0 for slot in range(36)],
        "table_joker": [0 if j == NO_JOKER else int(j) + 1 for j in row.meld_joker],
        "last_slot": [0 if row.last_slot == NO_SLOT else int(row.last_slot) + 1],
        "split_slot": [0 if row.split_slot == NO_SLOT else int(row.split_slot) + 1],
        "rules": expected_rules(rules),
    }
    for name in ("laid_points", "round", "round_turns", "recycles"):
        made[name] = [min(int(row[name]), 255)]
    for name in ("taken_played", "laid_any", "opened_now", "jokers_owed", "stock_size", "stock_known", "pile_size"):
        made[name] = [int(row[name])]
    return made


def expected_rules(rules: Rules) -> list[int]:
    made = []
    for flag in FLAGS:
        value = getattr(rules, flag.name)
        if flag.name == "taken_card_uses":
            value = sum({"lay": 1, "lay_off": 2, "swap": 4}[use] for use in value)
        elif flag.name == "reentry_cost":
            value = round(100 * value)
        elif flag.name == "match_limit":
            value //= 1 + value // 256
        elif isinstance(value, str):
            value = flag.values.index(value)
        elif flag.optional:
            value = 0 if value is None else value + 1
        made.append(min(int(value), 255))
    return made


def expected_seat(game: Game, seat: int) -> dict[str, list[int]]:
    row = game.row
    unit = 1 + game.rules.match_limit // 256
    return {
        "hand_size": [int(row.hand_size[seat])],
        "in_match": [int(row.in_match) >> seat & 1],
        "in_round": [int(row.in_round) >> seat & 1],
        "has_opened": [int(row.has_opened) >> seat & 1],
        "score": [min(int(row.totals[seat]) // unit, 255)],
        "turns": [min(int(row.turns[seat]), 255)],
        "reentries": [min(int(row.reentries[seat]), 255)],
        "to_act": [int(row.seat == seat)],
        "dealer": [int(row.dealer == seat)],
        "reentry_due": [int(row.pending_reentry) >> seat & 1],
        "known": known_of(row, seat).tolist(),
        "discards": row.discards[seat].tolist(),
    }


HOUSES: dict[str, Any] = {
    **{f"{name}-{players}": (short(name), players) for name, players in CASES},
    "any missing card": ({"base": "italian", "joker_identity": "any_missing", "opening_min": 0, "match_limit": 60}, 3),
    "two aces": ({"base": "hops", "double_ace_run": "with_joker", "max_run": 14, "opening_min": 0}, 2),
    "short runs": ({"base": "italian", "max_run": 4, "opening_min": 0}, 4),
    "no kings": ({"base": "italian", "ranks": 12, "opening_min": 0}, 2),
    "three suits": ({"base": "italian", "suits": 3, "opening_min": 10}, 2),
    "tiny": ("tiny", 2),
}


@pytest.mark.parametrize("house", list(HOUSES))
def test_every_slice_is_what_the_row_says(house: str) -> None:
    rules, players = HOUSES[house]
    parts = layout(rules, players)
    named = {part.name for part in parts.slices}
    checked: set[str] = set()
    for game, _ in positions(rules, players, seed=3, count=POSITIONS):
        for viewer in range(players):
            observation = seen(game, viewer)
            expected = expected_shared(game, viewer)
            for i in range(players):
                of = "own" if i == 0 else f"opponent_{i}"
                for what, value in expected_seat(game, (viewer + i) % players).items():
                    expected[f"{of}_{what}"] = value
            for part, value in expected.items():
                assert parts[part].of(observation).tolist() == value, part
            checked |= set(expected)
    assert checked == named


@pytest.mark.parametrize(("name", "players"), CASES)
def test_full_and_redacted_rows_look_the_same(name: str, players: int) -> None:
    for game, _ in positions(short(name), players, seed=8, count=POSITIONS):
        for viewer in range(players):
            out = np.zeros(observation_size(players), dtype=np.uint8)
            observe_row(bytes_of(game.redacted(viewer)), game.vector, shown_rules(game.rules), 0, viewer, out)
            assert out.tobytes() == seen(game, viewer).tobytes()


@pytest.mark.parametrize(("name", "players"), CASES)
def test_numbers_stay_in_their_ranges(name: str, players: int) -> None:
    parts, whole = layout(name, players), state_layout(name, players)
    for game, _ in positions(short(name), players, seed=5, count=POSITIONS):
        for viewer in range(players):
            observation = seen(game, viewer)
            assert (observation >= parts.low).all()
            assert (observation <= parts.high).all()
        out = np.full(state_size(players), 99, dtype=np.uint8)
        state_row(bytes_of(game.rows), game.vector, shown_rules(game.rules), 0, out)
        assert (out >= whole.low).all()
        assert (out <= whole.high).all()


def test_the_state_has_all_hands_and_the_stock_in_order() -> None:
    whole = state_layout("international", 4)
    for game, _ in positions(short("international"), 4, seed=2, count=POSITIONS):
        out = np.full(state_size(4), 99, dtype=np.uint8)
        state_row(bytes_of(game.rows), game.vector, shown_rules(game.rules), 0, out)
        assert out[: observation_size(4)].tobytes() == seen(game, 0).tobytes()
        for seat in range(1, 4):
            assert whole[f"hand_{seat}"].of(out).tolist() == hand_of(game.row, seat).tolist()
        size = int(game.row.stock_size)
        stock = [int(kind) + 1 for kind in game.row.stock[:size]][::-1]
        assert whole["stock"].of(out).tolist() == stock + [0] * (108 - size)


class Log:
    """What an onlooker has written down of a round: nothing but the first upcard and the actions."""

    def __init__(self, upcard: int, players: int) -> None:
        self.pile = [upcard]
        self.discards = np.zeros((players, NUM_KINDS), dtype=np.int64)
        self.taken = np.zeros((players, NUM_KINDS), dtype=np.int64)
        self.turns = [0] * players

    def note(self, seat: int, action: int) -> None:
        if action == TAKE:
            self.taken[seat, self.pile.pop()] += 1
        elif DISCARD <= action < SPLIT:
            self.pile.append(action - DISCARD)
            self.discards[seat, action - DISCARD] += 1
            self.taken[seat, action - DISCARD] = max(self.taken[seat, action - DISCARD] - 1, 0)
            self.turns[seat] += 1


@pytest.mark.parametrize("players", [2, 3])
def test_pile_discards_and_turns_are_what_the_log_says(players: int) -> None:
    """Until the pile becomes the stock or a meld is laid: after that the log alone does not say who holds what."""
    rules = Rules.from_mapping({"base": "italian", "first_player_may_keep_upcard": True})
    parts = layout(rules, players)
    rng = np.random.default_rng(1)
    compared = taken = 0
    for seed in range(12):
        game = Game(rules, players, seed=seed)
        log = Log(int(game.row.pile[0]), players)
        while not game.is_over and game.row.recycles == 0:
            for viewer in range(players):
                observation = seen(game, viewer)
                assert parts["pile"].of(observation).tolist() == by_kind(log.pile)
                for i in range(players):
                    of = "own" if i == 0 else f"opponent_{i}"
                    seat = (viewer + i) % players
                    assert parts[f"{of}_discards"].of(observation).tolist() == log.discards[seat].tolist()
                    assert parts[f"{of}_turns"].of(observation).tolist() == [log.turns[seat]]
                    if game.row.used_slots == 0:
                        assert parts[f"{of}_known"].of(observation).tolist() == log.taken[seat].tolist()
                        taken += int(log.taken[seat].sum())
            action = choose(game.legal_actions(), rng, fondness=0.3)
            log.note(game.seat, action)
            game.play(action)
            compared += 1
    assert compared > 300
    assert taken > 10


def test_the_opening_points_grow_as_melds_are_laid() -> None:
    """A turn that opens with several melds shows the sum of what has been laid, until it is enough."""
    parts = layout("standard", 2)
    rising = 0
    for game, action in positions("standard", 2, seed=9, count=3000, episode="round"):
        opened = int(game.row.has_opened) >> game.seat & 1
        if action != NUM_ACTIONS and game.row.laid_any and not opened:
            points = int(parts["laid_points"].of(seen(game, game.seat))[0])
            assert 0 < points < 40
            assert parts["own_has_opened"].of(seen(game, game.seat))[0] == 0
            rising += 1
    assert rising > 3


def test_the_layout_has_no_gaps_and_no_name_twice() -> None:
    for players in range(2, 7):
        parts = layout("standard", players)
        end = 0
        for part in parts.slices:
            assert part.offset == end
            assert part.length > 0
            assert part.low < part.high
            end += part.length
        assert parts.size == end == observation_size(players) == len(parts.low) == len(parts.high)
        assert len({part.name for part in parts.slices}) == len(parts.slices)
        assert state_layout("standard", players).size == state_size(players)


def test_the_layout_is_the_same_for_all_rules() -> None:
    assert layout("standard", 4) == layout("international", 4) == layout({"opening_min": 0}, 4)


def test_describe_is_the_layout_as_plain_records() -> None:
    records = describe("standard", 3)
    assert [record["name"] for record in records] == [part.name for part in layout("standard", 3).slices]
    assert all(set(record) == {"name", "offset", "length", "meaning", "low", "high"} for record in records)
    assert all(type(record["offset"]) is int and record["meaning"] for record in records)


@pytest.mark.parametrize("players", [1, 7, "two", None, True, 2.0])
def test_bad_players_are_refused(players: Any) -> None:
    with pytest.raises(RulesError, match=r"^players: [^\n]+$"):
        layout("standard", players)


def test_players_that_the_rules_do_not_allow_are_refused() -> None:
    with pytest.raises(RulesError, match="players"):
        layout("hops", 5)


def test_scores_fit_where_the_limit_is_high() -> None:
    rules = Rules.from_mapping({"match_mode": "lowest_at_target", "match_limit": 2000})
    parts = layout(rules, 2)
    game = Game(rules, 2, episode="match")
    game.row.totals[:2] = (999, 2600)
    observation = seen(game, 0)
    assert parts["own_score"].of(observation).tolist() == [999 // 8]
    assert parts["opponent_1_score"].of(observation).tolist() == [255]
    assert parts["rules"].of(observation)[[flag.name for flag in FLAGS].index("match_limit")] == 2000 // 8


def test_runs_and_sets_are_told_apart() -> None:
    parts = layout("standard", 2)
    kinds = set()
    for game, _ in positions("standard", 2, seed=4, count=1500, episode="round"):
        kinds |= set(parts["table_type"].of(seen(game, 0)).tolist())
    assert kinds == {0, SET, RUN}


def test_phases_and_first_actions() -> None:
    game = Game("standard", 2, seed=0)
    parts = layout("standard", 2)
    assert parts["phase"].of(seen(game, 0)).tolist() == one_hot(4, PHASE_DRAW)
    assert DRAW in game.legal_actions()
    assert parts["hand"].of(seen(game, game.seat)).sum() == 13
    assert parts["hand"].of(seen(game, game.seat))[JOKER] == game.row.hand_jokers[game.seat]
