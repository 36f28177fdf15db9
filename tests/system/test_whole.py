"""A file is whole under its name, or as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dragoman.whole import whole, write_whole


def refuse(number: int) -> None:
    raise OSError("disk full")


def test_what_does_not_reach_the_disk_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_whole(tmp_path / "a", "old")
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="disk full"):
        write_whole(tmp_path / "a", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.parametrize("begun", [True, False])
def test_what_is_cut_leaves_nothing(begun: bool, tmp_path: Path) -> None:
    def cut() -> None:
        with whole(tmp_path / "a") as aside:
            if begun:
                aside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut()
    assert not list(tmp_path.iterdir())


def test_text_is_utf_8_with_plain_line_ends(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", "中\n")
    assert (tmp_path / "a").read_bytes() == "中\n".encode()
