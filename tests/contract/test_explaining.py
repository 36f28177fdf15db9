"""Every kind shows how it translates, or refuses in one line that names the kinds which do."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dragoman.contracts import Ability, CanScore, Sampling, SearchOptions, UserError
from dragoman.seeing import CanExplain, Explanation, MapsSentences, ShowsGates
from dragoman.system.explain import as_json, explain, gates, gradients
from dragoman.system.sentences import map_sentences
from dragoman.system.stream import kinds_with
from tests.contract.models import SOURCES, TEST, Trained, every_kind, every_translator, kinds_that, kinds_without
from tests.contract.test_lines import ODD

CLOSE = 1e-4
FEW = SOURCES[:4]


@every_kind
def test_what_is_promised_is_there(model: Trained) -> None:
    can, translator = model.translator.abilities, model.translator
    assert isinstance(translator, CanExplain) == (Ability.EXPLAIN in can)
    assert isinstance(translator, ShowsGates) == (Ability.GATES in can)
    assert isinstance(translator, MapsSentences) == (Ability.STATES in can)


@kinds_that(Ability.EXPLAIN)
def test_it_explains_the_translation_that_it_gives(model: Trained) -> None:
    for text, translation in zip(FEW, model.translator.translate(FEW), strict=True):
        found = explain(model.translator, text).explanation
        best = translation.hypotheses[0]
        assert (found.kind, found.source, found.text, found.flags) == (model.kind, text, best.text, best.flags)
        assert found.parts or found.entries
        json.dumps(as_json(found), allow_nan=False)


@kinds_that(Ability.EXPLAIN, Ability.BEAM)
@pytest.mark.parametrize("options", [SearchOptions(), SearchOptions(beam=2, alpha=0.0)])
def test_figures_tree_and_attention_are_those_of_the_search(model: Trained, options: SearchOptions) -> None:
    looks = Ability.ATTENTION in model.translator.abilities
    for text in FEW:
        asked = SearchOptions(beam=options.beam, alpha=options.alpha, attention=looks)
        best = model.translator.translate([text], asked)[0].hypotheses[0]
        (part,) = explain(model.translator, text, options=options).explanation.parts
        assert part.output.log_probabilities == pytest.approx(best.token_log_probabilities, abs=CLOSE)
        assert part.output.score == pytest.approx(best.score, abs=CLOSE)
        path = part.tree.path(part.tree.best)
        assert tuple(part.tree.branches[place].piece for place in path[:-1]) == part.output.pieces[:-1] or any(
            piece == "·" for piece in part.output.pieces
        )
        assert part.tree.branches[part.tree.best].score == pytest.approx(best.score, abs=CLOSE)
        assert len(part.output.pieces) == len(best.pieces) + 1
        cross = [heads for heads in part.heads if heads.of == "source by target"]
        assert bool(cross) == looks
        if not looks:
            assert part.attention_TS is None
            continue
        assert part.attention_TS is not None
        np.testing.assert_allclose(part.attention_TS, best.attention, atol=1e-5)
        assert part.attention_TS.shape == (len(best.pieces), len(part.source_pieces))
        np.testing.assert_allclose(cross[-1].weights_HTS.mean(0)[:-1], best.attention, atol=1e-5)


@kinds_that(Ability.EXPLAIN, Ability.SCORE)
def test_a_reference_is_scored_as_score_does_and_judged(model: Trained) -> None:
    assert isinstance(model.translator, CanScore)
    for pair in list(TEST)[:3]:
        explained = explain(model.translator, pair.source, pair.target)
        reference, verdict = explained.explanation.reference, explained.verdict
        assert reference is not None
        assert verdict is not None
        own = model.translator.score([pair])[0]
        assert reference.said.log_probabilities == pytest.approx(own.token_log_probabilities, abs=CLOSE)
        assert reference.said.score == pytest.approx(own.score, abs=CLOSE)
        assert reference.output_score == pytest.approx(explained.explanation.parts[0].output.score, abs=CLOSE)
        if Ability.ATTENTION in model.translator.abilities:
            assert reference.attention_TS is not None
            shape = len(reference.said.pieces), len(explained.explanation.parts[0].source_pieces)
            assert reference.attention_TS.shape == shape
            np.testing.assert_allclose(reference.attention_TS.sum(1), 1, atol=1e-5)
        better = own.score > reference.output_score + CLOSE
        assert (verdict.fault == "search") == (better and not reference.unsayable)
        same = explain(model.translator, pair.source, explained.explanation.text).verdict
        assert same is not None
        assert same.fault == "neither"


@kinds_that(Ability.EXPLAIN)
def test_odd_texts_are_explained_too(model: Trained) -> None:
    for text in [text for text in ODD if text.strip()][:8]:
        assert explain(model.translator, text).explanation.source == text


@kinds_that(Ability.EXPLAIN, Ability.BEAM)
def test_of_a_long_text_some_parts_are_explained_and_how_many_there_are(model: Trained) -> None:
    found = explain(model.translator, " ".join(SOURCES[:12]), "x").explanation
    assert found.text == model.translator.translate([" ".join(SOURCES[:12])])[0].text
    assert found.part_count > len(found.parts) == 4
    assert found.reference is not None
    assert f"{found.part_count} parts" in found.reference.unsayable


@every_translator
def test_a_blank_sentence_or_reference_is_refused(model: Trained) -> None:
    with pytest.raises(UserError, match="the sentence is blank"):
        explain(model.translator, " \u3000")
    with pytest.raises(UserError, match="the reference is blank"):
        explain(model.translator, "x", " ")


# --- gates, gradients ---------------------------------------------------------------------------


@kinds_that(Ability.GATES)
def test_gates_run_along_both_sentences(model: Trained) -> None:
    found = gates(model.translator, SOURCES[0])
    assert {track.side for track in found.tracks} == {"source", "target"}
    for track in found.tracks:
        pieces = found.source_pieces if track.side == "source" else found.target_pieces
        assert len(track.memory_TH) == len(pieces)
        assert track.memory == ("C" if found.cell == "lstm" else "H")
        assert track.gate == ("forget" if found.cell == "lstm" else "update")
        assert track.gate_TH is not None
        assert track.gate_TH.shape == track.memory_TH.shape
        assert 0 <= track.gate_TH.min() <= track.gate_TH.max() <= 1
    texts = [translation.text for translation in model.translator.translate(FEW)]
    assert [translation.text for translation in model.translator.translate(FEW)] == texts
    assert found.target_pieces[0] == "<s>"


@kinds_that(Ability.GATES)
def test_gradients_reach_every_state_that_was_read(model: Trained) -> None:
    found = gradients(model.translator, model.folder, TEST.pairs[0].source, TEST.pairs[0].target)
    assert isinstance(model.translator, CanScore)
    own = model.translator.score([TEST.pairs[0]])[0]
    assert found.gradients.loss == pytest.approx(-own.log_probability, abs=1e-3)
    for fading in found.gradients.model:
        assert len(fading.norms) == len(found.gradients.pieces)
        assert all(norm > 0 for norm in fading.norms)
    assert found.norms.steps  # of the training, from progress.jsonl
    assert found.clipped_share is not None
    assert 0 <= found.clipped_share <= 1


# --- states -------------------------------------------------------------------------------------


@kinds_that(Ability.STATES)
def test_a_sentence_has_the_same_state_in_any_company(model: Trained) -> None:
    assert isinstance(model.translator, MapsSentences)
    together = model.translator.sentence_states(SOURCES[:6]).vectors_ND
    alone = np.concatenate([model.translator.sentence_states([text]).vectors_ND for text in SOURCES[:6]])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    mapped = map_sentences(model.translator, [*FEW, *FEW], [1, 2, 3, 4] * 2)
    assert [each.accuracy for each in mapped.measured] == [1, 1, 1]  # the same text lies on itself


# --- refusals -----------------------------------------------------------------------------------


@kinds_without(Ability.GATES)
def test_kinds_without_cells_name_those_which_have_them(model: Trained) -> None:
    for ask in (lambda: gates(model.translator, "x"), lambda: gradients(model.translator, model.folder, "x")):
        with pytest.raises(UserError, match="cannot show gates and gradients") as refused:
            ask()
        assert all(kind in str(refused.value) for kind in kinds_with(Ability.GATES))
        assert "\n" not in str(refused.value)


@kinds_without(Ability.STATES)
def test_kinds_without_states_name_those_which_have_them(model: Trained) -> None:
    with pytest.raises(UserError, match=r"cannot map sentences by their states; kinds that can: .*transformer"):
        map_sentences(model.translator, ["a", "b", "c", "d"], [1, 1, 2, 2])


@kinds_without(Ability.SCORE)
def test_kinds_that_score_nothing_take_no_reference(model: Trained) -> None:
    with pytest.raises(UserError, match="cannot score translations"):
        explain(model.translator, "x", "y")


@kinds_that(Ability.EXPLAIN, Ability.SAMPLE)
def test_what_is_drawn_is_no_search(model: Trained) -> None:
    with pytest.raises(UserError, match="sampling draws"):
        explain(model.translator, "x", options=SearchOptions(sampling=Sampling()))


@kinds_that(Ability.EXPLAIN, Ability.ENSEMBLE)
def test_an_ensemble_is_explained_member_by_member(model: Trained) -> None:
    member: Any = model.translator
    both = member.together([member])
    with pytest.raises(UserError, match="an ensemble is explained member by member"):
        both.explain("x")
    with pytest.raises(UserError, match="an ensemble has no states"):
        both.sentence_states(["x"])


# --- what programs read -------------------------------------------------------------------------


@kinds_that(Ability.EXPLAIN, Ability.SCORE)
def test_the_fields_for_programs_stay_as_they_are_documented(model: Trained) -> None:
    table = as_json(explain(model.translator, SOURCES[0], TEST.pairs[0].target))
    assert set(table) == {"explanation", "verdict", "linked"}
    assert table["linked"] is None  # without --aligner
    assert set(table["verdict"]) == {"fault", "why", "chrf"}
    found = table["explanation"]
    assert set(found) == set(Explanation.__dataclass_fields__)
    (part,) = found["parts"]
    assert set(part) == {"source", "source_pieces", "output", "attention", "heads", "tree"}
    assert set(part["output"]) == {"text", "pieces", "log_probabilities", "score"}
    assert set(part["tree"]) == {"beam", "branches", "best"}
    branch = {"step", "parent", "piece", "log_probability", "total", "fate", "score"}
    assert all(set(each) == branch for each in part["tree"]["branches"])
    assert all(set(each) == {"layer", "of", "weights"} for each in part["heads"])
    assert set(found["reference"]) == {"said", "output_score", "unsayable", "attention"}
