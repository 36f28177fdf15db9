"""Which kinds are there, and which ready recipes?

A new kind is one row in KINDS (its Recipe class) and a row in PRESETS for each ready recipe. Classes and
recipes are named as "module:name" and imported when asked for, so that a look at the table costs nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pkgutil import resolve_name
from typing import Any, NamedTuple

from dragoman.contracts import Recipe, Unsettled, UserError

KINDS: dict[str, str] = {
    "transformer": "dragoman.neural.recipes:TransformerRecipe",
    "transformer-auto": "dragoman.neural.recipes:AutoTransformerRecipe",
    "rnn": "dragoman.neural.recipes:RecurrentRecipe",
    "rnn-auto": "dragoman.neural.recipes:AutoRecurrentRecipe",
    "rnn-fixed": "dragoman.neural.recipes:FixedVectorRecipe",
    "dictionary": "dragoman.phrases.recipes:Dictionary",
    "rnn-lm": "dragoman.neural.lm_recipes:RecurrentLanguageRecipe",
    "transformer-lm": "dragoman.neural.lm_recipes:CausalRecipe",
    "mlp-lm": "dragoman.neural.lm_recipes:WindowRecipe",
    "ngram": "dragoman.lm.recipes:NgramRecipe",
    "aligner-ibm1": "dragoman.alignment.recipes:Ibm1",
    "aligner-ibm2": "dragoman.alignment.recipes:Ibm2",
    "aligner-hmm": "dragoman.alignment.recipes:Hmm",
    "aligner-ibm3": "dragoman.alignment.recipes:Ibm3",
    "aligner-fast": "dragoman.alignment.recipes:Fast",
    "aligner-best": "dragoman.alignment.recipes:Best",
}

# What runs models that `export` made for it: no recipe leads there, only a trained model.
ENGINES: dict[str, str] = {"ctranslate2": "dragoman.neural.exported:ExportedTranslator"}

# (kind, engine): writes a model of that kind down for that engine.
EXPORTERS: dict[tuple[str, str], str] = {
    ("transformer", "ctranslate2"): "dragoman.neural.exporting:write_ctranslate2",
}


# What models are for: a method of the product, and the command that calls it. All have `info`, all can be evaluated.
VERBS: tuple[str, ...] = ("translate", "generate", "align")


class Preset(NamedTuple):
    """recipe: its "module:name". about: what it is and when to take it, in one line."""

    recipe: str
    about: str


PRESETS: dict[str, Preset] = {
    "transformer-auto": Preset(
        "dragoman.neural.recipes:AUTO", "a Transformer made to measure: for the corpus, this machine and --time-budget"
    ),
    "transformer-tiny": Preset(
        "dragoman.neural.recipes:TINY", "a Transformer 128 wide: for minutes on a laptop, or a few thousand pairs"
    ),
    "transformer-small": Preset("dragoman.neural.recipes:SMALL", "a Transformer 256 wide: for hours on a laptop"),
    "transformer-base": Preset(
        "dragoman.neural.recipes:BASE", "the Transformer of the paper, 512 wide: for a GPU and many pairs"
    ),
    "rnn-auto": Preset(
        "dragoman.neural.recipes:RECURRENT_AUTO", "LSTMs with attention, made to measure in the same way"
    ),
    "rnn-luong": Preset(
        "dragoman.neural.recipes:LUONG", "LSTMs that ask the source after each step (Luong et al. 2015)"
    ),
    "rnn-bahdanau": Preset(
        "dragoman.neural.recipes:BAHDANAU", "GRUs that ask the source before each step (Bahdanau et al. 2015)"
    ),
    "rnn-fixed": Preset(
        "dragoman.neural.recipes:FIXED", "LSTMs that write from one state, the source read (Sutskever et al. 2014)"
    ),
    "dictionary": Preset(
        "dragoman.phrases.recipes:DICTIONARY",
        "word for word, learnt by counting in seconds; a network has to beat it",
    ),
    "rnn-lm": Preset(
        "dragoman.neural.lm_recipes:RECURRENT", "a language model of characters: an LSTM that carries its state on"
    ),
    "transformer-lm": Preset(
        "dragoman.neural.lm_recipes:CAUSAL", "a language model of characters: a Transformer that looks back 128 of them"
    ),
    "mlp-lm": Preset(
        "dragoman.neural.lm_recipes:WINDOW",
        "a language model without state: the last 16 characters (Bengio et al. 2003)",
    ),
    "ngram": Preset(
        "dragoman.lm.recipes:NGRAM", "a language model of counted words, learnt in seconds (Chen and Goodman 1998)"
    ),
    "aligner-fast": Preset(
        "dragoman.alignment.recipes:FAST",
        "links words in seconds: HMMs of two directions that agree (Liang et al. 2006)",
    ),
    "aligner-best": Preset(
        "dragoman.alignment.recipes:BEST",
        "links words best: then sampled with fertilities (Östling & Tiedemann 2016)",
    ),
    "aligner-ibm1": Preset("dragoman.alignment.recipes:IBM1", "links words by their company alone (Brown et al. 1993)"),
    "aligner-ibm2": Preset("dragoman.alignment.recipes:IBM2", "links words by company and place (Brown et al. 1993)"),
    "aligner-hmm": Preset(
        "dragoman.alignment.recipes:HMM", "links words by company and the place of the word before (Vogel et al. 1996)"
    ),
    "aligner-ibm3": Preset(
        "dragoman.alignment.recipes:IBM3", "links words with fertilities, by hill climbing (Brown et al. 1993)"
    ),
}


# What has choices as a recipe has, and trains nothing.
TOOLS: dict[str, Preset] = {
    "cleaning": Preset(
        "dragoman.cleaning.cleaner:CLEANING", "what `dragoman corpus clean --recipe` leaves out, and from where on"
    ),
}


def recipe_class(kind: str) -> type[Recipe[Any, Any]]:
    """The Recipe class of a kind. UserError where the kind is unknown."""
    if kind in TOOLS:
        raise UserError(f"kind {kind!r} trains nothing: {TOOLS[kind].about}")
    if kind not in KINDS:
        raise UserError(f"no kind {kind!r}{did_you_mean(kind, KINDS)}; there are: {', '.join(KINDS)}")
    found: type[Recipe[Any, Any]] = resolve_name(KINDS[kind])
    return found


def model_kinds(verb: str = "") -> list[str]:
    """The kinds that a model can be of: an unsettled recipe trains one of another kind. verb: those alone whose
    models have it."""
    kinds = [kind for kind in KINDS if not issubclass(recipe_class(kind), Unsettled)]
    return [kind for kind in kinds if not verb or hasattr(product_class(kind), verb)]


def product_class(kind: str) -> Any:
    """The class of what a kind's `train` returns, or of an engine; no learner is imported."""
    return resolve_name(ENGINES[kind] if kind in ENGINES else recipe_class(kind).product)


def recipe_named(name: str) -> Recipe[Any, Any]:
    """The ready recipe of that name. UserError where there is none."""
    if name not in PRESETS:
        hint = did_you_mean(name, PRESETS) or f"; there are: {', '.join(PRESETS)}"
        raise UserError(f"no recipe {name!r}{hint} (a recipe of your own is a path ending in .toml)")
    found: Recipe[Any, Any] = resolve_name(PRESETS[name].recipe)
    return found


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """ "; did you mean 'x'?" for the closest known word, or nothing where none is close."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""
