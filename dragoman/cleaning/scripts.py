"""In which scripts is a language written, and which of them have no spaces between words?"""

from __future__ import annotations

from dragoman.corpus.languages import parse_language

SCRIPTS = (
    "Latin",
    "Han",
    "Hiragana",
    "Katakana",
    "Hangul",
    "Bopomofo",
    "Cyrillic",
    "Greek",
    "Armenian",
    "Georgian",
    "Arabic",
    "Hebrew",
    "Syriac",
    "Thaana",
    "Devanagari",
    "Bengali",
    "Gurmukhi",
    "Gujarati",
    "Oriya",
    "Tamil",
    "Telugu",
    "Kannada",
    "Malayalam",
    "Sinhala",
    "Thai",
    "Lao",
    "Khmer",
    "Myanmar",
    "Tibetan",
    "Ethiopic",
    "Cherokee",
    "Mongolian",
    "Nko",
    "Tifinagh",
    "Ol_Chiki",
    "Canadian_Aboriginal",
)
"""Of letters and the marks on them, by their Unicode names. Letters of any other script are OTHER, marks and joiners
that several scripts share are MARK."""

UNSPACED = {
    "Han": 1.5,
    "Hiragana": 2.0,
    "Katakana": 3.5,
    "Bopomofo": 3.0,
    "Thai": 4.5,
    "Lao": 4.5,
    "Khmer": 5.0,
    "Myanmar": 5.0,
    "Tibetan": 4.0,
}
"""Written without a space between words: each letter is a unit of length. Letters and marks of a word, about."""

# Scripts of languages that are not (only) written in Latin letters; a script in the code (sr-Latn) comes first.
_SCRIPTS_OF = {
    script: languages.split()
    for script, languages in {
        "Cyrillic": "ab av ba be bg bua ce chm crh cv kbd kk kum ky lez mk mn myv os rue ru sah sr tg tt tyv udm uk",
        "Greek": "el grc",
        "Armenian": "hy hyw",
        "Georgian": "ka xmf",
        "Arabic": "ar arz ary azb ckb fa glk ks lrc mzn ps sd skr ug ur",
        "Hebrew": "he yi lad",
        "Syriac": "arc syr",
        "Thaana": "dv",
        "Devanagari": "awa bho brx doi gom hi kok mai mr ne new sa",
        "Bengali": "as bn bpy mni",
        "Gurmukhi": "pa",
        "Gujarati": "gu",
        "Oriya": "or",
        "Tamil": "ta",
        "Telugu": "te",
        "Kannada": "kn tcy",
        "Malayalam": "ml",
        "Sinhala": "si",
        "Thai": "th",
        "Lao": "lo",
        "Khmer": "km",
        "Myanmar": "my shn mnw",
        "Tibetan": "bo dz",
        "Ethiopic": "am ti gez",
        "Cherokee": "chr",
        "Nko": "nqo",
        "Tifinagh": "zgh",
        "Ol_Chiki": "sat",
        "Canadian_Aboriginal": "iu cr",
    }.items()
}
_SEVERAL = {
    "zh": ("Han", "Bopomofo"),
    "yue": ("Han", "Bopomofo"),
    "wuu": ("Han",),
    "gan": ("Han",),
    "hak": ("Han", "Latin"),
    "nan": ("Han", "Latin"),
    "lzh": ("Han",),
    "ja": ("Han", "Hiragana", "Katakana"),
    "ko": ("Hangul", "Han"),
    **dict.fromkeys(("sr", "bs", "uz", "az", "tk", "crh", "ro"), ("Cyrillic", "Latin")),
    "kk": ("Cyrillic", "Latin", "Arabic"),
    "ky": ("Cyrillic", "Arabic"),
    "tt": ("Cyrillic", "Latin"),
    "mn": ("Cyrillic", "Mongolian"),
    "ku": ("Latin", "Arabic"),
    "pa": ("Gurmukhi", "Arabic"),
    "sd": ("Arabic", "Devanagari"),
    "ks": ("Arabic", "Devanagari"),
    "ms": ("Latin", "Arabic"),
    "ha": ("Latin", "Arabic"),
    "iu": ("Canadian_Aboriginal", "Latin"),
    "mni": ("Bengali", "Latin"),
}
_BY_CODE = {
    "Latn": ("Latin",),
    "Cyrl": ("Cyrillic",),
    "Arab": ("Arabic",),
    "Deva": ("Devanagari",),
    "Mong": ("Mongolian",),
    "Grek": ("Greek",),
    "Hebr": ("Hebrew",),
    "Beng": ("Bengali",),
    "Guru": ("Gurmukhi",),
    "Tibt": ("Tibetan",),
    "Cans": ("Canadian_Aboriginal",),
    "Tfng": ("Tifinagh",),
}


def scripts_of(language: str) -> tuple[str, ...]:
    """The scripts that a language is written in: Latin where nothing else is known of a code of two letters; of a code
    of three letters nobody knows, and it may be any.

    >>> scripts_of("zh-TW"), scripts_of("ru"), scripts_of("sr-Latn"), scripts_of("yo"), scripts_of("xyz") == SCRIPTS
    (('Han', 'Bopomofo'), ('Cyrillic',), ('Latin',), ('Latin',), True)
    """
    parsed = parse_language(language)
    if parsed.script in _BY_CODE:
        return _BY_CODE[parsed.script]
    if parsed.language in _SEVERAL:
        return _SEVERAL[parsed.language]
    unknown = ("Latin",) if len(parsed.language) == 2 else SCRIPTS
    return next(((script,) for script, languages in _SCRIPTS_OF.items() if parsed.language in languages), unknown)
