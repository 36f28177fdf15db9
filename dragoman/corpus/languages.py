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
# ISO 639: codes of three letters (and old ones) of languages that have a code of two.
_CODES = """
aar aa, abk ab, afr af, aka ak, alb sq, amh am, ara ar, arb ar, arg an, arm hy, asm as, ava av, ave ae, aym ay,
aze az, azj az, bak ba, bam bm, baq eu, bel be, ben bn, bih bh, bis bi, bod bo, bos bs, bre br, bul bg, bur my,
cat ca, ces cs, cha ch, che ce, chi zh, chu cu, chv cv, cmn zh, cor kw, cos co, cre cr, cym cy, cze cs, dan da,
deu de, div dv, dut nl, dzo dz, ekk et, ell el, eng en, epo eo, est et, eus eu, ewe ee, fao fo, fas fa, fij fj,
fin fi, fra fr, fre fr, fry fy, ful ff, geo ka, ger de, gla gd, gle ga, glg gl, glv gv, gre el, grn gn, gug gn,
guj gu, hat ht, hau ha, heb he, her hz, hin hi, hmo ho, hrv hr, hun hu, hye hy, ibo ig, ice is, ido io, iii ii,
iku iu, ile ie, ina ia, ind id, ipk ik, isl is, ita it, jav jv, jpn ja, kal kl, kan kn, kas ks, kat ka, kau kr,
kaz kk, khk mn, khm km, kik ki, kin rw, kir ky, kom kv, kon kg, kor ko, kua kj, kur ku, kmr ku, lao lo, lat la,
lav lv, lvs lv, lim li, lin ln, lit lt, ltz lb, lub lu, lug lg, mac mk, mah mh, mal ml, mao mi, mar mr, may ms,
mkd mk, mlg mg, plt mg, mlt mt, mon mn, mri mi, msa ms, zsm ms, mya my, nau na, nav nv, nbl nr, nde nd, ndo ng,
nep ne, npi ne, nld nl, nno nn, nob nb, nor no, nya ny, oci oc, oji oj, ori or, ory or, orm om, gaz om, oss os,
pan pa, per fa, pes fa, pli pi, pol pl, por pt, pus ps, pbt ps, que qu, quy qu, roh rm, ron ro, rum ro, run rn,
rus ru, sag sg, san sa, sin si, slk sk, slo sk, slv sl, sme se, smo sm, sna sn, snd sd, som so, sot st, spa es,
sqi sq, als sq, srd sc, srp sr, ssw ss, sun su, swa sw, swh sw, swe sv, tah ty, tam ta, tat tt, tel te, tgk tg,
tgl tl, tha th, tib bo, tir ti, ton to, tsn tn, tso ts, tuk tk, tur tr, twi tw, uig ug, ukr uk, urd ur, uzb uz,
uzn uz, ven ve, vie vi, vol vo, wel cy, wln wa, wol wo, xho xh, yid yi, ydd yi, yor yo, zha za, zho zh, zul zu, iw he,
in id, ji yi
"""
_OTHER_CODES = dict(row.split() for row in _CODES.split(","))
_SCRIPT_NAMES = {"latin": "Latn", "cyrillic": "Cyrl", "chs": _SIMPLIFIED, "cht": _TRADITIONAL}
_WELL_FORMED = re.compile(r"[A-Za-z]{2,8}([-_@][A-Za-z0-9]{1,8})*(\.[A-Za-z0-9-]+)?")
_SUFFIX = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?")
# Suffixes of two or three letters that name a kind of file, not a language.
_NO_LANGUAGES = re.compile(
    "abc|asm|bak|bin|bpe|bz2|cfg|cpp|css|csv|dat|dev|dix|doc|git|go|gz|hpp|htm|hyp|idx|ini|js|jsx|key|lex|lm|log|lst|"
    "md|mo|new|npy|odt|old|out|par|pdf|php|po|pot|py|raw|rb|ref|rs|rst|sgm|sh|spm|sql|src|srt|sys|tar|tex|tgt|tmp|tmx|"
    "tok|trg|tsv|tst|tsx|txt|vec|voc|xlf|xls|xml|xz|yml|zip|zst"
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
    """Read `zh_CN`, `zh-Hans`, `ZH-cn`, `sr@latin`, `de_DE.UTF-8`, `zho`; Chinese always gets its script."""
    language, *rest = re.split(r"[-_@]", code.strip().partition(".")[0])
    script = region = ""
    for part in rest:
        if part.lower() in _SCRIPT_NAMES:
            script = _SCRIPT_NAMES[part.lower()]
        elif len(part) == 4 and part.isalpha():
            script = part.title()
        elif re.fullmatch(r"[A-Za-z]{2}|[0-9]{3}", part):
            region = part.upper()
    language = _OTHER_CODES.get(language.lower(), language.lower())
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


def is_known(code: str) -> bool:
    """Whether a code has two letters in ISO 639, or three that stand for two of those: not every short word is one."""
    primary = re.split(r"[-_@.]", code)[0].lower()
    return primary in _OTHER_CODES or primary in _OTHER_CODES.values()


def is_language(code: str) -> bool:
    """Whether a text has the form of a language code."""
    return _WELL_FORMED.fullmatch(code) is not None


def check_language(code: str) -> str:
    """The code itself; UserError when it is none. Names (German) are no codes."""
    primary = re.split(r"[-_@.]", code)[0]
    if not is_language(code) or (len(primary) > 3 and primary.lower() not in _OTHER_CODES):
        raise UserError(f"{code!r} is not a language code (such as en, zh or pt-BR)")
    return code
