"""What may be relied on in a translation, for every kind by what it can?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from dragoman.contracts import (
    Ability,
    CanScore,
    Flag,
    Hypothesis,
    Request,
    Sampling,
    SearchOptions,
    SentencePair,
    Translation,
    Translator,
    UserError,
)
from dragoman.evaluation.metrics import corpus_scores
from dragoman.system import workers
from dragoman.system.catalogue import model_kinds
from dragoman.system.measure import evaluate
from dragoman.system.store import load_model
from dragoman.system.stream import check_options, kinds_with
from dragoman.system.workers import Workers, shares
from dragoman.text.words import word_spans
from tests.contract.models import SOURCES, TEST, Trained, every_translator, kinds_that, kinds_without
from tests.contract.test_lines import ODD

CLOSE = 1e-4


def best_of(translations: list[Translation]) -> list[Hypothesis]:
    return [translation.hypotheses[0] for translation in translations]


def assert_same(some: list[Hypothesis], others: list[Hypothesis]) -> None:
    """Equal texts; where two hypotheses tie within CLOSE, either may be given."""
    for one, other in zip(some, others, strict=True):
        assert one.text == other.text or abs(one.score - other.score) <= CLOSE
        assert one.score == pytest.approx(other.score, abs=CLOSE)


# --- every kind -----------------------------------------------------------------------------------


@every_translator
def test_a_translation_keeps_its_source_and_has_a_hypothesis(model: Trained) -> None:
    for source, translation in zip(SOURCES, model.translator.translate(SOURCES), strict=True):
        assert translation.source == source
        assert translation.source_words == word_spans(source)
        assert len(translation.hypotheses) == 1
        assert translation.text == translation.hypotheses[0].text


@every_translator
def test_words_are_spans_of_the_text(model: Trained) -> None:
    for best in best_of(model.translator.translate([*SOURCES, "", "x  y"])):
        ends = [0, *(end for _, end in best.words)]
        for (start, end), before in zip(best.words, ends, strict=False):
            assert before <= start < end <= len(best.text)
        uncovered = set(range(len(best.text))) - {i for start, end in best.words for i in range(start, end)}
        assert all(best.text[i].isspace() for i in uncovered)


@every_translator
def test_a_request_is_as_good_as_its_text(model: Trained) -> None:
    requests = [Request(source) for source in SOURCES[:4]]
    assert best_of(model.translator.translate(requests)) == best_of(model.translator.translate(SOURCES[:4]))


@every_translator
def test_company_and_order_change_no_translation(model: Trained) -> None:
    together = best_of(model.translator.translate(SOURCES))
    backwards = best_of(model.translator.translate(SOURCES[::-1]))[::-1]
    alone = [best_of(model.translator.translate([source]))[0] for source in SOURCES]
    small = best_of(model.translator.translate(SOURCES, SearchOptions(batch_tokens=1)))
    for others in (backwards, alone, small):
        assert_same(together, others)


@every_translator
def test_it_has_learnt_something(model: Trained) -> None:
    texts = [best.text for best in best_of(model.translator.translate(SOURCES))]
    references = [[pair.target for pair in TEST]]
    found = corpus_scores(texts, references, "zh", with_ter=False).chrf.value
    assert found > 10 + corpus_scores(SOURCES, references, "zh", with_ter=False).chrf.value


@every_translator
def test_it_can_be_measured(model: Trained) -> None:
    evaluation = evaluate(model.translator, TEST)
    assert len(evaluation.hypotheses) == len(TEST)
    capped = [Flag.LENGTH_CAP in best.flags for best in best_of(model.translator.translate(SOURCES))]
    assert evaluation.cap_share == sum(capped) / len(capped)
    assert (evaluation.canonical_share is None) == (Ability.SCORE not in model.translator.abilities)


# --- what a kind cannot do ------------------------------------------------------------------------

ASKED = {
    Ability.BEAM: (SearchOptions(n_best=2, beam=2), ""),
    Ability.SAMPLE: (SearchOptions(sampling=Sampling()), ""),
    Ability.ATTENTION: (SearchOptions(attention=True), ""),
    Ability.LINKS: (SearchOptions(links=True), ""),
    Ability.PREFIX: (SearchOptions(), "我"),
}


@pytest.mark.parametrize("ability", ASKED)
@every_translator
def test_what_a_kind_lacks_is_an_error_that_names_those_which_have_it(model: Trained, ability: Ability) -> None:
    options, prefix = ASKED[ability]
    request = Request(SOURCES[0], prefix=prefix)
    if ability in model.translator.abilities:
        check_options(model.translator, options, prefix)
        assert model.translator.translate([request], options)
        return
    with pytest.raises(UserError):
        model.translator.translate([request], options)
    with pytest.raises(UserError) as refused:
        check_options(model.translator, options, prefix)
    assert all(kind in str(refused.value) for kind in kinds_with(ability))


@kinds_without(Ability.TERMS)
def test_terms_are_not_dropped_in_silence(model: Trained) -> None:
    with pytest.raises(UserError):
        model.translator.translate([Request(SOURCES[0], terms=(("apple", "苹果"),))])


@kinds_without(Ability.SCORE)
def test_what_cannot_score_has_no_score_method(model: Trained) -> None:
    assert not isinstance(model.translator, CanScore)


# --- search ---------------------------------------------------------------------------------------


@kinds_that(Ability.BEAM)
def test_n_best_lists_are_sorted_distinct_and_begin_with_the_best(model: Trained) -> None:
    lists = model.translator.translate(SOURCES, SearchOptions(n_best=4, beam=4))
    for translation in lists:
        scores = [hypothesis.score for hypothesis in translation.hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len({hypothesis.text for hypothesis in translation.hypotheses}) == len(scores) <= 4
    assert_same(best_of(lists), best_of(model.translator.translate(SOURCES, SearchOptions(beam=4))))
    assert any(len(translation.hypotheses) > 1 for translation in lists)


@kinds_that(Ability.BEAM)
def test_more_than_the_beam_is_refused(model: Trained) -> None:
    with pytest.raises(UserError, match="n-best 3"):
        model.translator.translate(SOURCES[:1], SearchOptions(n_best=3, beam=2))


@kinds_that(Ability.BEAM, Ability.SAMPLE)
def test_a_beam_of_one_is_greedy(model: Trained) -> None:
    """Drawing from the one best piece is what greedy means."""
    greedy = best_of(model.translator.translate(SOURCES, SearchOptions(sampling=Sampling(top_k=1))))
    assert_same(best_of(model.translator.translate(SOURCES, SearchOptions(beam=1))), greedy)


@kinds_that(Ability.BEAM)
def test_figures_add_up(model: Trained) -> None:
    for translation in model.translator.translate(SOURCES, SearchOptions(n_best=3, beam=3)):
        for hypothesis in translation.hypotheses:
            assert len(hypothesis.token_log_probabilities) == len(hypothesis.pieces) + 1
            assert all(value <= CLOSE and math.isfinite(value) for value in hypothesis.token_log_probabilities)
            assert hypothesis.log_probability == pytest.approx(sum(hypothesis.token_log_probabilities), abs=CLOSE)


@kinds_that(Ability.BEAM)
def test_without_normalisation_the_score_is_the_log_probability(model: Trained) -> None:
    for best in best_of(model.translator.translate(SOURCES, SearchOptions(alpha=0.0))):
        assert best.score == pytest.approx(best.log_probability, abs=CLOSE)
    for best in best_of(model.translator.translate(SOURCES, SearchOptions(alpha=1.0, length_form="power"))):
        length = len(best.token_log_probabilities)
        assert best.score == pytest.approx(best.log_probability / length, abs=CLOSE)
    for best in best_of(model.translator.translate(SOURCES, SearchOptions(alpha=0.5, length_form="gnmt"))):
        length = len(best.token_log_probabilities)
        assert best.score == pytest.approx(best.log_probability / ((5 + length) / 6) ** 0.5, abs=CLOSE)


@kinds_that(Ability.SAMPLE)
def test_draws_depend_on_the_seed_alone(model: Trained) -> None:
    def drawn(seed: int, sources: list[str]) -> list[str]:
        options = SearchOptions(sampling=Sampling(temperature=1.5, seed=seed))
        return [translation.text for translation in model.translator.translate(sources, options)]

    first = drawn(1, SOURCES)
    assert drawn(1, SOURCES) == first
    assert drawn(1, SOURCES[::-1])[::-1] == first
    assert drawn(2, SOURCES) != first


@kinds_that(Ability.SAMPLE)
def test_several_draws_are_several_hypotheses(model: Trained) -> None:
    options = SearchOptions(n_best=8, sampling=Sampling(temperature=2.0))
    for translation in model.translator.translate(SOURCES[:4], options):
        texts = [hypothesis.text for hypothesis in translation.hypotheses]
        assert 1 < len(texts) <= 8
        assert len(set(texts)) == len(texts)


@kinds_that(Ability.PREFIX)
def test_a_forced_prefix_begins_every_hypothesis(model: Trained) -> None:
    prefix = TEST.pairs[1].target[:3]
    options = SearchOptions(n_best=3, beam=3) if Ability.BEAM in model.translator.abilities else SearchOptions()
    for source, translation in zip(
        SOURCES[:6], model.translator.translate([Request(s, prefix=prefix) for s in SOURCES[:6]], options), strict=True
    ):
        assert translation.source == source
        assert all(hypothesis.text.startswith(prefix) for hypothesis in translation.hypotheses)


# --- scores ---------------------------------------------------------------------------------------


@kinds_that(Ability.SCORE)
def test_a_hypothesis_scored_by_its_own_pieces_has_the_score_of_the_search(model: Trained) -> None:
    assert isinstance(model.translator, CanScore)
    options = SearchOptions(n_best=3, beam=3) if Ability.BEAM in model.translator.abilities else SearchOptions()
    found = [(t.source, h) for t in model.translator.translate(SOURCES, options) for h in t.hypotheses]
    for (_, hypothesis), score in zip(found, model.translator.score(found), strict=True):
        assert score.score == pytest.approx(hypothesis.score, abs=CLOSE)
        assert score.log_probability == pytest.approx(hypothesis.log_probability, abs=len(hypothesis.pieces) * CLOSE)
        assert score.token_log_probabilities == pytest.approx(hypothesis.token_log_probabilities, abs=CLOSE)


@kinds_that(Ability.SCORE)
def test_scoring_the_text_agrees_for_the_canonical_share(model: Trained) -> None:
    assert isinstance(model.translator, CanScore)
    best = best_of(model.translator.translate(SOURCES))
    pairs = [SentencePair(source, hypothesis.text) for source, hypothesis in zip(SOURCES, best, strict=True)]
    scores = model.translator.score(pairs)
    agree = [abs(score.score - hypothesis.score) <= CLOSE for score, hypothesis in zip(scores, best, strict=True)]
    share = evaluate(model.translator, TEST).canonical_share
    assert share == pytest.approx(sum(agree) / len(agree))
    assert share is not None
    assert share > 0.5


@kinds_that(Ability.SCORE)
def test_scores_do_not_depend_on_company(model: Trained) -> None:
    assert isinstance(model.translator, CanScore)
    pairs = list(TEST)
    together = model.translator.score(pairs)
    alone = [model.translator.score([pair])[0] for pair in pairs]
    for one, other in zip(together, alone, strict=True):
        assert one.token_log_probabilities == pytest.approx(other.token_log_probabilities, abs=CLOSE)
        assert one.log_probability == pytest.approx(sum(one.token_log_probabilities), abs=CLOSE)


# --- what is shown --------------------------------------------------------------------------------


@kinds_that(Ability.ATTENTION)
def test_attention_is_a_distribution_over_the_source(model: Trained) -> None:
    for best in best_of(model.translator.translate(SOURCES, SearchOptions(attention=True))):
        weights_TS = np.asarray(best.attention)
        assert weights_TS.shape[0] == len(best.pieces)
        assert (weights_TS >= 0).all()
        assert weights_TS.sum(axis=1) == pytest.approx(np.ones(weights_TS.shape[0]), abs=1e-3)
    assert best_of(model.translator.translate(SOURCES))[0].attention is None


@kinds_that(Ability.LINKS)
def test_links_join_words_of_both_texts(model: Trained) -> None:
    """Also of texts that are blank, odd, or so long that they are cut."""
    texts = [*SOURCES, "", " \t", *ODD, "  ".join(SOURCES * 3), f"{SOURCES[0]}\n{SOURCES[1]}"]
    translations = model.translator.translate(texts, SearchOptions(links=True))
    for text, translation in zip(texts, translations, strict=True):
        best = translation.hypotheses[0]
        assert best.links is not None
        assert list(best.links) == sorted(set(best.links))
        for source, target in best.links:
            assert 0 <= source < len(translation.source_words)
            assert 0 <= target < len(best.words)
        assert bool(best.links) or not (text in SOURCES and best.words)
    assert_same(best_of(translations[:4]), best_of(model.translator.translate(SOURCES[:4])))
    long = translations[-2]
    far = {source * 4 // len(long.source_words) for source, _ in long.hypotheses[0].links or ()}
    assert far == {0, 1, 2, 3}  # from every part of a long text


@kinds_that(Ability.LINKS, Ability.BEAM)
def test_each_hypothesis_has_links_of_its_own(model: Trained) -> None:
    for translation in model.translator.translate(SOURCES[:6], SearchOptions(n_best=3, beam=3, links=True)):
        for hypothesis in translation.hypotheses:
            linked = {target for _, target in hypothesis.links or ()}
            assert linked == set(range(len(hypothesis.words)))


@kinds_that(Ability.ENSEMBLE)
def test_an_ensemble_with_oneself_is_oneself(model: Trained) -> None:
    twice = model.translator.together([model.translator])  # type: ignore[attr-defined]
    assert_same(best_of(twice.translate(SOURCES[:8])), best_of(model.translator.translate(SOURCES[:8])))


# --- several processes ----------------------------------------------------------------------------


class Several:
    """A model of each kind; which of them translates a text, its last character says."""

    kind, source_language, target_language, abilities = "several", "en", "zh", frozenset[Ability]()

    def __init__(self, folders: Sequence[Path]) -> None:
        self.translators: list[Translator] = [load_model(folder) for folder in folders]

    def translate(
        self, requests: Sequence[str | Request], options: SearchOptions = SearchOptions()
    ) -> list[Translation]:
        found: dict[int, Translation] = {}
        for place, translator in enumerate(self.translators):
            own = [number for number, text in enumerate(requests) if str(text).endswith(str(place))]
            linked = replace(options, links=Ability.LINKS in translator.abilities)
            made = translator.translate([requests[number] for number in own], linked)
            found |= zip(own, made, strict=True)
        return [found[number] for number in range(len(requests))]


def test_processes_change_no_bit(model_of: Callable[[str], Trained], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of no kind that searches. Each process computes by one thread, as this one does: matrix products round their last
    bit by their number."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(workers, "SHARE", 96)
    kinds = [kind for kind in model_kinds("translate") if kind in kinds_with(Ability.BEAM)]
    sources = [f"{source} {number}{place}" for number in range(4) for source in SOURCES for place in range(len(kinds))]
    assert len(shares(sources)) > 2
    options = SearchOptions(n_best=2, beam=2)
    load = partial(Several, [model_of(kind).folder for kind in kinds])
    with Workers(load(), load) as alone, Workers(load(), load, 2, enough=2) as two:
        assert two.translate(sources, options) == alone.translate(sources, options)
