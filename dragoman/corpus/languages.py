"""Do two language codes mean the same language?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from dragoman.contracts import UserError
from dragoman.corpus.compression import without_compression

_SIMPLIFIED, _TRADITIONAL = "Hans", "Hant"
_CHINESE_REGIONS = {"CN": _SIMPLIFIED, "SG": _SIMPLIFIED, "TW": _TRADITIONAL, "HK": _TRADITIONAL, "MO": _TRADITIONAL}
_OLD_CODES = {"cmn": "zh", "iw": "he", "in": "id", "ji": "yi"}
_SCRIPT_NAMES = {"latin": "Latn", "cyrillic": "Cyrl", "chs": _SIMPLIFIED, "cht": _TRADITIONAL}
_WELL_FORMED = re.compile(r"[A-Za-z]{2,8}([-_@][A-Za-z0-9]{1,8})*(\.[A-Za-z0-9-]+)?")
_SUFFIX = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?")
# Suffixes of two or three letters that name a kind of file, not a language.
_NO_LANGUAGES = re.compile(
    "bak|bin|bpe|bz2|cfg|csv|dat|dev|dix|doc|git|gz|htm|hyp|idx|ini|key|lex|lm|log|lst|md|mo|new|npy|odt|old|out|par|"
    "pdf|po|pot|py|raw|ref|rst|sgm|sh|spm|src|srt|sql|sys|tar|tgt|tmp|tmx|tok|trg|tsv|tst|txt|vec|voc|xlf|xls|xml|xz|"
    "yml|zip|zst"
)


@dataclass(frozen=True, slots=True)
class Language:
    """A code in parts: language `zh`, script `Hans` or "", region `CN` or ""."""

    language: str
    script: str
    region: str

    def __str__(self) -> str:
        return "-".join(part for part in (self.language, self.script, self.region) if part)


def parse_language(code: str) -> Language:
    """Read `zh_CN`, `zh-Hans`, `ZH-cn`, `sr@latin`, `de_DE.UTF-8`; Chinese always gets its script."""
    language, *rest = re.split(r"[-_@]", code.strip().partition(".")[0])
    script = region = ""
    for part in rest:
        if part.lower() in _SCRIPT_NAMES:
            script = _SCRIPT_NAMES[part.lower()]
        elif len(part) == 4 and part.isalpha():
            script = part.title()
        elif re.fullmatch(r"[A-Za-z]{2}|[0-9]{3}", part):
            region = part.upper()
    language = _OLD_CODES.get(language.lower(), language.lower())
    if language == "zh" and not script:
        script = _CHINESE_REGIONS.get(region, _SIMPLIFIED)
    return Language(language, script, region)


def same_language(code: str, wanted: str) -> bool:
    """Whether text marked `code` may stand for `wanted`: case and `_` aside, en-GB ~ en both ways.

    Other regions or scripts are other languages. zh is zh, zh-Hans, zh-CN or zh-SG; Traditional
    Chinese (zh-Hant, zh-TW, zh-HK, zh-MO) is never taken for it.

    >>> same_language("zh_CN", "zh"), same_language("zh-TW", "zh"), same_language("en", "en-GB")
    (True, False, True)
    """
    return closeness(code, wanted) > 0


@lru_cache(4096)
def closeness(code: str, wanted: str) -> int:
    """2: the same code; 1: the same language, more or less closely described; 0: another."""
    one, other = parse_language(code), parse_language(wanted)
    if not one.language or one.language != other.language:
        return 0
    if one == other:
        return 2
    scripts_agree = one.script == other.script or not one.script or not other.script
    regions_agree = one.region == other.region or not one.region or not other.region
    return int(scripts_agree and regions_agree)


def language_key(code: str) -> str:
    """The code without its region: `en` of en-GB, `zh` of zh-CN, `zh-Hant` of zh-TW."""
    parsed = parse_language(code)
    script = "" if (parsed.language, parsed.script) == ("zh", _SIMPLIFIED) else parsed.script
    return str(Language(parsed.language, script, ""))


def orientation(first: str, second: str, source: str, target: str, assumed: str = "") -> tuple[bool, str]:
    """Whether a file in these two languages is to be turned round for source and target, and which one is not wanted.

    A language that the file does not say is ""; assumed: what its first one is then likely to be.

    >>> orientation("en", "de", "de", "en"), orientation("en", "de", "en", "fr"), orientation("en", "", "de", "en")
    ((True, ''), (False, 'de'), (True, ''))
    """
    if second:
        fits_source, fits_target = (closeness(second, wanted) for wanted in (source, target))
        if not fits_source and not fits_target:
            return False, second
        turned = fits_source > fits_target
    else:
        turned = closeness(first or assumed, target) > closeness(first or assumed, source)
    return turned, first if first and not closeness(first, target if turned else source) else ""


def language_of_suffix(path: str) -> str | None:
    """The language that a file's name ends in: `en` of train.en, train.en.xz and train.en.txt."""
    name = without_compression(PurePath(path).name).removesuffix(".txt")
    stem, dot, suffix = name.rpartition(".")
    return suffix if stem and dot and names_language(suffix) else None


def names_language(word: str) -> bool:
    """Whether a short word (a suffix, a column's name) is likely to stand for a language: en, yor, pt_BR, not txt."""
    return _SUFFIX.fullmatch(word) is not None and not _NO_LANGUAGES.fullmatch(word.lower())


def is_language(code: str) -> bool:
    """Whether a text has the form of a language code."""
    return _WELL_FORMED.fullmatch(code) is not None


def check_language(code: str) -> str:
    """The code itself; UserError when it is none."""
    if not is_language(code):
        raise UserError(f"{code!r} is not a language code (such as en, zh or pt-BR)")
    return code
