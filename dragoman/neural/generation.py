"""How does a trained language model say what it thinks of text, and write some?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Self

import numpy as np
import torch

from dragoman.abilities import Coverage
from dragoman.contracts import Ability, Progress, Score, UserError, quiet
from dragoman.neural import checkpoints, devices
from dragoman.neural.batches import Batch
from dragoman.neural.language import LanguageNetwork
from dragoman.neural.scoring import log_probabilities_of
from dragoman.neural.streams import collate
from dragoman.neural.writing import written
from dragoman.text.pieces import LINE_END
from dragoman.text.pipeline import unknown_units
from dragoman.text.running import RunningText, documents_of
from dragoman.text.store import Ids
from dragoman.text.words import word_spans
from dragoman.texts import Generated, Generating, Text, TextFigures

LANGUAGE_NETWORKS = {
    "rnn-lm": ("dragoman.neural.language:RecurrentLanguage", "dragoman.neural.lm_recipes:RecurrentLanguageOptions"),
    "transformer-lm": ("dragoman.neural.language:CausalLanguage", "dragoman.neural.lm_recipes:CausalOptions"),
    "mlp-lm": ("dragoman.neural.language:WindowLanguage", "dragoman.neural.lm_recipes:WindowOptions"),
}
TOGETHER = 8192  # pieces that a network reads at once, at most
AT_ONCE = 1_000_000  # characters of a text whose figures are taken together


def build_language_network(kind: str, options: Any, pipeline: RunningText, context: int) -> LanguageNetwork:
    """A fresh network of a kind for the pieces of a pipeline; draws from torch's random generator."""
    network: LanguageNetwork = resolve_name(LANGUAGE_NETWORKS[kind][0])(options, pipeline.pieces, context)
    return network


class NeuralLanguageModel:
    """A network with its pieces: text in, figures and text out."""

    abilities = frozenset({Ability.SCORE, Ability.SAMPLE, Ability.PREFIX})

    def __init__(self, kind: str, network: LanguageNetwork, options: Any, pipeline: RunningText, context: int) -> None:
        self.kind = kind
        self.network = network.eval()
        self.options = options
        self.pipeline = pipeline
        self.context = context
        self.language = pipeline.language

    # --- figures ------------------------------------------------------------------------------

    def score(self, texts: Sequence[str]) -> list[Score]:
        """How probable each text is on its own, natural logs; nothing is said of a blank one (0, no pieces).

        A model of lines or blocks scores it as one that begins and ends. One of files knows no lines that do: there it
        follows another line's end, and its own line end is its last piece.
        """
        pipeline = self.pipeline
        kept = [text for text in texts if text.strip()]
        documents = [np.array([*pipeline.encode_text(text), pipeline.last], dtype=np.int32) for text in kept]
        found = iter(self.log_probabilities(documents, [pipeline.first] * len(documents)))
        tokens = [tuple(next(found).tolist()) if text.strip() else () for text in texts]
        return [Score(sum(each), sum(each), each) for each in tokens]

    def evaluate(self, text: Text, report: Callable[[Progress], None] = quiet) -> TextFigures:
        """How well the text is predicted: documents each from their beginning, every piece once; within a file the
        state is carried on from its first line to its last. Blank lines count in files alone."""
        walk, found, done = documents_of(text, self.pipeline.document), TextFigures(0.0, 0, 0, 0, 0), 0
        while documents := list(_up_to(walk, AT_ONCE)):
            found = found + self.figures(documents)
            done += sum(map(len, documents))
            report(Progress("evaluating", done, len(text)))
        if not found.tokens:
            raise UserError("there is no line with text in it")
        return found

    def figures(self, documents: Sequence[Sequence[str]], stretch: int = 0) -> TextFigures:
        """The figures of documents, given by their lines. stretch: longer ones are read in parts of so many pieces."""
        end, unknown = self.pipeline.pieces.end, self.pipeline.pieces.unknown
        parts, firsts = list[Ids](), list[int]()
        for lines in documents:
            ids = np.array([*self.pipeline.encode(lines), end], dtype=np.int32)
            begins = range(0, len(ids), stretch or len(ids))
            parts += [ids[begin : begin + (stretch or len(ids))] for begin in begins]
            firsts += [int(ids[begin - 1]) if begin else self.pipeline.pieces.start for begin in begins]
        found = self.log_probabilities(parts, firsts)
        lines_of_all = [line for lines in documents for line in lines]
        return TextFigures(
            log_probability=sum(float(each.sum(dtype=np.float64)) for each in found),
            tokens=sum(map(len, parts)),
            words=sum(len(word_spans(line)) + 1 for line in lines_of_all),
            characters=sum(len(line) + 1 for line in lines_of_all),
            lines=len(lines_of_all),
            unknown=sum(int((ids == unknown).sum()) for ids in parts),
            unknown_log_probability=sum(
                float(each[ids == unknown].sum(dtype=np.float64)) for ids, each in zip(parts, found, strict=True)
            ),
        )

    @torch.inference_mode()
    def log_probabilities(self, documents: Sequence[Ids], firsts: Sequence[int]) -> list[np.ndarray]:
        """log p of each piece of each document given those before it; the first one follows its piece of `firsts`."""
        found: list[np.ndarray] = [np.empty(0)] * len(documents)
        for indices in alike([len(ids) for ids in documents], self.network.stretch):
            batch = collate(
                [documents[i] for i in indices], [firsts[i] for i in indices], self.pipeline.pieces, self.device
            )
            log_probs_BT = torch.cat(list(self.read_through(batch)), 1).cpu().numpy()
            for row, index in enumerate(indices):
                found[index] = log_probs_BT[row, : len(documents[index])]
        return found

    def read_through(self, batch: Batch) -> Iterator[torch.Tensor]:
        """The log-probabilities of the targets, B x T, in stretches of T."""
        carried: tuple[torch.Tensor, ...] = ()
        for first, last in self.network.windows(batch.inputs_BT.shape[1]):
            states_BTD, carried = self.network.read(batch.inputs_BT[:, first:last], carried)
            yield log_probabilities_of([self.network], [states_BTD], batch.targets_BT[:, first:last])

    @torch.inference_mode()
    def all_next(self, prefix: str = "") -> dict[str, float]:
        """The natural log-probability of every piece that may follow a text; as probabilities they sum to 1."""
        ids = [self.pipeline.first, *(self.pipeline.encode_text(prefix) if prefix else [])]
        inputs_1T = torch.tensor([ids], device=self.device)
        carried: tuple[torch.Tensor, ...] = ()
        for first, last in self.network.windows(len(ids)):
            states_1TD, carried = self.network.read(inputs_1T[:, first:last], carried)
        log_probs_V = self.network.output(states_1TD[0, -1]).double().log_softmax(-1).tolist()
        names = list(self.pipeline.pieces.pieces)
        names[LINE_END] = "\n"
        return dict(zip(names, log_probs_V, strict=True))

    def coverage(self, texts: Sequence[str]) -> Coverage:
        """What of these texts it has no pieces for, and which are longer than what it was trained on."""
        longest = self.pipeline.longest
        too_long = sum(len(self.pipeline.encode_text(text)) > longest for text in texts) if longest else 0
        return Coverage(*unknown_units(self.pipeline.segmenter, texts), too_long)

    # --- writing ------------------------------------------------------------------------------

    def generate(self, prefix: str = "", options: Generating = Generating()) -> list[Generated]:
        """Texts that begin with the prefix, each drawn on its own; the prefix comes out as it is."""
        return written(self.network, self.pipeline, prefix, options, self.device)

    # --- keeping ------------------------------------------------------------------------------

    @property
    def device(self) -> torch.device:
        return checkpoints.device_of(self.network)

    def save(self, folder: Path) -> None:
        self.pipeline.save(folder / "text")
        checkpoints.write_tensors(checkpoints.weights_of(self.network), folder / "weights.safetensors")
        facts = {"kind": self.kind, "model": asdict(self.options), "context": self.context}
        (folder / "network.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        facts = json.loads((folder / "network.json").read_text(encoding="utf-8"))
        pipeline = RunningText.load(folder / "text")
        options = resolve_name(LANGUAGE_NETWORKS[facts["kind"]][1])(**facts["model"])
        network = build_language_network(facts["kind"], options, pipeline, facts["context"])
        checkpoints.load_weights(network, checkpoints.read_tensors(folder / "weights.safetensors"))
        network.to(devices.pick(device))
        return cls(facts["kind"], network, options, pipeline, facts["context"])

    @staticmethod
    def resolve_device(device: str) -> str:
        """The device that "auto" stands for here."""
        return str(devices.pick(device))

    def describe(self) -> Mapping[str, object]:
        return {
            "parameters": sum(parameter.numel() for parameter in self.network.parameters()),
            "pieces": len(self.pipeline.pieces),
            "a document is": f"a {self.pipeline.document}",
            "context": self.context,
            **self.network.facts(),
            **asdict(self.options),
        }


def alike(lengths: Sequence[int], stretch: int) -> Iterator[list[int]]:
    """Indices of documents that are read side by side, longest first: of at least half the length of the longest, and
    no more than TOGETHER pieces at once."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    batch: list[int] = []
    for index in order:
        if batch:
            longest = lengths[batch[0]]
            if (len(batch) + 1) * min(longest, stretch) > TOGETHER or 2 * lengths[index] < longest:
                yield batch
                batch = []
        batch.append(index)
    if batch:
        yield batch


def _up_to(documents: Iterable[list[str]], characters: int) -> Iterator[list[str]]:
    """The next documents, until they have so many characters."""
    seen = 0
    while seen < characters and (document := next(iter(islice(documents, 1)), None)) is not None:
        seen += sum(len(line) + 1 for line in document)
        yield document
