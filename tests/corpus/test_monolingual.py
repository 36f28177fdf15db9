"""Which lines of a text in the target language are kept, in which order, and what is said of the others."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from dragoman.contracts import SentencePair, UserError
from dragoman.corpus import monolingual
from dragoman.corpus.bitext import ListBitext
from dragoman.corpus.monolingual import Monolingual, open_monolingual
from dragoman.corpus.splitting import key_hash


def bitext(*targets: str) -> ListBitext:
    return ListBitext([SentencePair(f"source {target}", target) for target in targets], "en", "de")


TRAIN, DEV = bitext("Das Haus ist alt.", "Der 3. Brief"), bitext("Die Frau schläft!")


def text(tmp_path: Path, *lines: str, name: str = "mono.de") -> str:
    (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(tmp_path / name)


def kept(*names: str, **options: object) -> Monolingual:
    return open_monolingual(names, TRAIN, DEV, **options)  # type: ignore[arg-type]


def test_what_stands_in_train_or_dev_is_left_out_and_counted(tmp_path: Path) -> None:
    lines = ["Neu eins", "das haus ist ALT", "Der 7. Brief.", "die Frau schläft", "", " \t", "Neu zwei", "Neu, eins!"]
    found = kept(text(tmp_path, *lines))
    assert set(found) == {"Neu eins", "Neu zwei"}
    assert found.set_aside == {"in the training pairs": 2, "in dev": 1, "blank": 2, "repeated": 1}
    assert found.summary() == "2 of 8 lines kept: 2 blank, 2 in the training pairs, 1 in dev, 1 repeated"
    assert found.language == "de"


def test_sources_do_not_count_as_targets(tmp_path: Path) -> None:
    assert len(kept(text(tmp_path, "source Das Haus ist alt."))) == 1


def test_the_order_is_that_of_the_hashes_whatever_the_files_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"Satz {chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(200)]
    expected = sorted(lines, key=key_hash)
    assert expected != lines
    assert list(kept(text(tmp_path, *lines))) == expected
    monkeypatch.setattr(monolingual, "AT_ONCE", 7)
    backwards = text(tmp_path, *lines[::-1][:90], name="a.de"), text(tmp_path, *lines[::-1][90:], name="b.de")
    assert list(kept(*backwards)) == expected


def test_several_files_compressed_ones_too(tmp_path: Path) -> None:
    (tmp_path / "more.de.gz").write_bytes(gzip.compress("Zwei\u2028Teile\r\nDrei\n".encode()))
    assert set(kept(text(tmp_path, "Eins"), str(tmp_path / "more.de.gz"))) == {"Eins", "Zwei\u2028Teile", "Drei"}


def test_the_fingerprint_is_of_the_kept_lines(tmp_path: Path) -> None:
    one = kept(text(tmp_path, "Eins", "Zwei", name="a.de")).fingerprint
    assert one == kept(text(tmp_path, "Eins", "", "Das Haus ist alt.", "Zwei", name="b.de")).fingerprint
    assert one != kept(text(tmp_path, "Eins", "Zwei!", name="c.de")).fingerprint
    assert one != kept(text(tmp_path, "Eins", name="d.de")).fingerprint


def test_lines_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "bad.de").write_bytes(b"Eins\n\xff\n" + b"x" * 4000 + b"\nZw\0ei\n")
    with pytest.raises(UserError, match=r"bad\.de:2: not UTF-8"):
        kept(str(tmp_path / "bad.de"))
    found = kept(str(tmp_path / "bad.de"), on_bad_line="skip")
    assert list(found) == ["Eins"]
    assert found.set_aside == {"not UTF-8": 1, "too long": 1, "NUL": 1}


REFUSED = [
    (["mono.en"], r"mono\.en: its name says en; --monolingual is text in the target language"),
    (["pairs.tmx"], r"pairs\.tmx: holds pairs; --monolingual reads plain text"),
    (["none.de"], r"none\.de: no such file"),
    (["-", "-"], r"standard input \(-\) can be read only once"),
    (["leaks.de"], r"leaks\.de: 0 of 2 lines kept: 1 blank, 1 in the training pairs$"),
    (["empty.de"], r"empty\.de: 0 of 0 lines kept: there are none$"),
]


@pytest.mark.parametrize(("names", "why"), REFUSED, ids=[names[0] for names, _ in REFUSED])
def test_what_cannot_serve_is_refused_in_one_line(names: list[str], why: str, tmp_path: Path) -> None:
    for name, lines in (("mono.en", ["One"]), ("pairs.tmx", ["<tmx>"]), ("leaks.de", ["", "Das Haus ist alt"])):
        text(tmp_path, *lines, name=name)
    text(tmp_path, name="empty.de")
    with pytest.raises(UserError, match=why):
        kept(*(name if name == "-" else str(tmp_path / name) for name in names))


def test_a_file_that_shrinks_while_in_use_is_noticed(tmp_path: Path) -> None:
    found = kept(text(tmp_path, "Eins", "Zwei", "Drei"))
    text(tmp_path, "Eins")
    with pytest.raises(UserError, match=r"mono\.de: changed while in use: 2 lines gone"):
        list(found)
