"""The engine does the same in every process: compiled or interpreted, whatever the seed of Python's hashes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from scala40_env.core.signature import signature

SAMPLE = "rounds=1, rulebooks=('hops', 'international'), players=(2, 3)"
"""A small part of the signature: two rulebooks that differ in the most flags."""


def _signature_of_a_process(**environment: str) -> str:
    code = f"from scala40_env.core.signature import signature; print(signature({SAMPLE}))"
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("hash_seed", ["1", "20"])
def test_the_seed_of_hashes_does_not_matter(hash_seed: str):
    here = signature(rounds=1, rulebooks=("hops", "international"), players=(2, 3))
    assert _signature_of_a_process(PYTHONHASHSEED=hash_seed) == here


def test_interpreted_is_compiled():
    here = signature(rounds=1, rulebooks=("hops", "international"), players=(2, 3))
    assert _signature_of_a_process(NUMBA_DISABLE_JIT="1") == here


def test_the_signature_tells_games_apart():
    one = signature(rounds=1, rulebooks=("hops",), players=(2,))
    assert one != signature(rounds=1, rulebooks=("hops",), players=(3,))
    assert one != signature(rounds=1, rulebooks=("standard",), players=(2,))
    assert one != signature(rounds=2, rulebooks=("hops",), players=(2,))
