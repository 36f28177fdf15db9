"""In which language is a text, as far as signs tell?"""

from __future__ import annotations

from functools import cache
from typing import Any

# Languages that a guess by signs does not tell from each other.
_ALIKE = ({"zh", "wuu", "yue"}, {"no", "nb", "nn"}, {"hr", "bs", "sr", "sh"}, {"id", "ms"})


def guessed(text: str) -> str:
    """The code of the likeliest language; zh for all that is written in Chinese."""
    code: str = _identifier().classify(text)[0]
    return "zh" if code in alike("zh") else code


def likelihood(text: str, language: str) -> float:
    """How likely the text is in a language, 0 to 1; 1 for a language that the guess does not know."""
    if not is_known(language):
        return 1.0
    codes = alike(language)
    return float(sum(share for code, share in _identifier().rank(text) if code in codes))


def is_known(language: str) -> bool:
    """Whether a guess can be this language."""
    return bool(alike(language) & _known())


def alike(language: str) -> frozenset[str]:
    """The languages that count as this one."""
    return frozenset(next((codes for codes in _ALIKE if language in codes), {language}))


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # loads its model

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@cache
def _known() -> frozenset[str]:
    return frozenset(_identifier().labels)
