"""A person at the table: what is printed, what is asked, and the turns of the agents between."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from agents.base import Agent
from agents.faults import one_line
from scala40_env.cli.answers import NotPlayableError
from scala40_env.core.actions import DRAW
from scala40_env.core.cards import JOKER, NUM_RANKS
from scala40_env.core.deal import decision_rng
from scala40_env.core.game import Game, action_number
from scala40_env.core.notation import (
    CARD_NAMES,
    NoSuchPlayError,
    NotationError,
    format_action,
    hand_kinds,
    parse_choices,
)
from scala40_env.core.position_writer import plain
from scala40_env.core.quoting import brief, shown
from scala40_env.core.reasons import why_not
from scala40_env.core.rules import Rules
from scala40_env.core.state import DREW_NOTHING
from scala40_env.replay.record import Record, encode, make_record, play_action
from scala40_env.replay.render import render_text, round_line, status_lines
from scala40_env.replay.thoughts import Thought, noted, thought_of

HELP = """\
  a number              that move of the list
  lay 7H 7D 7S          a meld, of any length; a joker is JK=7C; also off 7D 8D @3, swap 7C @2, discard QS
  Enter                 the only move, where there is one
  moves, table          the list again; the table again
  hint                  what the adviser would do
  save FILE             keep the game and go on; quit, or quit FILE, keeps it and leaves
"""
_LONGEST_LINE = 400
_WIDTH = 96


class Left(Exception):  # noqa: N818  leaving is no error
    """The person left the table."""


class AgentFaultError(Exception):
    """An agent raised an error, or chose what is not legal; one line that names it."""


class Terminal:
    """Where the person reads and types.

    Args:
        path: where the game is kept when the person leaves; ``None``: they say it, or it is not kept.

    Attributes:
        color: whether it shows colours.
        warned: whether it has been said that the game is not kept.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = path
        self.color = sys.stdout.isatty()
        self.warned = False
        if sys.stdin is not None and hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")
        if self.color and sys.stdin is not None and sys.stdin.isatty():
            try:
                import readline  # noqa: F401  lines can then be edited and called back
            except ImportError:
                pass

    def ask(self) -> str:
        """A line of the person, without blanks around it; raises ``Left`` where there are no more."""
        try:
            return input("your move: ").strip()
        except EOFError:
            print()
            raise Left from None
        except RuntimeError:  # there is no standard input
            raise Left from None


class Sitting:
    """A game of a person against agents.

    Args:
        rules: its rules.
        line_up: what records call each seat.
        agents: the agent of each seat; ``None`` where the person sits.
        seed, game, episode: as for ``Game``.
        hint: the agent that ``hint`` asks.
        open_hands: show all hands.
        actions: what was played so far; legal.
        thoughts: what the seats thought, one entry an action, where that is known.

    Raises:
        ValueError: what ``Game`` does not accept, or an action that is not legal.
    """

    def __init__(
        self,
        rules: Rules,
        line_up: Sequence[str],
        agents: Sequence[Agent | None],
        *,
        seed: int,
        game: int = 0,
        episode: Literal["round", "match"] = "round",
        hint: Agent,
        open_hands: bool = False,
        actions: Sequence[int] = (),
        thoughts: Sequence[Thought] = (),
    ) -> None:
        self.game = Game(rules, len(agents), seed=seed, game=game, episode=episode)
        self.line_up = list(line_up)
        self.agents = list(agents)
        self.seat = self.agents.index(None)
        self.hint = hint
        self.open_hands = open_hands
        self.actions: list[int] = []
        self.thoughts: list[Thought] = [*thoughts] or [None] * len(actions)
        self._kept: tuple[str, int] | None = None
        self._origin: tuple[int, int, Literal["round", "match"]] = (seed, game, episode)
        for action in actions:
            self.game.play(action)
            self.actions.append(action)

    def record(self) -> Record:
        """The record of the game so far."""
        seed, game, episode = self._origin
        return make_record(
            self.game.rules,
            len(self.agents),
            self.actions,
            seed=seed,
            game=game,
            episode=episode,
            agents=self.line_up,
            thoughts=noted(self.thoughts),
        )

    def save(self, path: str) -> None:
        """Write the record so far; the file is then the new one, or the one it was, never half of one."""
        if self._kept == (path, len(self.actions)):
            return
        record = self.record()
        made, part = encode(record), Path(f"{path}.part")
        try:
            part.write_bytes(made)
            part.replace(path)
        except BaseException as error:
            with contextlib.suppress(OSError):
                part.unlink()
            if isinstance(error, OSError):
                raise OSError(error.errno, error.strerror, path) from None
            raise
        self._kept = path, len(self.actions)
        print(f"kept in {path}" + ("" if record.finished else f"; 'scala40 play --resume {path}' goes on"))

    def play(self, terminal: Terminal) -> None:
        """Play until the game is over; raises ``Left`` and ``AgentFaultError`` before."""
        seats = ", ".join(f"{seat} {self._name(seat)}" for seat in range(len(self.agents)))
        print(f"seats: {seats}; 'help' says what may be typed\n")
        while not self.game.is_over:
            agent = self.agents[self.game.seat]
            if agent is None:
                for action in self._ask(terminal):
                    self._do(action)
            else:
                choice = self._choice(agent)
                self._do(choice, thought_of(agent))
        print(self._screen(terminal.color), end="")
        self._print_result()

    def _name(self, seat: int) -> str:
        return "you" if seat == self.seat else self.line_up[seat]

    def _print_result(self) -> None:
        totals = self.game.row.totals[: len(self.agents)].tolist()
        points = ", ".join(f"{self._name(seat)} {total}" for seat, total in enumerate(totals))
        print(f"points: {points}; seed {self._origin[0]}")

    # --- agents ---

    def _choice(self, agent: Agent, *, adviser: bool = False) -> int:
        """What an agent does where the game stands, from what the seat to act may know."""
        game = self.game
        seed, number, _ = self._origin
        rng = int(decision_rng(np.uint64(seed), np.uint64(number), game.seat, len(self.actions)))
        name = "the adviser" if adviser else f"agent {self.line_up[game.seat]!r} on seat {game.seat}"
        try:
            choice = action_number(agent.act(game.redacted(game.seat), game.legal_actions(), game.rules, rng))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an agent of the user's own may raise whatever it likes
            raise AgentFaultError(f"{name}: {one_line(error)}") from error
        if not game.is_legal(choice):
            raise AgentFaultError(f"{name}: it chose {brief(choice)}, which is not legal")
        return choice

    def _do(self, action: int, thought: Thought = None) -> None:
        """Play an action and say what everybody sees of it; what an agent thought goes into the record alone."""
        game, seat = self.game, self.game.seat
        text = format_action(action, game.row, game.rules)
        drawn = self._hand() if seat == self.seat else []
        ended = play_action(game, action)
        self.actions.append(action)
        self.thoughts.append(thought)
        print(f"    seat {seat} {self._name(seat)}: {text}{self._drawn(action, drawn, ended)}")
        if ended and not game.is_over:
            print(
                f"\n{round_line(game.row)}; totals {' '.join(map(str, game.row.totals[: len(self.agents)].tolist()))}\n"
            )

    def _drawn(self, action: int, before: list[int], ended: bool) -> str:
        """The card that the person drew from the stock."""
        if action != DRAW or not before or ended:
            return ""
        after = self._hand()
        for kind in before:
            after.remove(kind)
        return f" {CARD_NAMES[after[0]]}" if after else ""

    def _hand(self) -> list[int]:
        row, seat = plain(self.game.row), self.seat
        return hand_kinds(row.hand_one[seat], row.hand_two[seat], row.hand_jokers[seat])

    # --- the person ---

    def _ask(self, terminal: Terminal) -> list[int]:
        """The actions that the person types; asks again after whatever is none."""
        # Only what the seat may know is shown and judged, as if the person were an agent.
        view = Game.from_rows(self.game.rules, self.game.redacted(self.seat))
        legal = self.game.legal_actions().tolist()
        row = plain(view.row)
        texts = [format_action(action, row, view.rules) for action in legal]
        if self.game.row.drew == DREW_NOTHING:
            print(f"\n{self._screen(terminal.color)}", end="")
        else:
            self._print_status(view)
        print(columns(texts))
        while True:
            line = terminal.ask()
            try:
                made = self._answer(line, legal, view, terminal)
            except (NotationError, NotPlayableError) as error:
                print(str(error).removeprefix("action: "))
                continue
            if made is not None:
                return made
            if line.split()[:1] == ["moves"]:
                print(columns(texts))

    def _answer(self, line: str, legal: list[int], view: Game, terminal: Terminal) -> list[int] | None:
        """The actions that a line means; ``None`` where it was something else, and is done."""
        if len(line) > _LONGEST_LINE:
            raise NotationError(f"a line has at most {_LONGEST_LINE} characters")
        words = line.split()
        if not words:
            if len(legal) == 1:
                return legal
            raise NotationError(f"there are {len(legal)} moves: type one, or 'help'")
        if len(words) == 1 and words[0].isascii() and words[0].isdigit():
            if len(words[0]) > 4 or not 1 <= int(words[0]) <= len(legal):
                raise NotationError(f"moves are 1 to {len(legal)}, got {shown(words[0])}")
            return [legal[int(words[0]) - 1]]
        verb = words[0].lower()
        if verb in ("quit", "save") or (len(words) == 1 and verb in ("help", "moves", "table", "hint")):
            self._command(verb, line[len(verb) :].strip(), terminal)
            return None
        return choose_way(view, " ".join([verb, *(_card_word(word) for word in words[1:])]))

    def _command(self, verb: str, rest: str, terminal: Terminal) -> None:
        if verb == "help":
            print(HELP, end="")
        elif verb == "table":
            print(self._screen(terminal.color), end="")
        elif verb == "hint":
            self._print_hint()
        else:
            self._keep(verb, rest or terminal.path, terminal)

    def _keep(self, verb: str, path: str | None, terminal: Terminal) -> None:
        """Save the game, and leave where that is the verb; the person is told once that it would be lost."""
        if path is not None:
            try:
                self.save(path)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                raise NotationError(f"{verb}: {shown(path)}: {reason}") from None
        elif verb == "save":
            raise NotationError("save: name a file")
        elif not terminal.warned and (self._kept is None or self._kept[1] != len(self.actions)):
            terminal.warned = True
            raise NotationError("the game is not kept: 'quit FILE' keeps it, 'quit' once more leaves")
        if verb == "quit":
            raise Left

    def _print_hint(self) -> None:
        try:
            choice = self._choice(self.hint, adviser=True)
        except AgentFaultError as error:
            raise NotationError(str(error)) from None
        print(f"{self.hint.name} would: {format_action(choice, self.game.row, self.game.rules)}")

    # --- the screen ---

    def _print_status(self, view: Game) -> None:
        print("\n".join(["", *status_lines(view.row, view.rules), *hand_lines(self._hand())]))

    def _screen(self, color: bool) -> str:
        """The table as the person may see it."""
        game = self.game
        if self.open_hands:
            text = render_text(game.row, game.rules, None, color=color)
        else:
            text = render_text(game.redacted(self.seat)[0], game.rules, self.seat, color=color)
        hand = self._hand()
        return "\n".join([text.rstrip("\n"), *(hand_lines(hand) if hand else [])]) + "\n"


def hand_lines(kinds: Sequence[int]) -> list[str]:
    """A hand on two lines: by suit, and by rank."""
    naturals = [kind for kind in kinds if kind != JOKER]
    jokers = [kind for kind in kinds if kind == JOKER]
    by_rank = sorted(naturals, key=lambda kind: (kind % NUM_RANKS, kind))
    return [
        f"  your hand ({len(kinds)})  by suit  {_grouped(naturals, jokers, NUM_RANKS)}",
        f"  {' ' * len(f'your hand ({len(kinds)})')}  by rank  {_grouped(by_rank, jokers, None)}",
    ]


def _grouped(kinds: Sequence[int], jokers: Sequence[int], by: int | None) -> str:
    """Cards with a gap between suits, or between ranks where ``by`` is ``None``."""
    groups: dict[int, list[str]] = {}
    for kind in [*kinds, *jokers]:
        key = -1 if kind == JOKER else kind // by if by else kind % NUM_RANKS
        groups.setdefault(key, []).append(CARD_NAMES[kind])
    return "  ".join(" ".join(group) for group in groups.values())


def columns(texts: Sequence[str]) -> str:
    """Texts numbered from 1, in columns down the page."""
    cells = [f"{number:>3} {text}" for number, text in enumerate(texts, start=1)]
    width = max(map(len, cells)) + 2
    across = max(1, _WIDTH // width)
    down = -(-len(cells) // across)
    return "\n".join("".join(f"{cell:<{width}}" for cell in cells[line::down]).rstrip() for line in range(down))


def _card_word(word: str) -> str:
    """A word of a move as the notation has it, however its letters were typed."""
    return word.lower() if word.lower() in ("low", "high", "after") else word.upper()


def choose_way(view: Game, text: str) -> list[int]:
    """The actions of a move written as text, all legal one after another.

    Args:
        view: the game as the seat to act may know it.
        text: the move, in the notation.

    Raises:
        NotationError: it is badly written.
        NotPlayableError: it is not legal; the message is the reason.
    """
    try:
        ways = parse_choices(text, view.row, view.rules)
    except NoSuchPlayError as error:
        raise NotPlayableError(str(error)) from None
    furthest = (-1, "")
    for way in ways:
        fault = _first_fault(view, way)
        if fault is None:
            return way
        furthest = max(furthest, fault, key=lambda fault: fault[0])
    raise NotPlayableError(furthest[1])


def _first_fault(view: Game, way: Sequence[int]) -> tuple[int, str] | None:
    """Where a sequence of actions is not legal and why; ``None`` where all of it is."""
    if len(way) == 1:
        return None if view.is_legal(way[0]) else (0, why_not(view.row, view.rules, way[0]))
    tried = view.copy()
    for step, action in enumerate(way):
        if not tried.is_legal(action):
            return step, why_not(tried.row, tried.rules, action)
        tried.play(action)
    return None
