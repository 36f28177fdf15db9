"""Are the links of a file those of the right pairs, and is a file that does not fit named?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.contracts import Interrupted, SentencePair, UserError
from dragoman.corpus.bitext import fingerprint_of
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.links import read_links, written_links
from dragoman.corpus.splitting import hold_out
from dragoman.system.catalogue import KINDS, recipe_class
from dragoman.system.lifecycle import train_model
from dragoman.system.linked import LinkedBitext, refuse_unteachable, with_links
from tests.generated import linked_bitext
from tests.neural.test_guidance import SHORT

PAIRS = [("a b", "x"), ("", "blank"), ("c", "y z"), ("我们 ok", "we")]
LINES = ["0-0 1-0", "junk", "", "0-0 1-0 2-0"]


def bitext(
    folder: Path, lines: list[str], pairs: list[tuple[str, str]] | None = None, bad: str = "stop"
) -> LinkedBitext:
    folder.mkdir(exist_ok=True)
    rows = "".join(f"{source}\t{target}\n" for source, target in pairs or PAIRS)
    (folder / "pairs.tsv").write_text(rows, encoding="utf-8")
    (folder / "links").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    opened = open_bitext([str(folder / "pairs.tsv")], "en", "zh")
    return with_links(opened, str(folder / "links"), bad)  # type: ignore[arg-type]


def linked_files(folder: Path, count: int = 60) -> LinkedBitext:
    pairs = linked_bitext(count).pairs
    return bitext(
        folder, [written_links(pair.links or ()) for pair in pairs], [(pair.source, pair.target) for pair in pairs]
    )


def test_a_line_belongs_to_a_record_also_where_that_is_set_aside(tmp_path: Path) -> None:
    found = bitext(tmp_path, LINES)
    assert [(pair.source, pair.links) for pair in found] == [
        ("a b", ((0, 0), (1, 0))),
        ("c", ()),
        ("我们 ok", ((0, 0), (1, 0), (2, 0))),
    ]
    assert list(found) == list(found)
    assert found.summary() == "links for 2 of 3 pairs"
    assert len(found) == 3


@pytest.mark.parametrize(("lines", "told"), [(LINES[:2], "2 lines"), ([*LINES, "", ""], "6 lines"), ([], "0 lines")])
def test_another_number_of_lines_is_refused(lines: list[str], told: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"links: {told}, but the training data has 4 records"):
        bitext(tmp_path, lines)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("0-0 2-0", r"link 2-0, but the source at \S*pairs\.tsv:1 has 2 words"),
        ("0-1", r"link 0-1, but the target at \S*pairs\.tsv:1 has 1 word$"),
        ("0:0", "'0:0' is no link such as 0-2"),
        ("0-", "'0-' is no link"),
        ("-1-0", "'-1-0' is no link"),
        ("0-٣", "'0-٣' is no link"),
        ("9999999999999-0", "is no link"),
    ],
)
def test_what_is_no_link_is_named_or_skipped_and_counted(line: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"links:1: .*{told}"):
        bitext(tmp_path, [line, *LINES[1:]])
    found = bitext(tmp_path, [line, *LINES[1:]], bad="skip")
    assert [bool(pair.links) for pair in found] == [False, False, True]
    assert found.unusable == 1
    assert "links for 1 of 3 pairs; 1 line set aside: " in found.summary()


def test_other_links_are_other_data_but_not_another_dev_set(tmp_path: Path) -> None:
    one, other = bitext(tmp_path / "a", LINES), bitext(tmp_path / "b", ["0-0", *LINES[1:]])
    assert len({one.fingerprint, other.fingerprint, one.pairs.fingerprint}) == 3
    assert bitext(tmp_path / "c", LINES).fingerprint == one.fingerprint
    linked = linked_files(tmp_path / "d")
    bare = hold_out(linked.pairs, 10)
    held = hold_out(linked, 10)
    assert held.dev.fingerprint == bare.dev.fingerprint
    assert held.train.fingerprint != bare.train.fingerprint == fingerprint_of(bare.train, "en", "zh")
    right = {pair.source: pair.links for pair in linked_bitext(60)}
    for pair in (*held.train, *held.dev):
        assert pair.links == right[pair.source]


def test_links_are_written_as_they_are_read() -> None:
    links = ((0, 3), (2, 1), (10, 0))
    assert read_links(written_links(reversed(links))) == links
    assert written_links(()) == ""
    assert read_links(" 1-1\t1-1 ") == ((1, 1),)
    assert read_links("1-1:0.5 0-0:1") == ((0, 0), (1, 1))
    for wrong in ("0-0:nan", "0-0:2", "0-0:", "0:0"):
        with pytest.raises(ValueError, match=wrong):
            read_links(wrong)


def test_kinds_without_attention_are_refused_before_anything_is_read() -> None:
    able = {"transformer", "transformer-auto", "rnn"}
    for kind in KINDS:
        if kind in able:
            refuse_unteachable(recipe_class(kind)())
        elif kind in ("rnn-fixed", "dictionary"):
            with pytest.raises(UserError, match=rf"{kind}.*transformer, rnn"):
                refuse_unteachable(recipe_class(kind)())


def test_work_with_other_links_is_refused_and_with_the_same_goes_on(tmp_path: Path) -> None:
    linked, out = linked_files(tmp_path / "data"), tmp_path / "model"
    names = {"train": "pairs.tsv --links links"}
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 2

    with pytest.raises(Interrupted):
        train_model(SHORT, linked, None, out, threads=1, stop=stop, command=names)
    pairs = [replace(pair, links=(pair.links or ())[:1]) for pair in linked]
    other = bitext(
        tmp_path / "other",
        [written_links(pair.links or ()) for pair in pairs],
        [(pair.source, pair.target) for pair in pairs],
    )
    for changed in (other, linked.pairs):
        with pytest.raises(UserError, match=r"other work: training data pairs\.tsv --links links"):
            train_model(SHORT, changed, None, out, threads=1)
    train_model(SHORT, linked, None, out, threads=1, command=names)
    assert json.loads((out / "network.json").read_text(encoding="utf-8"))["watched"] == {"layer": 0, "head": 0}
    whole = train_model(SHORT, linked, None, tmp_path / "whole", threads=1)
    assert whole.facts["done"]["updates"] == 6
    assert (out / "weights.safetensors").read_bytes() == (tmp_path / "whole" / "weights.safetensors").read_bytes()


def test_data_that_change_meanwhile_are_noticed(tmp_path: Path) -> None:
    found = bitext(tmp_path, LINES)
    (tmp_path / "links").write_text("\n", encoding="utf-8")
    with pytest.raises(UserError, match="1 line, but the training data has 4 records"):
        list(found)
    assert SentencePair("a", "b").links is None
