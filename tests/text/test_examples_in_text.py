"""The examples in the docstrings of this room."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["words", "sentences", "vocabulary"])
def test_examples(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(f"dragoman.text.{name}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
