"""Running text: line ends are pieces, documents end, and everything comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.contracts import UserError
from dragoman.corpus.textfiles import ListText
from dragoman.text.options import Document, RunningTextOptions, Units
from dragoman.text.pieces import END, LINE_END, START, UNKNOWN
from dragoman.text.running import RunningText, documents_of, fit_running_text, lines_of, marked
from dragoman.text.textstore import build_text_store

FILES = [["one two", "", "three", " ", "\t", "four", "five"], ["six"], ["", "seven", ""]]
TEXT = ListText(FILES, "en")
TUNE = "X: 1\nT:A tune\n\nK:G\n|: G2 B2 | d4 :|\n"


def fitted(units: Units = "characters", document: Document = "file", text: ListText = TEXT) -> RunningText:
    return fit_running_text(text, RunningTextOptions(units=units, pieces=400, document=document))


def test_what_a_document_is() -> None:
    assert list(documents_of(TEXT, "line")) == [[line] for file in FILES for line in file if line.strip()]
    assert list(documents_of(TEXT, "block")) == [["one two"], ["three"], ["four", "five"], ["six"], ["seven"]]
    assert list(documents_of(TEXT, "file")) == FILES
    assert list(marked(ListText([["a", "b"], ["c"]]), "block")) == [("a", False), ("b", True), ("c", True)]


@pytest.mark.parametrize("units", ["characters", "words", "unigram", "bpe"])
def test_text_comes_back_with_its_line_ends(units: Units) -> None:
    pipeline = fitted(units, text=ListText([TUNE.split("\n")] * 3))
    for text in (TUNE, "X: 1", "\n", "\n\nK:G", " T:A\n  tune ", "|: G2 B2 | d4 :|\n\n"):
        ids = pipeline.encode_text(text)
        assert ids.count(LINE_END) == text.count("\n")
        assert pipeline.decode(ids) == text
        assert pipeline.decode([START, *ids, END]) == text
    assert pipeline.encode_text("") == []
    assert pipeline.encode_text("X: 1\r\nK:G") == pipeline.encode_text("X: 1\nK:G")


@pytest.mark.parametrize("units", ["characters", "words", "unigram"])
@pytest.mark.parametrize("rest", [" tune", "tune", " ", "\nK:G", "", "  A"])
def test_what_follows_on_a_line_keeps_its_space(units: Units, rest: str) -> None:
    pipeline = fitted(units, text=ListText([TUNE.split("\n")] * 3))
    whole, begun = pipeline.encode_text(f"T:A{rest}"), pipeline.encode_text("T:A")
    if whole[: len(begun)] == begun:
        assert pipeline.go_on(whole[len(begun) :]) == rest


def test_line_ends_may_come_out_and_no_line_has_one() -> None:
    pipeline = fitted()
    assert LINE_END not in pipeline.pieces.reserved
    assert LINE_END in pipeline.segmenter.pieces.reserved
    assert LINE_END not in pipeline.encode(["<tag_1> \u2028\x0b\x85"])


def test_reserved_words_in_the_text_are_plain_text() -> None:
    text = ListText([["<s> a </s>", "<unk> <pad> <tag_1>"] * 3])
    for units in ("characters", "words", "unigram"):
        pipeline = fitted(units, text=text)
        ids = pipeline.encode(list(text)[:2])
        assert not {START, END, UNKNOWN} & set(ids)
        assert pipeline.decode(ids) == "<s> a </s>\n<unk> <pad> <tag_1>"
        assert pipeline.pieces.pieces.count("<s>") == 1


def test_a_model_of_lines_has_no_line_ends() -> None:
    pipeline = fitted(document="line")
    assert pipeline.encode_text("one\ntwo") == pipeline.encode_text("one two")
    assert (pipeline.first, pipeline.last, pipeline.has_lines) == (START, END, False)
    assert (fitted(document="block").first, fitted(document="block").last) == (START, END)
    assert (fitted().first, fitted().last) == (LINE_END, LINE_END)


def test_lines_end_at_line_feeds_only() -> None:
    assert lines_of("a\u2028b\x0b\r\nc\rd\n") == ["a\u2028b\x0b", "c d", ""]


@pytest.mark.parametrize("units", ["characters", "words", "unigram"])
def test_it_is_kept_with_a_model(tmp_path: Path, units: Units) -> None:
    pipeline = fitted(units, "block")
    pipeline.save(tmp_path)
    again = RunningText.load(tmp_path)
    assert again == pipeline
    assert again.fingerprint == pipeline.fingerprint
    assert fitted(units, "line").fingerprint != pipeline.fingerprint


@pytest.mark.parametrize(
    ("change", "why"),
    [({"format": 2}, "newer"), ({"document": "page"}, "damaged"), ({"units": "syllables"}, "unknown")],
)
def test_damage_is_told_in_one_line(tmp_path: Path, change: dict[str, object], why: str) -> None:
    fitted().save(tmp_path)
    card = json.loads((tmp_path / "text.json").read_text())
    (tmp_path / "text.json").write_text(json.dumps({**card, **change}))
    with pytest.raises(UserError, match=why):
        RunningText.load(tmp_path)
    (tmp_path / "text.json").unlink()
    with pytest.raises(UserError, match=r"text\.json: No such file"):
        RunningText.load(tmp_path)


# --- ids on the disk ------------------------------------------------------------------------------


@pytest.mark.parametrize("document", ["line", "block", "file"])
def test_the_store_holds_every_document_and_its_end(tmp_path: Path, document: Document) -> None:
    pipeline = fitted(document=document)
    store = build_text_store(TEXT, pipeline, tmp_path, 1000)
    documents = list(documents_of(TEXT, document))
    assert len(store) == len(documents)
    for place, lines in enumerate(documents):
        assert store.document(place).tolist() == [*pipeline.encode(lines), END]
        assert store.lengths[place] == len(store.document(place)) - 1
    assert store.ids.tolist() == [piece for place in range(len(store)) for piece in store.document(place).tolist()]


def test_it_is_found_again_and_made_anew_where_it_is_damaged(tmp_path: Path) -> None:
    pipeline = fitted()
    first = build_text_store(TEXT, pipeline, tmp_path, 1000).ids.tolist()
    (folder,) = tmp_path.iterdir()
    before = (folder / "text.ids").stat().st_mtime_ns
    build_text_store(TEXT, pipeline, tmp_path, 1000)
    assert (folder / "text.ids").stat().st_mtime_ns == before
    (folder / "text.ids").unlink()
    (folder / "text.ids").write_bytes(b"1234")
    assert build_text_store(TEXT, pipeline, tmp_path, 1000).ids.tolist() == first


def test_what_is_too_long_is_set_aside_but_files_are_not(tmp_path: Path) -> None:
    store = build_text_store(TEXT, fitted(document="block"), tmp_path, 5)
    assert store.summary() == "3 of 5 documents kept: 2 too long"
    assert [store.document(place)[-1] for place in range(3)] == [END] * 3
    assert store.lengths.tolist() == [5, 3, 5]
    assert len(build_text_store(TEXT, fitted(), tmp_path, 4)) == 3
    with pytest.raises(UserError, match="0 of 6 lines kept: all have more than 2 pieces"):
        build_text_store(TEXT, fitted(document="line"), tmp_path, 2)
