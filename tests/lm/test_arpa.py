"""Do models come from other programs, and go to them, as they are?"""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from dragoman.contracts import Progress, UserError
from dragoman.lm.arpa import read_arpa, write_arpa
from dragoman.lm.model import NgramModel
from tests.lm.small import BABBLE, SMOOTHINGS, babble, learn

BY_HAND = """some words before

\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.3
-0.7\t</s>
-0.5\ta\t-0.2
-0.6\tb\t-0.1

\\2-grams:
-0.1\t<s> a\t-0.05
-0.25 a b -0.4
-0.35\tb </s>

\\3-grams:
-0.01\t<s> a b

\\end\\
"""


def read(folder: Path, content: str | bytes, name: str = "model.arpa") -> NgramModel:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_arpa(folder / name)


def test_scores_are_those_by_hand(tmp_path: Path) -> None:
    (tmp_path / "model.arpa").write_text(BY_HAND, encoding="utf-8")
    model = read_arpa(tmp_path / "model.arpa", "en")
    tens = [
        [value / math.log(10) for value in score.token_log_probabilities] for score in model.score(["a b", "b a", "x"])
    ]
    assert tens[0] == pytest.approx(
        [-0.1, -0.01, -0.4 - 0.35], abs=1e-6
    )  # a b | </s>: the back-off of a b, then b </s>
    assert tens[1] == pytest.approx([-0.3 - 0.6, -0.1 - 0.5, -0.2 - 0.7], abs=1e-6)
    assert tens[2] == pytest.approx([-0.3 - 1.0, -0.7], abs=1e-6)
    assert model.ngrams.counts == (5, 3, 1)
    assert model.language == "en"


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("order", [1, 2, 4])
def test_what_is_written_is_read_back(tmp_path: Path, smoothing: str, order: int) -> None:
    model = learn(BABBLE, order=order, smoothing=smoothing, prune=(0, 0, 1)[:order])
    write_arpa(model, tmp_path / "model.arpa.gz")
    assert gzip.decompress((tmp_path / "model.arpa.gz").read_bytes()).startswith(b"\\data\\\nngram 1=13\n")
    again = read_arpa(tmp_path / "model.arpa.gz")
    assert again.vocabulary == model.vocabulary
    for name in ("words_X", "begins_Y", "states_X", "backs_Y"):
        assert (getattr(again.ngrams, name) == getattr(model.ngrams, name)).all()
    lines = [*BABBLE[:9], *babble(9, seed=4, words="abxyz")]
    np.testing.assert_allclose(again.log_probabilities(lines), model.log_probabilities(lines), atol=1e-4)
    write_arpa(again, tmp_path / "again.arpa")
    assert [line.split()[1:2] for line in (tmp_path / "again.arpa").read_text().splitlines()] == [
        line.split()[1:2] for line in gzip.decompress((tmp_path / "model.arpa.gz").read_bytes()).decode().splitlines()
    ]


def test_words_of_any_signs_come_back(tmp_path: Path) -> None:
    lines = ["naïve \u2028 x\xa0y 我", "a\x85b c\x1cd \ufeff"]
    model = learn(lines, order=2)
    write_arpa(model, tmp_path / "model.arpa")
    again = read_arpa(tmp_path / "model.arpa")
    assert again.vocabulary == model.vocabulary
    assert again.log_probabilities(lines) == pytest.approx(model.log_probabilities(lines), abs=1e-5)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "bom.arpa").write_text(BY_HAND[BY_HAND.index("\\data") :], encoding="utf-8-sig")
    (tmp_path / "plain.arpa").write_text(BY_HAND, encoding="utf-8")
    assert read_arpa(tmp_path / "bom.arpa").all_next() == read_arpa(tmp_path / "plain.arpa").all_next()


def test_what_other_programs_leave_out_or_write_otherwise(tmp_path: Path) -> None:
    """No <unk> at all; <UNK>; a longest end of an n-gram that is missing, as pruning by entropy leaves it."""
    notes: list[Progress] = []
    (tmp_path / "one.arpa").write_text(BY_HAND.replace("-1.0\t<unk>\n", "").replace("ngram 1=5", "ngram 1=4"))
    one = read_arpa(tmp_path / "one.arpa", report=notes.append)
    assert one.all_next()["<unk>"] == pytest.approx((-100 - 0.3) * math.log(10), rel=1e-5)
    write_arpa(one, tmp_path / "again.arpa")
    assert read_arpa(tmp_path / "again.arpa").all_next()["<unk>"] == pytest.approx(one.all_next()["<unk>"], rel=1e-6)
    (tmp_path / "two.arpa").write_text(BY_HAND.replace("<unk>", "<UNK>"))
    two = read_arpa(tmp_path / "two.arpa", report=notes.append)
    assert two.all_next()["<unk>"] == pytest.approx(-1.3 * math.log(10), rel=1e-5)
    assert [each.note.removeprefix(str(tmp_path)) for each in notes] == [
        "/one.arpa: has no <unk>: an unknown word gets log10 p = -100, as in KenLM",
        "/two.arpa:9: <UNK> is taken as <unk>: log10 p is -1.0",
    ]
    (tmp_path / "three.arpa").write_text(BY_HAND.replace("-0.25 a b -0.4\n", "").replace("ngram 2=3", "ngram 2=2"))
    (score,) = read_arpa(tmp_path / "three.arpa").score(["a b"])
    assert score.log_probability == pytest.approx((-0.1 - 0.01 - 0.35) * math.log(10), abs=1e-5)


def test_minus_infinity_is_log_0(tmp_path: Path) -> None:
    """As in KenLM, for a line with such an n-gram too."""
    model = read(tmp_path, BY_HAND.replace("-0.25 a b", "-inf a b"))
    assert model.score(["b a b"])[0].log_probability == -math.inf
    assert math.isfinite(model.score(["b a"])[0].log_probability)
    write_arpa(model, tmp_path / "again.arpa")
    assert "-99\ta b" in (tmp_path / "again.arpa").read_text()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("\\data\\", "data", r"no \data\ |file ends"),
        ("ngram 2=3", "ngram 3=3", ":5: 'ngram 3=3' where 'ngram 2=COUNT' should stand"),
        ("ngram 2=3", "ngram 2=4", ":19: the section of 2-grams has 1 line too few"),
        ("ngram 2=3", "ngram 2=2", r":18: '-0.35\tb </s>' where \3-grams: should stand"),
        ("\\end\\\n", "\\end\\\n\nmore\nand more\n", ":25: 'more' behind \\end\\"),
        ("-0.6\tb", "0.6\tb", ":13: log-probability 0.6 is above 0"),
        ("-0.6\tb", "much\tb", ":13: 'much' is no number"),
        ("-0.6\tb", "nan\tb", ":13: 'nan' is no number"),
        ("-0.6\tb", "inf\tb", ":13: log-probability inf is above 0"),
        ("b\t-0.1", "b\t-inf", ":13: back-off -inf: only a log-probability may be infinite, and only -inf"),
        ("-0.6\tb\t-0.1", "-0.6\ta\t-0.1", ":13: a stands there twice"),
        ("-0.7\t</s>", "-0.7\tend", "the 1-grams have no </s>"),
        ("-0.25 a b -0.4", "-0.25 a c -0.4", ":17: c is not among the 1-grams"),
        ("-0.25 a b -0.4", "-0.25 <s> a -0.4", ":17: this 2-gram stands there twice"),
        ("-0.25 a b -0.4", "-0.25 a", ":17: 2 fields; a 2-gram has 3 or 4"),
        ("-0.1\t<s> a\t-0.05", "-0.1\t<s> b\t-0.05", ":21: the first 2 words of this 3-gram are no 2-gram"),
        ("\\3-grams:", "\\4-grams:", r":20: '\\4-grams:' where \3-grams: should stand"),
        ("\\end\\\n", "", r"the file ends where \end\ should stand"),
        ("\\end\\\n", "-0.1 a b a\n", r":23: '-0.1 a b a' where \end\ should stand"),
        (BY_HAND, "", "the file ends"),
        ("-0.6\tb", "-0.6\tb\0", ":13: a NUL byte"),
        ("ngram 2=3", "ngram 2=9999999999999", ":5: 10,000,000,000,004 n-grams: more than 2,147,483,646"),
    ],
)
def test_bad_files_are_one_line_that_names_the_place(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert old in BY_HAND
    with pytest.raises(UserError) as refused:
        read(tmp_path, BY_HAND.replace(old, new, 1))
    said = str(refused.value)
    assert any(part in said for part in why.split("|"))
    assert "model.arpa:" in said
    assert "\n" not in said


def test_damage_and_rubbish_are_one_line_too(tmp_path: Path) -> None:
    whole = gzip.compress(BY_HAND.encode())
    for content in (whole[: len(whole) // 2], whole[:-9] + b"123456789", b"\x00\xff" * 300, BY_HAND.encode()[:150]):
        with pytest.raises(UserError) as refused:
            read(tmp_path, content, "model.arpa.gz")
        assert "\n" not in str(refused.value)
        assert "model.arpa.gz" in str(refused.value)
    with pytest.raises(UserError, match="not UTF-8"):
        read(tmp_path, BY_HAND.encode().replace(b"\tb", b"\t\xff").replace(b" b", b" \xff").replace(b"tb ", b"t\xff "))


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    model = learn(BABBLE, order=2)
    with pytest.raises(UserError, match="cannot be written"):
        write_arpa(model, tmp_path / "model.arpa" / "below" if (tmp_path / "model.arpa").write_text("x") else "")
    assert (tmp_path / "model.arpa").read_text() == "x"
