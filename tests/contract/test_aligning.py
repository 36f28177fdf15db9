"""What may be relied on of every kind of aligner?"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dragoman.alignment import aligner
from dragoman.contracts import UserError
from dragoman.links import Alignment
from dragoman.system.catalogue import model_kinds
from dragoman.system.store import load_model
from tests.contract.models import PAIRS, TRAIN, Trained, tiny_recipe

every_aligner = pytest.mark.parametrize("model", model_kinds("align"), indirect=True)
ODD = [
    ("", ""),
    ("", "只有这边"),
    ("only here", " \u2003"),
    ("unheard zzz qqq", "没见过 zzz 的词"),
    ("a \x0b b \u2028 c", "\U0001f468‍\U0001f469‍\U0001f467 \u200b"),
    ("x " * 260, "猫" * 230),
]


def check(pairs: list[tuple[str, str]], found: list[Alignment], cutting: Any) -> None:
    assert len(found) == len(pairs)
    for (source, target), alignment in zip(pairs, found, strict=True):
        assert alignment.source_words == cutting.spans(source)
        assert alignment.target_words == cutting.spans(target)
        assert list(alignment.links) == sorted(set(alignment.links))
        assert len(alignment.probabilities) == len(alignment.links)
        assert all(0 <= p <= 1 for p in alignment.probabilities)
        assert all(0 <= i < len(alignment.source_words) for i, _ in alignment.links)
        assert all(0 <= j < len(alignment.target_words) for _, j in alignment.links)


@every_aligner
def test_every_pair_has_its_links_inside_its_words(model: Trained) -> None:
    product = model.product
    check([*PAIRS, *ODD], product.align([*PAIRS, *ODD]), product.cutting)
    assert [alignment.links for alignment in product.align(ODD[:3])] == [(), (), ()]
    assert sum(bool(alignment.links) for alignment in product.align(PAIRS)) == len(PAIRS)
    assert product.align([]) == []


@every_aligner
def test_company_and_order_change_no_link(model: Trained) -> None:
    pairs = [*PAIRS, *ODD]
    found = model.product.align(pairs)
    assert model.product.align(pairs[::-1]) == found[::-1]
    assert [model.product.align([pair])[0] for pair in pairs] == found


@every_aligner
def test_walking_pairs_in_many_blocks_changes_no_link(model: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [*PAIRS, *ODD]
    linked, plausible = model.product.align(pairs), model.product.plausibility(pairs)
    monkeypatch.setattr(aligner, "CELLS_AT_ONCE", 40)
    assert model.product.align(pairs) == linked
    assert model.product.plausibility(pairs) == plausible


@every_aligner
def test_loaded_it_links_as_before_with_any_number_of_threads(model: Trained) -> None:
    found = model.product.align(PAIRS)
    for threads in (1, 3):
        assert load_model(model.folder).on_threads(threads).align(PAIRS) == found


@every_aligner
@pytest.mark.parametrize("how", ["forward", "reverse", "union", "intersection", "grow-diag-final", "agreement"])
def test_directions_become_one_in_every_way(model: Trained, how: str) -> None:
    found = model.product.align(PAIRS, how)
    check(PAIRS, found, model.product.cutting)
    if how == "forward":
        assert all(len({j for _, j in one.links}) == len(one.links) for one in found)
    if how == "intersection":
        union = model.product.align(PAIRS, "union")
        assert all(set(small.links) <= set(large.links) for small, large in zip(found, union, strict=True))


@every_aligner
def test_learning_and_linking_at_once_gives_the_links_of_the_model(model: Trained) -> None:
    from dragoman.alignment.learning import learn_aligner
    from dragoman.contracts import Work

    recipe = tiny_recipe(model.kind)
    pairs = [(pair.source, pair.target) for pair in TRAIN]
    runs = [learn_aligner(recipe, TRAIN, Work(model.folder, seed=7, threads=2)) for _ in range(2)]
    first, second = ([alignment.links for alignment in run.alignments(TRAIN)] for run in runs)
    assert first == second
    with pytest.raises(UserError, match="the data changed while they were in use"):
        list(runs[0].alignments([*TRAIN, *TRAIN]))
    applied = [alignment.links for alignment in runs[0].aligner.align(pairs)]
    if model.kind != "aligner-best":  # of which the first are what was drawn while it learnt
        assert first == applied
    both = sum(len(set(one) & set(other)) for one, other in zip(first, applied, strict=True))
    assert both >= 0.85 * max(sum(map(len, first)), sum(map(len, applied)))


@every_aligner
def test_what_both_directions_believe_is_shown_beside_the_links(model: Trained) -> None:
    (pair,) = PAIRS[:1]
    shown, (alignment,) = model.product.explain_links(*pair), model.product.align([pair])
    shape = len(alignment.target_words), len(alignment.source_words)
    assert (shown.kind, shown.links, shown.probabilities) == (model.kind, alignment.links, alignment.probabilities)
    assert shown.forward_TS.shape == shown.reverse_TS.shape == shape
    assert shown.source_words == tuple(pair[0][start:end] for start, end in alignment.source_words)
    assert (shown.forward_TS.sum(axis=1) <= 1 + 1e-5).all()
    assert (shown.reverse_TS.sum(axis=0) <= 1 + 1e-5).all()
    for (i, j), share in zip(shown.links, shown.probabilities, strict=True):
        assert np.sqrt(shown.forward_TS[j, i] * shown.reverse_TS[j, i]) == pytest.approx(share, abs=1e-5)
    with pytest.raises(UserError, match="more than 200 words"):
        model.product.explain_links("x " * 201, "y")


@every_aligner
def test_translations_are_more_plausible_than_other_sentences(model: Trained) -> None:
    turned = [(source, target) for (source, _), (_, target) in pairwise(PAIRS)]
    found = model.product.plausibility([*PAIRS, *turned, *ODD])
    true, false, odd = np.split(np.array(found), [len(PAIRS), len(PAIRS) + len(turned)])
    assert true.mean() > false.mean() + 0.5
    assert (odd <= 0).all()
    assert odd[:3].tolist() == [0, 0, 0]
    rows = {(source, target): shares for source, target, *shares in model.product.lexicon(0.0)}
    (pair,) = PAIRS[:1]
    sources, targets = (model.product.cutting.keys(text) for text in pair)
    shares_IJ2 = np.array([[rows.get((one, other), (0.0, 0.0)) for other in targets] for one in sources])
    best = np.log(np.maximum(1e-3, np.concatenate([shares_IJ2[:, :, 0].max(axis=0), shares_IJ2[:, :, 1].max(axis=1)])))
    assert found[0] == pytest.approx(best.mean(), abs=1e-4)
