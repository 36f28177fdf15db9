"""Language codes: the same language or not, and what file names tell."""

from __future__ import annotations

import pytest

from dragoman.contracts import UserError
from dragoman.corpus.languages import check_language, closeness, language_key, language_of_suffix, same_language

SIMPLIFIED = ("zh", "zh-Hans", "zh_CN", "ZH-cn", "zh-SG", "zh-Hans-CN", "zh-CHS", "cmn")
TRADITIONAL = ("zh-Hant", "zh_TW", "zh-HK", "zh-MO", "ZH-HANT-TW", "zh-CHT")


@pytest.mark.parametrize("code", SIMPLIFIED)
def test_simplified_chinese(code: str) -> None:
    assert same_language(code, "zh")
    assert same_language(code, "zh-Hans")
    assert not any(same_language(code, wanted) for wanted in TRADITIONAL)


@pytest.mark.parametrize("code", TRADITIONAL)
def test_traditional_chinese(code: str) -> None:
    assert same_language(code, "zh-Hant")
    assert not any(same_language(code, wanted) for wanted in SIMPLIFIED)


@pytest.mark.parametrize(
    ("code", "wanted", "expected"),
    [
        ("en-GB", "en", True),
        ("en", "en-GB", True),
        ("en_gb", "EN-GB", True),
        ("en-US", "en-GB", False),
        ("pt-BR", "pt-PT", False),
        ("zh-CN", "zh-SG", False),
        ("sr@latin", "sr-Latn", True),
        ("sr-Latn", "sr-Cyrl", False),
        ("sr", "sr-Cyrl", True),
        ("de_DE.UTF-8", "de", True),
        ("es-419", "es", True),
        ("de", "en", False),
        ("", "", False),
        ("iw", "he", True),
    ],
)
def test_same_language(code: str, wanted: str, expected: bool) -> None:
    assert same_language(code, wanted) is expected
    assert same_language(wanted, code) is expected


def test_the_same_code_is_closer() -> None:
    assert [closeness(code, "en-GB") for code in ("EN_gb", "en", "en-US")] == [2, 1, 0]


def test_keys_have_no_region() -> None:
    codes = ("en-GB", "zh_CN", "zh", "zh-Hans", "zh-TW", "pt-BR", "sr@latin")
    assert [language_key(code) for code in codes] == ["en", "zh", "zh", "zh", "zh-Hant", "pt", "sr-Latn"]


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("train.en", "en"),
        ("a.b/train.zh", "zh"),
        ("train.en.gz", "en"),
        ("train.en.zst", "en"),
        ("train.en.txt.XZ", "en"),
        ("train.bz2", None),
        ("emoji.sv.txt", "sv"),
        ("train.yor", "yor"),
        ("x.zh-Hant", "zh-Hant"),
        ("x.pt_BR.txt.gz", "pt_BR"),
        ("train.txt", None),
        ("train.src", None),
        ("memory.tmx", None),
        ("train", None),
        (".en", None),
        ("v1.2", None),
        ("README.md", None),
        ("<stdin>", None),
    ],
)
def test_language_of_suffix(name: str, language: str | None) -> None:
    assert language_of_suffix(name) == language


def test_codes_are_checked() -> None:
    assert check_language("zh-Hant") == "zh-Hant"
    for wrong in ("", "e", "../en", "en zh", "-en", "1"):
        with pytest.raises(UserError, match="is not a language code"):
            check_language(wrong)
