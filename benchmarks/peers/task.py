"""What is every peer given to translate, and what does it hand back?

A folder: task.json (shape of the network, search, pieces, sources as pieces), weights.pt (our names). Each peer puts
the same weights on its own network and writes its outputs and seconds to a file there. Runs in the peer's own
environment, so nothing of Dragoman is imported.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

Sentences = Sequence[Sequence[int]]
"""Piece ids of each sentence."""


@dataclass(frozen=True)
class Task:
    """A pre-norm Transformer with a joint vocabulary, and sentences for it. cap: output pieces at most.

    batches: sizes to try, in sentences, on the first `tried` of them; the fastest one then does all, `times` times.
    """

    width: int
    inner: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    padding: int
    unknown: int
    start: int
    end: int
    beam: int
    alpha: float
    cap: int
    batches: list[int]
    tried: int
    times: int
    threads: int
    pieces: list[str] = field(repr=False)
    sources: list[list[int]] = field(repr=False)

    @classmethod
    def read(cls, folder: str) -> Task:
        return cls(**json.loads((Path(folder) / "task.json").read_text(encoding="utf-8")))

    def write(self, folder: Path) -> None:
        (folder / "task.json").write_text(json.dumps(asdict(self)), encoding="utf-8")

    def do(self, folder: str, name: str, translate: Callable[[Sentences, int], Sentences]) -> None:
        """Measure translate(sources, batch) -> outputs without end pieces; write NAME.json."""
        found = measured(translate, self.sources, self.batches, self.tried, self.times)
        (Path(folder) / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")


Source = TypeVar("Source")


def measured(
    translate: Callable[[Sequence[Source], int], Sentences],
    sources: Sequence[Source],
    batches: Sequence[int],
    tried: int,
    times: int,
) -> dict[str, Any]:
    """Wall-clock seconds of `times` runs with the batch size that is fastest on the first `tried` sources."""

    def seconds(part: Sequence[Source], batch: int) -> tuple[float, Sentences]:
        began = time.perf_counter()
        outputs = translate(part, batch)
        return time.perf_counter() - began, outputs

    load = os.getloadavg()[0]
    translate(sources[:8], batches[0])  # warms up
    taken = {batch: seconds(sources[:tried], batch)[0] for batch in batches}
    best = min(taken, key=lambda batch: taken[batch])
    runs = [seconds(sources, best) for _ in range(times)]
    return {
        "batch": best,
        "tried": taken,
        "seconds": [each for each, _ in runs],
        "outputs": [list(output) for output in runs[-1][1]],
        "load": [load, os.getloadavg()[0]],
    }


def by_length(sources: Sentences, batch: int, translate: Callable[[Sentences], Sentences]) -> list[Sequence[int]]:
    """Translate in batches of so many sentences of like length, the longest first; the outputs in the old order."""
    order = sorted(range(len(sources)), key=lambda index: -len(sources[index]))
    outputs: dict[int, Sequence[int]] = {}
    for begin in range(0, len(order), batch):
        indices = order[begin : begin + batch]
        outputs |= zip(indices, translate([sources[index] for index in indices]), strict=True)
    return [outputs[index] for index in range(len(sources))]


def padded(sources: Sentences, end: int, padding: int) -> list[list[int]]:
    """Rows of one length, each with an end piece."""
    longest = max(map(len, sources)) + 1
    return [[*source, end, *[padding] * (longest - len(source) - 1)] for source in sources]


def cut(row: Sequence[int], end: int) -> list[int]:
    """What stands before the end piece."""
    pieces = list(row)
    return pieces[: pieces.index(end)] if end in pieces else pieces


def read_weights(folder: str) -> dict[str, Any]:
    """Our tensors by our names."""
    import torch

    weights: dict[str, Any] = torch.load(Path(folder) / "weights.pt")
    return weights


def places(theirs: str, ours: str, pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Their name of each weight and bias by our name; pairs: our module and theirs, "" being `ours` itself."""
    return {
        f"{ours}.{mine}.{part}".replace("..", "."): f"{theirs}.{other}.{part}"
        for mine, other in pairs
        for part in ("weight", "bias")
    }


def split_keys(weights: dict[str, Any]) -> dict[str, Any]:
    """Keys and values in two matrices, as all peers have them."""
    found = {}
    for name, tensor in weights.items():
        if ".key_value." in name:
            for part, half in zip(("key", "value"), tensor.chunk(2), strict=True):
                found[name.replace("key_value", part)] = half
        else:
            found[name] = tensor
    return found
