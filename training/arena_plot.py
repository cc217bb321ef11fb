"""The picture of a tournament: the payoff matrix, and the ratings as bars."""

from __future__ import annotations

import io
import json
import shlex
import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from training.report import by_rating, payoffs, title
from training.results import ArenaResult

_GOOD, _BAD, _INK, _GREY = "#2a6f4e", "#a8442a", "#222222", "#8a8a8a"
_MAP = "RdYlGn_r"


def plot(result: ArenaResult, head: dict[str, Any]) -> bytes:
    """The picture as PNG; its text fields hold ``head``, so that the file says what it is of.

    The picture is drawn without a window, and the same result gives the same bytes.
    """
    size = len(result.agents)
    figure = Figure(figsize=(max(9.0, 3.8 + 1.5 * size), max(3.6, 2.2 + 0.62 * size)), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
    _draw_matrix(left, result)
    _draw_ratings(right, result)
    tournament = result.tournament
    figure.suptitle(
        f"{title(tournament)}: {result.deals} deals of seed {tournament.seed}, seats rotated", color=_INK, fontsize=11
    )
    foot = " · ".join(f"{name} {version}" for name, version in head["versions"].items())
    command = shlex.join(head["command"])
    figure.supxlabel("\n".join([*textwrap.wrap(command, 110)[:3], foot]), color=_GREY, fontsize=7)
    file = io.BytesIO()
    text = json.dumps(head, ensure_ascii=True)
    figure.savefig(file, format="png", metadata={"Software": None, "Title": title(tournament), "Description": text})
    return file.getvalue()


def _draw_matrix(axes: Axes, result: ArenaResult) -> None:
    names = [agent.name for agent in result.agents]
    matrix = payoffs(result.differences, names)
    means = np.array([[np.nan if one is None else one.mean for one in line] for line in matrix])
    known = np.abs(means[~np.isnan(means)])
    most = float(known.max()) if len(known) and known.max() > 0 else 1.0
    axes.imshow(means, cmap=_MAP, vmin=-1.3 * most, vmax=1.3 * most, alpha=0.7, aspect="auto")
    for i, line in enumerate(matrix):
        for j, one in enumerate(line):
            if one is not None:
                text = f"{one.mean:+.2f}\n± {one.half_width:.2f}"
                axes.text(j, i, text, ha="center", va="center", fontsize=8, color=_INK)
    axes.set_xticks(range(len(names)), [_short(name) for name in names], rotation=25, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), [_short(name) for name in names], fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title("line less column, points a round\n(fewer are better: green wins)", fontsize=9, color=_INK)


def _draw_ratings(axes: Axes, result: ArenaResult) -> None:
    if result.ratings is None:
        axes.text(0.5, 0.5, "ratings need choix\nand two agents", ha="center", va="center", color=_GREY)
        axes.axis("off")
        return
    rated = [(name, rating) for name, rating in by_rating(result) if rating is not None][::-1]
    points = np.array([rating.points for _, rating in rated])
    low, high = (np.array([getattr(rating, end) for _, rating in rated]) for end in ("low", "high"))
    axes.barh(
        range(len(rated)),
        points,
        xerr=np.maximum([points - low, high - points], 0),
        color=[_GOOD if value >= 0 else _BAD for value in points],
        alpha=0.8,
        height=0.55,
        error_kw={"ecolor": _INK, "elinewidth": 1, "capsize": 3},
    )
    for i, (value, start, end) in enumerate(zip(points, low, high)):
        at, shift, side = (min(start, value), -6, "right") if value < 0 else (max(end, value), 6, "left")
        label = {"textcoords": "offset points", "ha": side, "va": "center", "fontsize": 8, "color": _INK}
        axes.annotate(f"{value:+.0f}", (at, i), (shift, 0), **label)
    axes.axvline(0, color=_GREY, linewidth=0.8)
    axes.set_yticks(range(len(rated)), [_short(name) for name, _ in rated], fontsize=8)
    axes.set_ylim(-0.6, len(rated) - 0.3)
    axes.margins(x=0.2)
    axes.tick_params(length=0, labelsize=8)
    axes.spines[["top", "right", "left"]].set_visible(False)
    anchor = result.agents[result.ratings.anchor].name
    axes.set_title(f"rating, {_short(anchor)} = 0\n(95 % intervals over deals)", fontsize=9, color=_INK)


def _short(name: str) -> str:
    return name if len(name) <= 26 else f"{name[:25]}…"
