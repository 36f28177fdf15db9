"""A kind of translator small enough to see through: it learns a number a step, and keeps a state."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass as plain_dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field
from pydantic.dataclasses import dataclass

from dragoman.contracts import (
    Ability,
    Bitext,
    DataKind,
    Hypothesis,
    Interrupted,
    Progress,
    Request,
    SearchOptions,
    SentencePair,
    Translation,
    UserError,
    Work,
)
from dragoman.durations import Duration


@dataclass(frozen=True)
class Shape:
    """What it looks like."""

    width: int = Field(default=4, ge=1, le=64, description="numbers in a row")
    heads: int = Field(default=2, ge=1, description="must divide the width")
    units: Literal["words", "signs"] = Field(default="words", description="what is counted")
    dropout: float = Field(default=0.1, ge=0, lt=1, description="share left out")
    name: str = Field(default="plain", description='free text, "quoted" or not')
    sizes: tuple[int, ...] = Field(default=(1, 2), description="some sizes")

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"heads={self.heads} does not divide width={self.width}")


@dataclass(frozen=True)
class Steps:
    """How long it learns."""

    max_updates: int = Field(default=10, ge=1, description="updates in all")
    max_epochs: int | None = Field(default=None, ge=1, description="passes over the data; none = as many as it takes")
    time_budget: Duration = Field(default=0.0, ge=0, description="wall-clock time; 0s = no budget")
    pause: Duration | None = Field(default=None, description="sleep in each step")
    dropout: float = Field(default=0.2, ge=0, lt=1, description="another one")
    save_every: int = Field(default=1, ge=1, description="updates between states")


@dataclass(frozen=True)
class Fake:
    """Learns by adding up digests of the pairs."""

    kind: ClassVar[str] = "fake"
    data: ClassVar[DataKind] = DataKind.BITEXT
    product: ClassVar[str] = "tests.system.fake:FakeTranslator"
    several_processes: ClassVar[bool] = False
    limits: ClassVar[tuple[str, ...]] = ("training.max_updates", "training.max_epochs", "training.time_budget")

    shape: Shape = Field(default_factory=Shape)
    training: Steps = Field(default_factory=Steps)
    shout: bool = Field(default=True, description="answer in capitals")

    def train(self, train: Bitext, dev: Bitext | None, work: Work) -> FakeTranslator:
        state_file = work.folder / "state.json"
        fresh = {"updates": 0, "epochs": 0, "seconds": 0.0, "sum": work.start.total if work.start else 0}
        state: dict[str, Any] = json.loads(state_file.read_text()) if state_file.exists() else fresh
        pairs = [] if work.finish else list(train)
        while not work.finish and not self.is_done(state):
            pair = pairs[state["updates"] % len(pairs)]
            state["updates"] += 1
            state["epochs"] = state["updates"] // len(pairs)
            state["sum"] = digest(f"{state['sum']} {work.seed} {pair.source} {pair.target}")
            work.report(Progress("training", state["updates"], values={"loss": 1 / state["updates"]}))
            work.report(Progress("dev", state["updates"], values={"bleu": float(state["updates"])}))
            stop = work.stop()
            if stop or state["updates"] % self.training.save_every == 0 or self.is_done(state):
                aside = state_file.with_suffix(".part")
                aside.write_text(json.dumps(state))
                os.replace(aside, state_file)
            if stop:
                raise Interrupted
            time.sleep(self.training.pause or 0)
        return FakeTranslator(train.source_language, train.target_language, state["sum"], self.shape.units)

    def is_done(self, state: Mapping[str, Any]) -> bool:
        epochs = self.training.max_epochs
        return state["updates"] >= self.training.max_updates or bool(epochs and state["epochs"] >= epochs)


@plain_dataclass(frozen=True)
class FakeTranslator:
    """Answers with the text in capitals and the number it learnt."""

    source_language: str
    target_language: str
    total: int
    units: str
    kind: str = "fake"
    abilities: frozenset[Ability] = frozenset()

    def translate(
        self, requests: Sequence[str | Request], options: SearchOptions = SearchOptions()
    ) -> list[Translation]:
        texts = [request.text if isinstance(request, Request) else request for request in requests]
        return [Translation(text, (), (Hypothesis(f"{text.upper()} {self.total}"),)) for text in texts]

    def save(self, folder: Path) -> None:
        (folder / "text").mkdir(parents=True)
        (folder / "text" / f"{self.units}.json").write_text(json.dumps([self.source_language, self.target_language]))
        (folder / "weights.json").write_text(json.dumps([self.total, self.units]))

    @classmethod
    def load(cls, folder: Path, device: str = "cpu") -> Self:
        if device not in ("cpu", "auto"):
            raise UserError(f"no device {device!r}")
        total, units = json.loads((folder / "weights.json").read_text())
        source, target = json.loads((folder / "text" / f"{units}.json").read_text())
        return cls(source, target, total, units)

    def describe(self) -> Mapping[str, object]:
        return {"parameters": 1}


@plain_dataclass(frozen=True)
class Pairs:
    """A bitext in memory."""

    texts: tuple[tuple[str, str], ...]
    source_language: str = "en"
    target_language: str = "zh"

    @property
    def fingerprint(self) -> str:
        return str(digest(repr((self.texts, self.source_language, self.target_language))))

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[SentencePair]:
        return (SentencePair(source, target) for source, target in self.texts)


TRAIN = Pairs(tuple((f"word {i}", f"字{i}") for i in range(7)))
DEV = Pairs((("one", "一"), ("two", "二")))
FAKE = Fake()


def digest(text: str) -> int:
    """53 bits that any JSON reader keeps exactly."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 11
