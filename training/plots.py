"""The curves of a run as a picture."""

from __future__ import annotations

import csv
from pathlib import Path


def plot_run(folder: Path) -> Path:
    """Draw ``curves.png`` from the metrics of a run; returns its path."""
    from matplotlib.figure import Figure  # no pyplot: it has a state, which belongs to whoever calls

    metrics = _columns(folder / "metrics.csv")
    figure = Figure(figsize=(15, 4), layout="constrained")
    axes = figure.subplots(1, 3)
    evaluations = folder / "evaluations.csv"
    if evaluations.exists():
        with evaluations.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for anchor in dict.fromkeys(row["anchor"] for row in rows):
            mine = [row for row in rows if row["anchor"] == anchor]
            at, gained = [float(row["decisions"]) for row in mine], [float(row["gained"]) for row in mine]
            spread = [float(row["half_width"]) for row in mine]
            axes[0].errorbar(at, gained, spread, label=f"against {anchor}", capsize=2)
    axes[0].axhline(0, color="grey", linewidth=0.8)
    axes[0].set(xlabel="decisions", ylabel="points gained a round", title="validation deals, 95 % intervals")
    if axes[0].get_legend_handles_labels()[0]:
        axes[0].legend()
    if "entropy" in metrics:
        axes[1].plot(metrics["decisions"], metrics["entropy"])
        axes[1].set(xlabel="decisions", ylabel="nats", title="entropy of the policy")
    else:
        loss = "loss" if "loss" in metrics else "value_loss"
        axes[1].plot(metrics["decisions"], metrics[loss])
        axes[1].set(xlabel="decisions", title="mean squared error of the predicted returns")
    if "agreement" in metrics:
        axes[2].plot(metrics["decisions"], metrics["agreement"])
        axes[2].set(xlabel="decisions", title="decisions in which it does as its teacher", ylim=(0, 1))
    else:
        predictor = "critic" if "entropy" in metrics else "network"
        axes[2].plot(metrics["decisions"], metrics["explained_variance"])
        axes[2].set(xlabel="decisions", title=f"variance that the {predictor} explains", ylim=(0, 1))
    path = folder / "curves.png"
    figure.savefig(path, dpi=110)
    return path


def _columns(path: Path) -> dict[str, list[float]]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in (rows[0] if rows else {})}
