"""Whatever bytes a file holds, a reader gives records or one line that says why not."""

from __future__ import annotations

import gzip
from pathlib import Path

import polib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.contracts import SentencePair, UserError
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.lines import OnBadLine
from dragoman.corpus.writers import write_bitext

PAIRS = [SentencePair(f"Wörter {number}", f"\u201cwords\u201d {number}") for number in range(20)]


@pytest.fixture(scope="module")
def good_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """One small file of each kind."""
    folder = tmp_path_factory.mktemp("good")
    for suffix in (".tsv", ".tmx"):
        write_bitext(PAIRS, [folder / f"x{suffix}"], "de", "en")
    catalogue = polib.POFile()
    catalogue.metadata = {"Content-Type": "text/plain; charset=UTF-8", "Language": "en", "X-Source-Language": "de"}
    for pair in PAIRS:
        catalogue.append(polib.POEntry(msgid=pair.source, msgstr=pair.target))
    catalogue.save(str(folder / "x.po"))
    catalogue.save_as_mofile(str(folder / "x.mo"))
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("suffix", [".tsv", ".tmx", ".po", ".mo"])
@pytest.mark.parametrize("mode", ["stop", "skip"])
@settings(max_examples=30, deadline=None)
@given(
    at=st.floats(0, 1),
    length=st.integers(0, 30),
    rubbish=st.binary(max_size=8),
    cut=st.booleans(),
    packed=st.booleans(),
)
def test_damage_anywhere_is_survived(
    tmp_path_factory: pytest.TempPathFactory,
    good_files: dict[str, bytes],
    suffix: str,
    mode: OnBadLine,
    at: float,
    length: int,
    rubbish: bytes,
    cut: bool,
    packed: bool,
) -> None:
    data = gzip.compress(good_files[suffix]) if packed else good_files[suffix]
    place = int(at * len(data))
    path = tmp_path_factory.mktemp("bad") / f"x{suffix}"
    path.write_bytes(data[:place] + rubbish + (b"" if cut else data[place + length :]))
    try:
        bitext = open_bitext([str(path)], "de", "en", on_bad_line=mode)
    except UserError as error:
        message = str(error)
        assert "\n" not in message
        assert message.startswith((str(path), "0 of "))
        return
    assert len(list(bitext)) == len(bitext) > 0


@pytest.mark.parametrize("suffix", [".tsv", ".tmx", ".po", ".mo"])
def test_the_good_files_are_good(tmp_path: Path, good_files: dict[str, bytes], suffix: str) -> None:
    (tmp_path / f"x{suffix}").write_bytes(good_files[suffix])
    bitext = open_bitext([str(tmp_path / f"x{suffix}")], "de", "en")
    assert sorted((pair.source, pair.target) for pair in bitext) == sorted((pair.source, pair.target) for pair in PAIRS)
