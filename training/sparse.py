"""The wide ends of a network at the price of what is there: few inputs are not zero, few actions are legal.

A layer over observations is a weighted sum of few columns of its weights, and backward of few rows of the gradient; of
a layer of logits those of the legal actions alone are asked for.  Both are put together here with their derivatives;
the results are those of ``nn.Linear`` up to the order of the additions.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from scala40_env.core.jit import inlined, kernel

# --- inputs of which few are not zero --------------------------------------------------------------------------------


class Sparse:
    """Rows of numbers of which few are not zero.

    Args:
        size: how many columns there are.
        columns, values, starts: the column and the number of each that is not zero, row by row, and where each row
            begins: ``int32``, ``float32`` and ``int32``, as ``agents.inputs`` tells them.
    """

    def __init__(
        self, size: int, columns: NDArray[np.int32], values: NDArray[np.float32], starts: NDArray[np.int32]
    ) -> None:
        self.size = size
        self.columns, self.values, self.starts = map(torch.from_numpy, (columns, values, starts))

    @cached_property
    def turned(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The row and the number of each, column by column, and where each column begins."""
        rows, values = torch.empty_like(self.columns), torch.empty_like(self.values)
        starts = torch.empty(self.size, dtype=torch.int32)
        filled = np.zeros(self.size, dtype=np.int32)
        _turn(*_arrays(self.columns, self.values, self.starts), filled, *_arrays(rows, values, starts))
        return rows, values, starts


@kernel
def _turn(
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    starts: NDArray[np.int32],
    filled: NDArray[np.int32],
    turned_rows: NDArray[np.int32],
    turned_values: NDArray[np.float32],
    turned_starts: NDArray[np.int32],
) -> None:
    for column in columns:
        filled[column] += 1
    start = 0
    for column in range(len(filled)):
        turned_starts[column] = start
        start += filled[column]
        filled[column] = turned_starts[column]
    for row in range(len(starts)):
        end = starts[row + 1] if row + 1 < len(starts) else len(columns)
        for k in range(starts[row], end):
            at = filled[columns[k]]
            turned_rows[at] = row
            turned_values[at] = values[k]
            filled[columns[k]] += 1


def by_columns(layer: nn.Linear) -> None:
    """Keep the weights of a layer column by column, as ``linear`` reads them; to all others they are what they were."""
    layer.weight = nn.Parameter(layer.weight.detach().t().contiguous().t())


def linear(layer: nn.Linear, given: Sparse, others: torch.Tensor | None = None) -> torch.Tensor:
    """What a layer makes of rows: ``(n, out_features)``.

    Args:
        layer: the layer; quickest where ``by_columns`` prepared it.
        given: its first inputs, ``n`` rows.
        others: the rest of them, ``(n, in_features - given.size)``, where there are some; nothing is derived by them.
    """
    return _Linear.apply(layer.weight, layer.bias, given, others)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, weight: torch.Tensor, bias: torch.Tensor, given: Sparse, others: torch.Tensor | None
    ) -> torch.Tensor:
        ctx.given, ctx.others = given, others
        table = weight.t().contiguous()
        made = _bags(given.columns, table[: given.size], given.starts, given.values).add_(bias)
        return made if others is None else made.addmm_(others, table[given.size :])

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None, None]:
        given, grad = ctx.given, grad.contiguous()
        rows, values, starts = given.turned
        of_table = _bags(rows, grad, starts, values)
        if ctx.others is not None:
            of_table = torch.cat([of_table, ctx.others.t() @ grad])
        return of_table.t(), grad.sum(dim=0), None, None


def _bags(indices: torch.Tensor, table: torch.Tensor, starts: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
    """Weighted sums of rows of a table."""
    return nn.functional.embedding_bag(indices, table, starts, mode="sum", per_sample_weights=factors)


# --- outputs of which few are asked for ------------------------------------------------------------------------------


def picked(rows: torch.Tensor, table: torch.Tensor, picks: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
    """Products of rows, each with some rows of a table: ``(k,)``.

    Args:
        rows: ``(n, size)``, ``float32``.
        table: ``(m, size)``, ``float32``.
        picks: the rows of the table, ``(k,)``, ``int64``.
        starts: where those of each row begin in ``picks``: ``(n,)``, ``int64``.
    """
    return _Picked.apply(rows, table, picks, starts)


class _Picked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, rows: torch.Tensor, table: torch.Tensor, picks: torch.Tensor, starts: torch.Tensor
    ) -> torch.Tensor:
        ctx.save_for_backward(rows, table, picks, starts)
        made = torch.empty(len(picks))
        _multiply(*_arrays(rows, table, picks, starts, made))
        return made

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None, None, None]:
        rows, table, picks, starts = ctx.saved_tensors
        of_rows, of_table = None, None
        if ctx.needs_input_grad[0]:
            of_rows = torch.zeros_like(rows)
            _add_to_rows(*_arrays(grad, table, picks, starts, of_rows))
        if ctx.needs_input_grad[1]:
            of_table = torch.zeros_like(table)
            _add_to_table(*_arrays(grad, rows, picks, starts, of_table))
        return of_rows, of_table, None, None


def _arrays(*tensors: torch.Tensor) -> list[NDArray[Any]]:
    return [tensor.detach().contiguous().numpy() for tensor in tensors]


@inlined
def _product(one: NDArray[np.float32], other: NDArray[np.float32]) -> np.float32:
    """In eight sums, which the processor adds at once: the compiler may not change the order of additions by itself."""
    zero = np.float32(0)
    a, b, c, d, e, f, g, h = zero, zero, zero, zero, zero, zero, zero, zero
    whole = len(one) // 8 * 8
    for j in range(0, whole, 8):
        a += one[j] * other[j]
        b += one[j + 1] * other[j + 1]
        c += one[j + 2] * other[j + 2]
        d += one[j + 3] * other[j + 3]
        e += one[j + 4] * other[j + 4]
        f += one[j + 5] * other[j + 5]
        g += one[j + 6] * other[j + 6]
        h += one[j + 7] * other[j + 7]
    for j in range(whole, len(one)):
        a += one[j] * other[j]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@inlined
def _add(factor: np.float32, row: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    for j in range(len(out)):
        out[j] += factor * row[j]


@kernel
def _multiply(
    rows: NDArray[np.float32],
    table: NDArray[np.float32],
    picks: NDArray[np.int64],
    starts: NDArray[np.int64],
    out: NDArray[np.float32],
) -> None:
    for i in range(len(starts)):
        end = starts[i + 1] if i + 1 < len(starts) else len(picks)
        for k in range(starts[i], end):
            out[k] = _product(rows[i], table[picks[k]])


@kernel
def _add_to_rows(
    grad: NDArray[np.float32],
    table: NDArray[np.float32],
    picks: NDArray[np.int64],
    starts: NDArray[np.int64],
    out: NDArray[np.float32],
) -> None:
    for i in range(len(starts)):
        end = starts[i + 1] if i + 1 < len(starts) else len(picks)
        for k in range(starts[i], end):
            _add(grad[k], table[picks[k]], out[i])


@kernel
def _add_to_table(
    grad: NDArray[np.float32],
    rows: NDArray[np.float32],
    picks: NDArray[np.int64],
    starts: NDArray[np.int64],
    out: NDArray[np.float32],
) -> None:
    for i in range(len(starts)):
        end = starts[i + 1] if i + 1 < len(starts) else len(picks)
        for k in range(starts[i], end):
            _add(grad[k], rows[i], out[picks[k]])
