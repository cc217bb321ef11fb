"""The sparse ends of a network give what ``nn.Linear`` gives, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
# ruff: noqa: E402  what is imported below needs it

from training.sparse import Sparse, by_columns, linear, picked


def sparse(given: np.ndarray) -> Sparse:
    """The numbers of a matrix."""
    rows, columns = np.nonzero(given)
    starts = np.searchsorted(rows, np.arange(len(given))).astype(np.int32)
    return Sparse(given.shape[1], columns.astype(np.int32), given[rows, columns], starts)


def gradients(parts: list[torch.Tensor], made: torch.Tensor, weights: torch.Tensor) -> list[torch.Tensor]:
    """The derivatives of a weighted sum of what was made."""
    for part in parts:
        part.grad = None
    (made * weights).sum().backward()
    return [part.grad.clone() for part in parts]


def close(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.allclose(mine, theirs, atol=1e-4, rtol=1e-4) for mine, theirs in zip(one, other))


@pytest.mark.parametrize("others", [0, 5])
@pytest.mark.parametrize("share", [0.0, 0.15, 1.0])
def test_a_layer_over_observations(share: float, others: int):
    rng = np.random.default_rng(3)
    given = (rng.normal(size=(40, 70)) * (rng.random((40, 70)) < share)).astype(np.float32)
    given[7] = 0
    given[:, 11] = 0
    given[:, 12] = 2
    more = torch.randn(40, others)
    layer = torch.nn.Linear(70 + others, 24)
    expected = layer(torch.cat([torch.from_numpy(given), more], dim=1))
    weights = torch.randn(40, 24)
    for _ in range(2):  # the layer as it was made, and kept by columns
        made = linear(layer, sparse(given), more if others else None)
        assert torch.allclose(made, expected, atol=1e-4)
        parts = [layer.weight, layer.bias]
        theirs = gradients(parts, layer(torch.cat([torch.from_numpy(given), more], dim=1)), weights)
        assert close(gradients(parts, made, weights), theirs)
        by_columns(layer)


def test_what_is_not_zero_is_told_by_rows_and_by_columns():
    given = np.array([[0, 2, 0], [0, 0, 0], [3, 4, 0]], dtype=np.float32)
    told = sparse(given)
    assert (told.columns.tolist(), told.values.tolist(), told.starts.tolist()) == ([1, 0, 1], [2, 3, 4], [0, 1, 1])
    assert [part.tolist() for part in told.turned] == [[2, 0, 2], [3, 2, 4], [0, 1, 3]]


@pytest.mark.parametrize("size", [1, 16, 57])
def test_the_logits_of_some_actions(size: int):
    rng = np.random.default_rng(4)
    counts = np.array([3, 1, 0, 7, 2])
    picks = torch.from_numpy(np.concatenate([rng.permutation(30)[:count] for count in counts]))
    owners, starts = torch.from_numpy(np.repeat(np.arange(5), counts)), torch.from_numpy(np.cumsum(counts) - counts)
    rows, table = torch.randn(5, size, requires_grad=True), torch.randn(30, size, requires_grad=True)
    made, expected = picked(rows, table, picks, starts), (rows @ table.t())[owners, picks]
    assert torch.allclose(made, expected, atol=1e-5)
    weights = torch.randn(len(picks))
    assert close(gradients([rows, table], made, weights), gradients([rows, table], expected, weights))
