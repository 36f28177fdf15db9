"""How does a trained network translate raw text, and score it?"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Self

import torch

from dragoman.abilities import refuse_unable
from dragoman.contracts import (
    Ability,
    Hypothesis,
    Request,
    Sampling,
    Score,
    SearchOptions,
    SentencePair,
    Translation,
    UserError,
)
from dragoman.neural import checkpoints, devices
from dragoman.neural.batches import collate, pad
from dragoman.neural.network import Network
from dragoman.neural.outputs import flags_of, kept_space
from dragoman.neural.scoring import target_log_probabilities
from dragoman.search.beam import beam_search
from dragoman.search.combine import Ensemble
from dragoman.search.constraints import OutputRules
from dragoman.search.sample import sample_search
from dragoman.search.steps import Candidate, StepScorer, normaliser, rank
from dragoman.text.normalise import one_line
from dragoman.text.pipeline import Pipeline
from dragoman.text.sentences import Part, cut_long, rejoin, split_sentences
from dragoman.text.words import word_spans

NETWORKS = {"transformer": ("dragoman.neural.transformer:Transformer", "dragoman.neural.recipes:TransformerOptions")}
BATCH_TOKENS = 2048
BOUNDS = (("n_best", 1, 1000), ("beam", 1, 1000), ("alpha", 0, 10), ("max_ratio", 0.01, 1000), ("batch_tokens", 1, 1e9))


@dataclass(frozen=True)
class StoredSearch:
    """The search that belongs to a model; `SearchOptions` with None fields falls back on it."""

    beam: int = 5
    alpha: float = 0.7
    length_form: Literal["power", "gnmt"] = "power"
    max_ratio: float = 2.0


@dataclass(frozen=True)
class Settled(StoredSearch):
    """SearchOptions with nothing left open."""

    n_best: int = 1
    sampling: Sampling | None = None
    attention: bool = False
    batch_tokens: int = BATCH_TOKENS

    def score(self, token_log_probabilities: Sequence[float]) -> float:
        """What the search maximises."""
        return sum(token_log_probabilities) / normaliser(len(token_log_probabilities), self.alpha, self.length_form)


@dataclass(frozen=True)
class Segment:
    """What is searched at once: a request's text, or a part of it. `number` counts the parts of a request."""

    request: int
    number: int
    part: Part
    pieces: list[int]
    prefix: list[int]


def _named(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def build_network(kind: str, options: Any, pipeline: Pipeline) -> Network:
    """A fresh network of a kind for the pieces of a pipeline; draws from torch's random generator."""
    network: Network = _named(NETWORKS[kind][0])(
        options, pipeline.source.pieces, pipeline.target.pieces, pipeline.joint
    )
    return network


class NeuralTranslator:
    """A network with its pieces and its search: text in, text out."""

    abilities = frozenset(
        {Ability.SCORE, Ability.BEAM, Ability.SAMPLE, Ability.PREFIX, Ability.ATTENTION, Ability.ENSEMBLE}
    )
    gains_by_processes = True  # a row of small products does not occupy several threads

    def __init__(
        self, kind: str, networks: Sequence[Network], options: Any, pipeline: Pipeline, search: StoredSearch
    ) -> None:
        self.kind = kind
        self.networks = tuple(network.eval() for network in networks)
        self.options = options
        self.pipeline = pipeline
        self.search = search
        self.source_language = pipeline.source_language
        self.target_language = pipeline.target_language
        self.rules = OutputRules(pipeline.target.pieces)

    # --- translating --------------------------------------------------------------------------

    @torch.inference_mode()
    def translate(
        self, requests: Sequence[str | Request], options: SearchOptions = SearchOptions()
    ) -> list[Translation]:
        """One translation a request, in order. Blank in, blank out; white space around a text is kept,
        unless a prefix says how the translation begins.

        A text with more pieces or sentences than what was trained on is cut at sentence ends (else at clauses,
        white space, anywhere), translated in parts, and joined with its own white space; its pieces then hold an end
        piece between the parts, its scores are sums over them, and it has no attention.
        """
        asked = [Request(request) if isinstance(request, str) else request for request in requests]
        refuse_unable(self.kind, self.abilities, asked, options)
        settled = self.settle(options)
        segments = self.segments(asked)
        grouped: list[list[tuple[Segment, list[Candidate]]]] = [[] for _ in asked]
        for segment, candidates in zip(segments, self.search_all(segments, settled), strict=True):
            ranked = rank(candidates, settled.alpha, settled.length_form)
            grouped[segment.request].append((segment, ranked))
        return [self.translation(request, parts, settled) for request, parts in zip(asked, grouped, strict=True)]

    def settle(self, options: SearchOptions) -> Settled:
        """Stored values for what was left open; UserError for what does not go together."""
        asked = {name: value for name, value in asdict(options).items() if value is not None}
        settled = Settled(**{**asdict(self.search), **asked, "sampling": options.sampling})
        for name, least, most in BOUNDS:
            if not least <= getattr(settled, name) <= most:  # NaN is not
                raise UserError(f"{name} is a number from {least:g} to {most:g}, not {getattr(settled, name)!r}")
        if settled.sampling is None and settled.n_best > settled.beam:
            raise UserError(f"n-best {settled.n_best} is above the beam of {settled.beam}: raise --beam too")
        return settled

    def segments(self, requests: Sequence[Request]) -> list[Segment]:
        cores = [request.text.strip() for request in requests]
        segments = []
        for index, (request, core, pieces) in enumerate(
            zip(requests, cores, self.pipeline.source.encode(cores), strict=True)
        ):
            prefix = self.prefix_pieces(request.prefix)
            parts = [Part(core, "")] if self.fits(core, pieces) else cut_long(core, self.fits)
            encoded = [pieces] if len(parts) == 1 else self.pipeline.source.encode(part.text for part in parts)
            for number, (part, part_pieces) in enumerate(zip(parts, encoded, strict=True)):
                if part.text:
                    segments.append(Segment(index, number, part, part_pieces, [] if number else prefix))
        return segments

    def prefix_pieces(self, prefix: str) -> list[int]:
        """UserError for a prefix that cannot come out as it is."""
        if "\n" in prefix or "\r" in prefix:
            raise UserError(f"the prefix {prefix!r} has a line end in it")
        pieces = self.pipeline.target.encode([prefix])[0] if prefix else []
        if self.pipeline.target.pieces.unknown in pieces:
            raise UserError(f"the prefix {prefix!r} has words or signs that this model does not know")
        return pieces

    def fits(self, text: str, pieces: Sequence[int] | None = None) -> bool:
        """Is this one line with no more pieces and sentences than the model was often enough trained on?"""
        if "\n" in text or "\r" in text:
            return False
        if sum(1 for part in split_sentences(text) if part.text) > self.pipeline.sentences:
            return False
        return len(self.pipeline.source.encode([text])[0] if pieces is None else pieces) <= self.pipeline.longest

    @torch.inference_mode()
    def search_all(self, segments: Sequence[Segment], settled: Settled) -> list[list[Candidate]]:
        """What the search finishes for each segment, unranked."""
        found: list[list[Candidate]] = [[] for _ in segments]
        for indices in self.batches([len(segment.pieces) for segment in segments], settled):
            for index, candidates in zip(
                indices, self.candidates([segments[i] for i in indices], settled), strict=True
            ):
                found[index] = candidates
        return found

    def batches(self, lengths: Sequence[int], settled: Settled) -> Iterator[list[int]]:
        """Indices of segments of like length, at most batch_tokens positions at once, padding included."""
        order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
        batch: list[int] = []
        for index in order:
            if batch and (len(batch) + 1) * (lengths[batch[0]] + 1) > settled.batch_tokens:
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch

    def candidates(self, segments: Sequence[Segment], settled: Settled) -> list[list[Candidate]]:
        device = self.device
        source = self.pipeline.source.pieces
        sources_BS = torch.from_numpy(pad([s.pieces for s in segments], source.padding, source.end)).to(device)
        caps = [int(settled.max_ratio * len(s.pieces)) + 10 + len(s.prefix) for s in segments]
        prefixes = [s.prefix for s in segments] if any(s.prefix for s in segments) else None
        scorer = self.scorer()
        if settled.sampling is not None:
            keys = [zlib.crc32(f"{s.number} {s.part.text}".encode("utf-8", "surrogatepass")) for s in segments]
            return sample_search(
                scorer,
                sources_BS,
                count=settled.n_best,
                sampling=settled.sampling,
                max_lengths_B=caps,
                rules=self.rules,
                prefixes=prefixes,
                keys_B=keys,
                attention=settled.attention,
            )
        return beam_search(
            scorer,
            sources_BS,
            beam=settled.beam,
            max_lengths_B=caps,
            rules=self.rules,
            prefixes=prefixes,
            attention=settled.attention,
        )

    def scorer(self) -> StepScorer:
        scorers = [network.scorer() for network in self.networks]
        return scorers[0] if len(scorers) == 1 else Ensemble(scorers)

    def translation(
        self, request: Request, parts: Sequence[tuple[Segment, list[Candidate]]], settled: Settled
    ) -> Translation:
        """Hypothesis k of a text is made of hypothesis k of each part, or the last one a part has."""
        spans = word_spans(request.text)
        if not parts:
            return Translation(request.text, spans, (Hypothesis(request.text),))
        depth = max(len(candidates) for _, candidates in parts)
        hypotheses: dict[str, Hypothesis] = {}
        for place in range(depth):
            chosen = [(segment, candidates[min(place, len(candidates) - 1)]) for segment, candidates in parts]
            hypothesis = self.hypothesis(request, chosen, settled)
            hypotheses.setdefault(hypothesis.text, hypothesis)
            if len(hypotheses) == settled.n_best:
                break
        return Translation(request.text, spans, tuple(hypotheses.values()))

    def hypothesis(self, request: Request, parts: Sequence[tuple[Segment, Candidate]], settled: Settled) -> Hypothesis:
        decoded = [self.pipeline.target.decode(candidate.pieces) for _, candidate in parts]
        text = rejoin([segment.part for segment, _ in parts], decoded)
        pieces: list[int] = []
        scores: list[float] = []
        token_log_probabilities: list[float] = []
        for _, candidate in parts:
            pieces += [*candidate.pieces, self.pipeline.target.pieces.end]
            token_log_probabilities += candidate.token_log_probabilities
            scores.append(settled.score(candidate.token_log_probabilities))
        if not request.prefix:
            text = kept_space(request.text, text)
        return Hypothesis(
            text=text,
            words=word_spans(text),
            pieces=tuple(pieces[:-1]),
            score=sum(scores),
            log_probability=sum(token_log_probabilities),
            token_log_probabilities=tuple(token_log_probabilities),
            attention=attention_of(*parts[0]) if len(parts) == 1 else None,
            flags=flags_of(request.text, text, any(candidate.capped for _, candidate in parts)),
        )

    # --- scoring ------------------------------------------------------------------------------

    @torch.inference_mode()
    def score(
        self, pairs: Sequence[SentencePair | tuple[str, Hypothesis]], options: SearchOptions = SearchOptions()
    ) -> list[Score]:
        """The model's view of given translations: of a text by its canonical pieces, of a hypothesis by its own."""
        settled = self.settle(options)
        sources: list[list[int]] = []
        targets: list[list[int]] = []
        owners: list[int] = []
        for owner, pair in enumerate(pairs):
            for source, target in self.scored_parts(pair):
                sources.append(source)
                targets.append(target)
                owners.append(owner)
        found: list[tuple[float, ...]] = [()] * len(owners)
        widths = [max(len(source), len(target)) for source, target in zip(sources, targets, strict=True)]
        for indices in self.batches(widths, settled):
            batch = collate(
                [sources[i] for i in indices],
                [targets[i] for i in indices],
                self.pipeline.source.pieces,
                self.pipeline.target.pieces,
                self.device,
            )
            log_probs_BT = target_log_probabilities(self.networks, batch)
            for row, index in enumerate(indices):
                found[index] = tuple(log_probs_BT[row, : len(targets[index]) + 1].tolist())
        results: list[list[tuple[float, ...]]] = [[] for _ in pairs]
        for owner, tokens in zip(owners, found, strict=True):
            results[owner].append(tokens)
        return [self.added(parts, settled) for parts in results]

    def added(self, parts: Sequence[tuple[float, ...]], settled: Settled) -> Score:
        tokens = tuple(token for part in parts for token in part)
        return Score(sum(settled.score(part) for part in parts), sum(tokens), tokens)

    def scored_parts(self, pair: SentencePair | tuple[str, Hypothesis]) -> list[tuple[list[int], list[int]]]:
        """Source and target pieces of each part that is scored on its own (one, but for hypotheses of long texts)."""
        if isinstance(pair, SentencePair):
            source = self.pipeline.source.encode([one_line(pair.source.strip())])[0]
            return [(source, self.pipeline.target.encode([one_line(pair.target.strip())])[0])]
        text, hypothesis = pair
        segments = self.segments([Request(text)])
        if not segments and not hypothesis.pieces:
            return []
        targets: list[list[int]] = [[]]
        for piece in hypothesis.pieces:
            if piece == self.pipeline.target.pieces.end:
                targets.append([])
            else:
                targets[-1].append(piece)
        if len(segments) != len(targets):
            raise UserError(f"the hypothesis {hypothesis.text!r} is not one for this source and this model")
        return [(segment.pieces, target) for segment, target in zip(segments, targets, strict=True)]

    # --- keeping ------------------------------------------------------------------------------

    @property
    def device(self) -> torch.device:
        return next(self.networks[0].parameters()).device

    def together(self, others: Sequence[NeuralTranslator]) -> NeuralTranslator:
        """An ensemble: the mean of the members' probabilities, step by step. UserError for unequal pieces."""
        for other in others:
            if other.pipeline.fingerprint != self.pipeline.fingerprint:
                raise UserError("an ensemble needs models with the same pieces")
        networks = [network for member in (self, *others) for network in member.networks]
        return NeuralTranslator(self.kind, networks, self.options, self.pipeline, self.search)

    def save(self, folder: Path) -> None:
        if len(self.networks) != 1:
            raise UserError("an ensemble is not saved: save its members")
        self.pipeline.save(folder / "text")
        checkpoints.write_tensors(checkpoints.weights_of(self.networks[0]), folder / "weights.safetensors")
        facts = {"kind": self.kind, "model": asdict(self.options), "search": asdict(self.search)}
        (folder / "network.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        facts = json.loads((folder / "network.json").read_text(encoding="utf-8"))
        pipeline = Pipeline.load(folder / "text")
        options = _named(NETWORKS[facts["kind"]][1])(**facts["model"])
        network = build_network(facts["kind"], options, pipeline)
        checkpoints.load_weights(network, checkpoints.read_tensors(folder / "weights.safetensors"))
        network.to(devices.pick(device))
        return cls(facts["kind"], [network], options, pipeline, StoredSearch(**facts["search"]))

    @staticmethod
    def resolve_device(device: str) -> str:
        """The device that "auto" stands for here."""
        return str(devices.pick(device))

    def describe(self) -> Mapping[str, object]:
        parameters = sum(parameter.numel() for network in self.networks for parameter in network.parameters())
        return {
            "parameters": parameters,
            "source pieces": len(self.pipeline.source.pieces),
            "target pieces": len(self.pipeline.target.pieces),
            "joint pieces": self.pipeline.joint,
            "longest source in training": self.pipeline.longest,
            **asdict(self.options),
            **{f"search {name}": value for name, value in asdict(self.search).items()},
        }


def attention_of(segment: Segment, candidate: Candidate) -> Any:
    """T x S over the real source positions, the end piece among them; None where it was not asked for."""
    return None if candidate.attention is None else candidate.attention[:, : len(segment.pieces) + 1]
