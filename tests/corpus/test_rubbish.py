"""Whatever bytes a file holds, a reader gives records or one line that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.contracts import SentencePair, UserError
from dragoman.corpus.compression import SUFFIXES as PACKED
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.layouts import LAYOUTS
from dragoman.corpus.lines import OnBadLine
from dragoman.corpus.writers import write_bitext

PAIRS = [SentencePair(f"Wörter {number}", f"\u201cwords\u201d {number}") for number in range(20)]
SUFFIXES = [*LAYOUTS, ".mo"]


@pytest.fixture(scope="module")
def good_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """One small file of each kind, compressed in each way: the bytes by the suffixes."""
    folder = tmp_path_factory.mktemp("good")
    for suffix in SUFFIXES:
        for packed in ("", *PACKED):
            write_bitext(PAIRS, [folder / f"x{suffix}{packed}"], "de", "en")
    return {path.name.removeprefix("x"): path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("mode", ["stop", "skip"])
@settings(max_examples=30)
@given(
    at=st.floats(0, 1),
    length=st.integers(0, 30),
    rubbish=st.binary(max_size=8),
    cut=st.booleans(),
    packed=st.sampled_from(["", *PACKED]),
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
    packed: str,
) -> None:
    data = good_files[suffix + packed]
    place = int(at * len(data))
    path = tmp_path_factory.mktemp("bad") / f"x{suffix}"
    path.write_bytes(data[:place] + rubbish + (b"" if cut else data[place + length :]))
    is_read_or_refused(path, mode)


def is_read_or_refused(path: Path, mode: OnBadLine) -> None:
    """Pairs, or one line that names the file."""
    try:
        bitext = open_bitext([str(path)], "de", "en", on_bad_line=mode)
    except UserError as error:
        message = str(error)
        assert "\n" not in message
        assert message.startswith((str(path), "0 of "))
        return
    assert len(list(bitext)) == len(bitext) > 0


@pytest.mark.parametrize("mode", ["stop", "skip"])
@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=20)
@given(rubbish=st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_rubbish_alone_is_survived(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, mode: OnBadLine, rubbish: bytes
) -> None:
    path = tmp_path_factory.mktemp("bad") / f"x{suffix}"
    path.write_bytes(rubbish)
    is_read_or_refused(path, mode)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_good_files_are_good(tmp_path: Path, good_files: dict[str, bytes], suffix: str) -> None:
    (tmp_path / f"x{suffix}").write_bytes(good_files[suffix])
    bitext = open_bitext([str(tmp_path / f"x{suffix}")], "de", "en")
    assert sorted((pair.source, pair.target) for pair in bitext) == sorted((pair.source, pair.target) for pair in PAIRS)
