"""Which tiny model stands for each kind, and how is it trained?

A new kind adds one row to TINY; every test of this folder then holds for it, by what it can.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dragoman.contracts import Ability, DataKind, Recipe, Translator, never
from dragoman.corpus.bitext import ListBitext
from dragoman.corpus.textfiles import ListText
from dragoman.system.catalogue import model_kinds, recipe_class
from dragoman.system.lifecycle import Outcome, train_model
from dragoman.system.settings import with_settings
from dragoman.system.store import load_model
from dragoman.system.stream import kinds_with
from dragoman.system.verbs import own_verb
from dragoman.texts import Generating
from tests.generated import generated_bitext

TINY: dict[str, list[str]] = {
    "transformer": [
        *("text.pieces=400", "model.width=64", "model.inner=128", "model.heads=2"),
        *("model.encoder_layers=1", "model.decoder_layers=1"),
        *("model.dropout=0", "model.attention_dropout=0.1", "model.inner_dropout=0"),
        *("training.max_updates=80", "training.warmup_updates=20", "training.validate_every=40"),
        *("training.learning_rate=5e-3", "training.tokens_per_batch=512", "training.dev_sentences=12"),
    ],
    "transformer-auto": ["max_updates=20"],
    "rnn-auto": ["max_updates=20"],
    "rnn": [
        *("text.pieces=400", "model.embedding=48", "model.width=48", "model.encoder_width=48", "model.dropout=0"),
        *("model.encoder_layers=1", "model.decoder_layers=1"),
        *("model.cell=gru", "model.encoder=bi", "model.score=additive", "search.max_ratio=1"),
        *("training.max_updates=60", "training.warmup_updates=10", "training.validate_every=30"),
        *("training.learning_rate=2e-2", "training.tokens_per_batch=384", "training.dev_sentences=12"),
    ],
    "rnn-fixed": [
        *("text.pieces=400", "model.embedding=48", "model.width=64", "model.encoder_width=64", "model.dropout=0"),
        *("model.encoder_layers=1", "model.decoder_layers=1", "search.max_ratio=1"),
        *("training.max_updates=120", "training.warmup_updates=20", "training.validate_every=60"),
        *("training.learning_rate=2e-2", "training.tokens_per_batch=512", "training.dev_sentences=12"),
    ],
    "dictionary": [],
    "rnn-lm": [
        *("model.embedding=16", "model.width=32", "training.max_updates=60", "training.warmup_updates=10"),
        *("training.validate_every=30", "training.learning_rate=1e-2", "training.window=24"),
        *("training.tokens_per_batch=192", "training.dev_characters=400"),
    ],
    "transformer-lm": [
        *("text.units=unigram", "text.pieces=400", "text.document=line", "model.width=32", "model.inner=64"),
        *("model.heads=2", "model.layers=2", "training.max_updates=60", "training.warmup_updates=10"),
        *("training.validate_every=30", "training.learning_rate=5e-3", "training.tokens_per_batch=256"),
    ],
    "mlp-lm": [
        *("text.units=words", "text.document=block", "model.order=4", "model.embedding=16", "model.width=32"),
        *("model.direct=true", "training.max_updates=60", "training.warmup_updates=10"),
        *("training.validate_every=30", "training.learning_rate=1e-2", "training.tokens_per_batch=256"),
    ],
    "ngram": ["order=3"],
    "aligner-ibm1": [],
    "aligner-ibm2": ["ibm1=3", "ibm2=3"],
    "aligner-hmm": ["ibm1=3", "hmm=3"],
    "aligner-ibm3": ["ibm1=2", "ibm2=2", "ibm3=2"],
    "aligner-fast": [],
    "aligner-best": ["burn=1", "keep=2"],
}

SEED = 7
TRAIN = generated_bitext(400, "en", "zh", seed=1)
DEV = generated_bitext(30, "en", "zh", seed=2)
TEST = generated_bitext(24, "en", "zh", seed=3)
SOURCES = [pair.source for pair in TEST]
PAIRS = [(pair.source, pair.target) for pair in TEST]


def prose(count: int, seed: int) -> ListText:
    """Two files of generated sentences, with a blank line behind every third."""
    lines = [
        line
        for place, pair in enumerate(generated_bitext(count, "en", "de", seed=seed))
        for line in ([pair.source, ""] if place % 3 == 2 else [pair.source])
    ]
    return ListText([lines[: len(lines) // 2], lines[len(lines) // 2 :]], "en")


PROSE = prose(150, seed=1)


@dataclass(frozen=True)
class Data:
    """What kinds of one DataKind learn from. other: not quite the same; few: enough to learn something."""

    languages: tuple[str, ...]
    train: Any
    dev: Any
    other: Any
    few: Any


DATA = {
    DataKind.BITEXT: Data(
        ("en", "zh"), TRAIN, DEV, ListBitext(TRAIN.pairs[1:], "en", "zh"), ListBitext(TRAIN.pairs[:60], "en", "zh")
    ),
    DataKind.TEXT: Data(
        ("en",), PROSE, prose(24, seed=2), ListText([PROSE.files[0], PROSE.files[1][1:]], "en"), prose(60, seed=3)
    ),
}
SAY: dict[str, Callable[[Any], list[str]]] = {
    "translate": lambda product: [translation.text for translation in product.translate(SOURCES)],
    "generate": lambda product: [
        *(one.text for one in product.generate("the ", Generating(longest=20))),
        *(f"{score.log_probability:.4f}" for score in product.score(SOURCES[:5])),
    ],
    "align": lambda product: [str(alignment) for alignment in product.align(PAIRS)],
}
USE = {  # a short use of a product, for a process that knows nothing of these tests
    "translate": f"product.translate({SOURCES[:1]!r})[0].text",
    "generate": f"format(product.score({SOURCES[:1]!r})[0].log_probability, '.2f')",
    "align": f"str(product.align({PAIRS[:1]!r})[0].links)",
}
STEPS_UNTIL_KILLED = 50  # of learners with a limit, which are asked after every step
ASKED_UNTIL_KILLED = 2  # others


def said(product: Any) -> list[str]:
    """What a product does, in words: equal products say the same."""
    return SAY[own_verb(product.kind)](product)


@dataclass(frozen=True)
class Trained:
    """A kind's tiny model: its recipe, the folder that `train` made, and the product loaded from there."""

    kind: str
    recipe: Recipe[Any, Any]
    folder: Path
    product: Any

    @property
    def translator(self) -> Translator:
        """The product of a kind that translates."""
        found: Translator = self.product
        return found

    @property
    def data(self) -> Data:
        """What such kinds learn from."""
        return DATA[self.recipe.data]


def tiny_recipe(kind: str) -> Recipe[Any, Any]:
    """The kind's own defaults with the row of TINY put in."""
    return with_settings(recipe_class(kind)(), TINY[kind])


def train(kind: str, folder: Path, stop: Callable[[], bool] = never) -> Outcome:
    """Train the tiny model of a kind, always with the same data, seed and threads."""
    recipe = tiny_recipe(kind)
    data = DATA[recipe.data]
    return train_model(recipe, data.train, data.dev, folder, seed=SEED, threads=1, stop=stop)


def trained(kind: str, folder: Path) -> Trained:
    """What `train` has put into the folder."""
    return Trained(kind, tiny_recipe(kind), folder, load_model(folder))


every_kind = pytest.mark.parametrize("model", model_kinds(), indirect=True)
every_language_model = pytest.mark.parametrize("model", model_kinds("generate"), indirect=True)
every_translator = pytest.mark.parametrize("model", model_kinds("translate"), indirect=True)


def kinds_that(*abilities: Ability) -> pytest.MarkDecorator:
    """Run a test for each kind of translator that has all these abilities."""
    able = [kind for kind in model_kinds("translate") if all(kind in kinds_with(ability) for ability in abilities)]
    return pytest.mark.parametrize("model", able, indirect=True)


def kinds_without(ability: Ability) -> pytest.MarkDecorator:
    """Run a test for each kind of translator that lacks an ability."""
    unable = [kind for kind in model_kinds("translate") if kind not in kinds_with(ability)]
    return pytest.mark.parametrize("model", unable, indirect=True)


def after(times: int, then: Callable[[], bool]) -> Callable[[], bool]:
    """A `stop` that says no so often, and then what `then` says."""
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > times and then()

    return stop


def train_until_killed(folder: Path, kinds: Sequence[str]) -> bool:
    """In the midst of the training of each kind that of the next one begins; in the midst of the last one the parent
    process is told that the time has come."""
    if not kinds:
        print("here", flush=True)
        signal.pause()
        return False
    first, *others = kinds
    times = STEPS_UNTIL_KILLED if tiny_recipe(first).limits else ASKED_UNTIL_KILLED
    train(first, folder / first, stop=after(times, lambda: train_until_killed(folder, others)))
    raise AssertionError(f"{first} was at its end before it was killed")


if __name__ == "__main__":  # for the test that kills a training process
    train_until_killed(Path(sys.argv[1]), sys.argv[2:])
