"""What may be relied on of a language model, whatever it is made of."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli import main
from dragoman.contracts import Flag, Sampling, UserError
from dragoman.corpus.textfiles import ListText, open_text
from dragoman.texts import Generating, LanguageModel, TextFigures
from tests.contract.models import SOURCES, Trained, every_language_model, prose
from tests.contract.test_lines import ODD

CLOSE = 1e-4
TEXT = prose(20, seed=5)
FEW = Generating(count=4, longest=12)


def texts(model: Trained, options: Generating) -> list[str]:
    return [one.text for one in model_in(model).generate("the ", options)]


def model_in(model: Trained) -> LanguageModel:
    found: LanguageModel = model.product
    return found


def document(model: Trained) -> str:
    """What a text is to it; what counts n-grams has lines only."""
    return str(getattr(getattr(model.recipe, "text", None), "document", "line"))


def units(model: Trained) -> str:
    recipe: Any = model.recipe
    return str(getattr(recipe, "text", recipe).units)


# --- probabilities --------------------------------------------------------------------------------


@every_language_model
def test_the_probabilities_of_all_that_may_follow_sum_to_one(model: Trained) -> None:
    for prefix in ("", "the ", "the red apple", "ⵣⵣ ", "the quiet teacher bought"):
        following = model_in(model).all_next(prefix)
        assert sum(map(math.exp, following.values())) == pytest.approx(1, abs=1e-6)


@every_language_model
def test_a_score_is_the_sum_over_its_tokens(model: Trained) -> None:
    for score in model_in(model).score([*SOURCES, *ODD]):
        assert score.log_probability == pytest.approx(math.fsum(score.token_log_probabilities), abs=1e-3)
        assert score.score == score.log_probability < 0
        assert all(token <= 0 for token in score.token_log_probabilities)


@every_language_model
def test_company_and_order_change_no_score(model: Trained) -> None:
    lines = [*SOURCES, *ODD]
    together = [score.log_probability for score in model_in(model).score(lines)]
    backwards = [score.log_probability for score in model_in(model).score(lines[::-1])][::-1]
    alone = [model_in(model).score([line])[0].log_probability for line in lines]
    assert backwards == pytest.approx(together, abs=CLOSE)
    assert alone == pytest.approx(together, abs=CLOSE)


@every_language_model
def test_blank_lines_are_nothing(model: Trained) -> None:
    scores = model_in(model).score(["", SOURCES[0], " \t", "\u3000"])
    assert [len(score.token_log_probabilities) > 0 for score in scores] == [False, True, False, False]
    assert scores[1].log_probability == pytest.approx(model_in(model).score(SOURCES[:1])[0].log_probability, abs=CLOSE)
    assert model_in(model).score([]) == []


@every_language_model
def test_the_text_it_was_trained_on_is_likelier_than_another_order_of_its_signs(model: Trained) -> None:
    turned = [line[::-1] for line in SOURCES]
    likely, unlikely = ([one.log_probability for one in model_in(model).score(each)] for each in (SOURCES, turned))
    assert sum(likely) > sum(unlikely) + 10


@every_language_model
def test_very_long_and_odd_lines_have_a_score(model: Trained) -> None:
    scores = model_in(model).score([" ".join(SOURCES * 10), "A" * 5000, "<s> </s> <unk> <pad>", "<s>", *ODD])
    assert all(math.isfinite(score.log_probability) for score in scores)


# --- a whole text ---------------------------------------------------------------------------------


def close(one: TextFigures, other: TextFigures) -> None:
    assert (one.tokens, one.words, one.characters, one.unknown) == (
        other.tokens,
        other.words,
        other.characters,
        other.unknown,
    )
    assert one.log_probability == pytest.approx(other.log_probability, rel=1e-5)


@every_language_model
def test_the_figures_of_a_text_are_those_of_their_definitions(model: Trained) -> None:
    figures = model_in(model).evaluate(TEXT)
    assert figures.perplexity == pytest.approx(math.exp(-figures.log_probability / figures.tokens))
    assert figures.bits_per_character == pytest.approx(-figures.log_probability / math.log(2) / figures.characters)
    assert figures.word_perplexity == pytest.approx(math.exp(-figures.log_probability / figures.words))
    with_text = [line for line in TEXT if line.strip()]
    lines = list(TEXT) if document(model) == "file" else with_text
    assert (figures.lines, figures.characters) == (len(lines), sum(map(len, lines)) + len(lines))


@every_language_model
def test_a_text_of_single_lines_is_the_sum_of_their_scores(model: Trained) -> None:
    if document(model) == "file":
        pytest.skip("a line of a file is predicted from what stands before it")
    lines = SOURCES[:10]
    apart = ListText([[line, ""] for line in lines], "en")
    figures = model_in(model).evaluate(apart)
    scores = model_in(model).score(lines)
    assert figures.log_probability == pytest.approx(sum(one.log_probability for one in scores), rel=1e-5)
    assert figures.tokens == sum(len(one.token_log_probabilities) for one in scores)


@every_language_model
def test_the_files_of_a_text_do_not_know_of_each_other(model: Trained) -> None:
    whole = model_in(model).evaluate(TEXT)
    one, other = (model_in(model).evaluate(ListText([file], "en")) for file in TEXT.files)
    close(whole, one + other)
    close(whole, model_in(model).evaluate(ListText(TEXT.files[::-1], "en")))


@every_language_model
def test_a_text_of_blank_lines_is_refused(model: Trained) -> None:
    if document(model) != "file":
        with pytest.raises(UserError, match="no line with text"):
            model_in(model).evaluate(ListText([["", " "]], "en"))


# --- writing --------------------------------------------------------------------------------------


@every_language_model
def test_the_same_seed_gives_the_same_texts_and_another_one_others(model: Trained) -> None:
    first = texts(model, FEW)
    assert first == texts(model, FEW)
    assert first != texts(model, Generating(count=4, longest=12, sampling=Sampling(seed=2)))
    assert len(set(first)) > 1
    assert texts(model, Generating(count=2, longest=12)) == first[:2]


@every_language_model
@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "the ",
        "th",
        "the red app",
        "  the",
        "the  ",
        "The TEACHER",
        "ⵣⵣ the ",
        "我",
        "▁ \ue000 <unk> <s>",
        "e\u0301",
    ],
)
def test_the_prefix_comes_out_as_it_is(model: Trained, prefix: str) -> None:
    for one in model_in(model).generate(prefix, FEW):
        assert one.text.startswith(prefix)
        written = one.text[len(prefix) :]
        assert written.strip() or Flag.EMPTY in one.flags
        assert not any(sign in written for sign in ("\ufffd", "<unk>", "<s>", "</s>", "\r", "\0", "<tag"))


@every_language_model
def test_without_temperature_it_is_the_likeliest_piece_each_time(model: Trained) -> None:
    greedy = Sampling(temperature=0)
    one, other = texts(model, Generating(count=2, longest=8, sampling=greedy))
    assert one == other
    assert [one] == texts(model, Generating(longest=8, sampling=Sampling(top_k=1)))
    best = max(model_in(model).all_next("").values())
    (first,) = model_in(model).generate("", Generating(longest=8, sampling=greedy))
    assert first.token_log_probabilities[0] == pytest.approx(best, abs=CLOSE)


@every_language_model
def test_a_text_that_the_limit_cuts_is_flagged(model: Trained) -> None:
    cut = model_in(model).generate("the ", Generating(count=8, longest=1))
    assert all(Flag.LENGTH_CAP in one.flags or one.text.strip() == "the" or len(one.text) > 4 for one in cut)
    assert any(Flag.LENGTH_CAP in one.flags for one in cut)


@every_language_model
def test_what_makes_no_sense_is_refused(model: Trained) -> None:
    for options in (
        Generating(count=0),
        Generating(longest=0),
        Generating(sampling=Sampling(temperature=-1)),
        Generating(sampling=Sampling(temperature=math.nan)),
        Generating(sampling=Sampling(top_p=0)),
        Generating(sampling=Sampling(top_k=-1)),
    ):
        with pytest.raises(UserError) as refused:
            model_in(model).generate("the ", options)
        assert "\n" not in str(refused.value)


@every_language_model
def test_draws_follow_the_probabilities(model: Trained) -> None:
    """The first piece behind a prefix that ends with a whole character: chi-squared stays below what 1 in 10^4 has."""
    if units(model) != "characters":
        pytest.skip("the last word of the prefix is drawn anew")
    following = {name: math.exp(value) for name, value in model_in(model).all_next("the ").items()}
    drawn = Counter(
        one.text[4:5] for one in model_in(model).generate("the ", Generating(count=2000, longest=1)) if one.text[4:5]
    )
    total = sum(drawn.values())
    likely = {name.replace("▁", " "): share for name, share in following.items() if share * total > 10}
    statistic = sum((drawn[name] - share * total) ** 2 / (share * total) for name, share in likely.items())
    assert statistic < len(likely) + 4 * math.sqrt(2 * len(likely)) + 8


# --- by the command line --------------------------------------------------------------------------


@every_language_model
def test_every_line_has_its_score(
    model: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes("\ufeffThe red\r\n\n  \nA\rB\u2028c\x0b\x0c\x1c\x85d\nthe last".encode())
    assert main(["score", str(model.folder), "--test", str(path)]) == 0
    rows = capsys.readouterr().out.split("\n")
    assert [bool(row) for row in rows] == [True, False, False, True, True, False]
    assert float(rows[0]) == pytest.approx(model_in(model).score(["The red"])[0].log_probability, abs=CLOSE)


@every_language_model
@pytest.mark.parametrize(
    ("content", "why"), [(b"a\nbr\xffken\n", "in.txt:2: not UTF-8"), (b"a\0b\n", "in.txt:1: NUL"), (b"", "")]
)
def test_bad_files_are_one_line_or_are_skipped(
    model: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, why: str
) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(content)
    assert main(["score", str(model.folder), "--test", str(path)]) == (2 if why else 0)
    shown = capsys.readouterr()
    assert why in shown.err
    assert len(shown.err.splitlines()) == bool(why)
    assert main(["score", str(model.folder), "--test", str(path), "--on-bad-line", "skip"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == content.count(b"\n")
    if not content:
        assert main(["evaluate", str(model.folder), "--test", str(path)]) == 2
        assert "no line with text" in capsys.readouterr().err


@every_language_model
def test_what_it_cannot_do_is_told_with_what_it_can(
    model: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str], model_of: Callable[[str], Trained]
) -> None:
    folder, dictionary = str(model.folder), str(model_of("dictionary").folder)
    for command, why in (
        (["translate", folder], f"is of the kind {model.kind}, which does not translate; it has: generate, evaluate"),
        (["generate", dictionary], "is of the kind dictionary, which does not generate; it has: translate, evaluate"),
        (["evaluate", folder, "--test", "x", "--beam", "2"], "evaluated on a text: --beam would be dropped"),
        (["score", folder, "--test", "x", "--alpha", "1"], "--alpha would be dropped"),
        (["export", folder, str(tmp_path / "out"), "--to", "ctranslate2"], "cannot be exported"),
        (["doctor", folder, "--test", "x"], "--test would be dropped"),
    ):
        assert main(command) == 2, command
        shown = capsys.readouterr().err
        assert why in shown
        assert len(shown.splitlines()) == 1


@every_language_model
def test_info_and_doctor_say_what_is_true_of_it(
    model: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(model.folder)]) == 0
    assert "pieces" in capsys.readouterr().out
    strange = tmp_path / "strange.txt"
    strange.write_text("ⵣⵣ ⵣⵣⵣ ⵣ\n" * 5, encoding="utf-8")
    assert main(["doctor", str(model.folder), "--text", str(strange)]) == 0
    told = capsys.readouterr().out
    assert "dev perplexity" in told
    assert "warning: 100.00% of" in told


@every_language_model
def test_figures_as_json_are_those_of_the_text(
    model: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "test.txt"
    path.write_text("".join(f"{line}\n" for line in TEXT.files[0]), encoding="utf-8")
    assert main(["evaluate", str(model.folder), "--test", str(path), "--json", "--quiet"]) == 0

    table = json.loads(capsys.readouterr().out)
    figures = model_in(model).evaluate(open_text([str(path)]))
    assert table["bits_per_character"] == pytest.approx(figures.bits_per_character)
    assert table["tokens"] == figures.tokens
