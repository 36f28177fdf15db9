"""Are the compiled kernels what their Python says?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dragoman.alignment import (
    chain_kernels,
    fertility_kernels,
    kernels,
    lexicon_kernels,
    linking_kernels,
    sampling_kernels,
)
from dragoman.alignment.cells import find_cells
from dragoman.alignment.fertility import FertileModel, distortion_of, first_fertilities
from dragoman.alignment.hmm import ChainModel, first_jumps
from dragoman.alignment.ibm import Diagonal, PlaceModel, Table
from dragoman.alignment.lexicon import uniform_shared
from dragoman.alignment.sampler import Choices, sample_model
from dragoman.alignment.symmetrise import merged
from tests.alignment.small import HOUSES, WORK, cells_of, numbered, random_lexicon

MODULES = (kernels, chain_kernels, sampling_kernels, linking_kernels, fertility_kernels, lexicon_kernels)
NAMES = {name for module in MODULES for name, thing in vars(module).items() if hasattr(thing, "py_func")}


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kernel, wherever it is called, as plain Python."""
    for module in MODULES:
        for name in NAMES:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, getattr(module, name).py_func)


def everything() -> dict[str, Any]:
    """What all kernels make of a few pairs."""
    cells = find_cells(numbered(HOUSES), 40)
    lexicon = random_lexicon(cells)
    whole = cells_of()
    fertility = first_fertilities(cells.partners.source_words, 4), first_fertilities(cells.partners.target_words, 4)
    models: dict[str, Any] = {
        "places": PlaceModel(lexicon, (Diagonal(0.1, 4.0), Diagonal(0.1, 4.0))),
        "chain": ChainModel(lexicon, first_jumps(3), 0.2, ignore=1e-3),
        "agreed": ChainModel(uniform_shared(cells.partners), first_jumps(3), 0.2, agree=True),
        "fertile": FertileModel(lexicon, (distortion_of(Table({})),) * 2, fertility, 0.1),
    }
    found: dict[str, Any] = {"rows": cells.partners.row_begins_V, "partners": cells.partners.targets_D}
    for name, model in models.items():
        expectation = model.expect(cells, 1)
        found[f"{name} counts"], found[f"{name} nulls"] = expectation.counts_DW, expectation.nulls_T
        found |= {f"{name} choices {place}": choices for place, choices in enumerate(expectation.choices)}
        found[f"{name} logs"] = expectation.log_likelihoods
        found[f"{name} table"] = model.maximise(expectation, cells).lexicon.table_D2
    sampled = sample_model(models["chain"], whole, Choices(0.01, 0.2, 2.0, 3), 1, 1, 3, WORK, 1)
    found |= {"drawn": sampled.drawn_X2, "drawn counts": sampled.counts_D2}
    (block,) = whole.blocks()
    found["drawn by counts"] = sampled.with_strangers().posteriors(whole, block, 1)
    return found


def test_every_kernel_is_its_python(request: pytest.FixtureRequest) -> None:
    compiled = everything()
    request.getfixturevalue("interpreted")
    plain = everything()
    for name, value in compiled.items():
        np.testing.assert_allclose(value, plain[name], rtol=2e-3, atol=2e-4, err_msg=name)


def test_links_are_merged_as_in_python(request: pytest.FixtureRequest) -> None:
    random = np.random.default_rng(5)
    bits_X = random.integers(0, 4, 60).astype(np.uint8)
    begins = np.array([0, 5, 10]), np.array([0, 6, 12]), np.array([0, 30, 60])
    ways = ("union", "intersection", "grow-diag", "grow-diag-final", "grow-diag-final-and")
    compiled = [merged(bits_X, *begins, how) for how in ways]  # type: ignore[arg-type]
    request.getfixturevalue("interpreted")
    for how, marks in zip(ways, compiled, strict=True):
        assert (merged(bits_X, *begins, how) == marks).all()  # type: ignore[arg-type]
