"""How does a trained network translate raw text, and score it?"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Self

import torch

from dragoman.contracts import (
    Ability,
    Precision,
    Request,
    SearchOptions,
    SentencePair,
    UserError,
    Work,
)
from dragoman.neural import checkpoints, devices, quantised
from dragoman.neural.batches import collate, pad
from dragoman.neural.network import Network, Saying, Watched, everything
from dragoman.neural.scoring import target_log_probabilities
from dragoman.neural.segments import (
    Found,
    Segment,
    SegmentTranslator,
    Settled,
    StoredSearch,
    batches,
    cut_requests,
)
from dragoman.neural.shortlist import Shortlist
from dragoman.search.beam import Look, beam_search
from dragoman.search.combine import Ensemble
from dragoman.search.constraints import OutputRules
from dragoman.search.sample import sample_search
from dragoman.search.steps import Candidate, StepScorer, rank
from dragoman.seeing import Explanation, Gates, Gradients, SentenceStates
from dragoman.text.pipeline import Pipeline

NETWORKS = {
    "transformer": ("dragoman.neural.transformer:Transformer", "dragoman.neural.recipes:TransformerOptions"),
    "rnn": ("dragoman.neural.recurrent:Recurrent", "dragoman.neural.recipes:AttentionOptions"),
    "rnn-fixed": ("dragoman.neural.recurrent:Recurrent", "dragoman.neural.recipes:RecurrentOptions"),
}


def build_network(kind: str, options: Any, pipeline: Pipeline) -> Network:
    """A fresh network of a kind for the pieces of a pipeline; draws from torch's random generator."""
    network: Network = resolve_name(NETWORKS[kind][0])(
        options, pipeline.source.pieces, pipeline.target.pieces, pipeline.joint
    )
    return network


class NeuralTranslator(SegmentTranslator):
    """A network with its pieces and its search: text in, text out."""

    abilities = frozenset(
        {
            Ability.SCORE,
            Ability.BEAM,
            Ability.SAMPLE,
            Ability.PREFIX,
            Ability.ATTENTION,
            Ability.LINKS,
            Ability.ENSEMBLE,
            Ability.PRECISION,
            Ability.EXPLAIN,
            Ability.STATES,
            Ability.SHORTLIST,
        }
    )
    gains_by_processes = True  # a row of small products does not occupy several threads

    def __init__(
        self,
        kind: str,
        networks: Sequence[Network],
        options: Any,
        pipeline: Pipeline,
        search: StoredSearch,
        shortlist: Shortlist | None = None,
    ) -> None:
        self.kind = kind
        self.networks = tuple(network.eval() for network in networks)
        self.options = options
        self.pipeline = pipeline
        self.search = search
        self.shortlist = shortlist
        self.source_language = pipeline.source_language
        self.target_language = pipeline.target_language
        self.rules = OutputRules(pipeline.target.pieces)

    # --- translating --------------------------------------------------------------------------

    def segments(self, requests: Sequence[Request]) -> list[Segment]:
        return cut_requests(self.pipeline, requests)

    def outputs(self, segments: Sequence[Segment], settled: Settled) -> list[list[Found]]:
        """What the search finishes for each segment, best first."""
        return [
            [
                found_of(segment, candidate, settled)
                for candidate in rank(candidates, settled.alpha, settled.length_form)
            ]
            for segment, candidates in zip(segments, self.search_all(segments, settled), strict=True)
        ]

    @torch.inference_mode()
    def search_all(self, segments: Sequence[Segment], settled: Settled) -> list[list[Candidate]]:
        """What the search finishes for each segment, unranked."""
        found: list[list[Candidate]] = [[] for _ in segments]
        for indices in batches([len(segment.pieces) for segment in segments], settled.batch_tokens):
            for index, candidates in zip(
                indices, self.candidates([segments[i] for i in indices], settled), strict=True
            ):
                found[index] = candidates
        return found

    def candidates(
        self, segments: Sequence[Segment], settled: Settled, listener: Callable[[Look], None] | None = None
    ) -> list[list[Candidate]]:
        """Unranked. listener: see `beam_search`."""
        device = self.device
        source = self.pipeline.source.pieces
        sources_BS = torch.from_numpy(pad([s.pieces for s in segments], source.padding, source.end)).to(device)
        caps = [settled.cap(s.pieces, s.prefix) for s in segments]
        prefixes = [s.prefix for s in segments] if any(s.prefix for s in segments) else None
        scorer = self.scorer(self.saying(settled, prefixes))
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
                attention=settled.attention or settled.links,
            )
        return beam_search(
            scorer,
            sources_BS,
            beam=settled.beam,
            max_lengths_B=caps,
            rules=self.rules,
            prefixes=prefixes,
            attention=settled.attention or settled.links,
            listener=listener,
        )

    def scorer(self, saying: Saying = everything) -> StepScorer:
        scorers = [network.scorer(saying) for network in self.networks]
        return scorers[0] if len(scorers) == 1 else Ensemble(scorers)

    def saying(self, settled: Settled, prefixes: Sequence[Sequence[int]] | None) -> Saying:
        """All pieces, or by the shortlist. UserError where it is asked for and there is none."""
        if not settled.shortlist:
            return everything
        if self.shortlist is None:
            raise UserError("this model has no shortlist: dragoman shortlist DIR --train FILES makes one")
        return partial(self.shortlist.sayable, pieces=len(self.pipeline.target.pieces), prefixes=prefixes)

    def with_shortlist(self, pairs: Sequence[SentencePair], partners: int, frequent: int, work: Work) -> Self:
        """The same, with a shortlist learnt from pairs; see `learn_shortlist`."""
        from dragoman.neural.shortlisting import learn_shortlist

        sources = self.pipeline.source.encode(pair.source for pair in pairs)
        targets = self.pipeline.target.encode(pair.target for pair in pairs)
        tables = self.pipeline.source.pieces, self.pipeline.target.pieces
        shortlist = learn_shortlist(sources, targets, tables, partners, frequent, work)
        return type(self)(self.kind, self.networks, self.options, self.pipeline, self.search, shortlist)

    def shortlist_covers(self, pairs: Sequence[SentencePair]) -> tuple[float, int, float]:
        """Pieces that may be said of a sentence, on average; of how many; share of the targets' pieces among them."""
        assert self.shortlist is not None
        return self.shortlist.covers(
            self.pipeline.source.encode(pair.source for pair in pairs),
            self.pipeline.target.encode(pair.target for pair in pairs),
            len(self.pipeline.target.pieces),
        )

    # --- scoring ------------------------------------------------------------------------------

    @torch.inference_mode()
    def score_parts(
        self, sources: Sequence[list[int]], targets: Sequence[list[int]], settled: Settled
    ) -> list[tuple[float, ...]]:
        """The log-probability of each target piece and of the end piece."""
        found: list[tuple[float, ...]] = [()] * len(sources)
        widths = [max(len(source), len(target)) for source, target in zip(sources, targets, strict=True)]
        for indices in batches(widths, settled.batch_tokens):
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
        return found

    # --- showing ------------------------------------------------------------------------------

    def explain(self, text: str, reference: str = "", options: SearchOptions = SearchOptions()) -> Explanation:
        from dragoman.neural.explaining import explained

        return explained(self, text, reference, options)

    def sentence_states(self, texts: Sequence[str]) -> SentenceStates:
        from dragoman.neural.explaining import sentence_states

        return sentence_states(self, texts)

    # --- keeping ------------------------------------------------------------------------------

    @property
    def device(self) -> torch.device:
        return checkpoints.device_of(self.networks[0])

    @property
    def precision(self) -> Precision:
        return self.networks[0].precision

    def usable_precision(self, precision: Precision) -> tuple[Precision, str]:
        return quantised.usable(precision, self.device)

    def at_precision(self, precision: Precision) -> Self:
        networks = [quantised.at_precision(network, precision) for network in self.networks]
        return type(self)(self.kind, networks, self.options, self.pipeline, self.search, self.shortlist)

    def together(self, others: Sequence[NeuralTranslator]) -> Self:
        """An ensemble: the mean of the members' probabilities, step by step. UserError for unequal pieces."""
        for other in others:
            if other.pipeline.fingerprint != self.pipeline.fingerprint or other.precision != self.precision:
                raise UserError("an ensemble needs models with the same pieces, at the same precision")
        members: tuple[NeuralTranslator, ...] = (self, *others)
        networks = [network for member in members for network in member.networks]
        return type(self)(self.kind, networks, self.options, self.pipeline, self.search, self.shortlist)

    def save(self, folder: Path) -> None:
        if len(self.networks) != 1 or self.precision != "fp32":
            raise UserError("an ensemble, or a model in fewer bits, is not saved: save what it was made of")
        self.pipeline.save(folder / "text")
        checkpoints.write_tensors(checkpoints.weights_of(self.networks[0]), folder / "weights.safetensors")
        watched = self.networks[0].watched
        facts = {"kind": self.kind, "model": asdict(self.options), "search": asdict(self.search)}
        if watched is not None:
            facts["watched"] = watched._asdict()
        if self.shortlist is not None:
            self.shortlist.save(folder)
        (folder / "network.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        facts = json.loads((folder / "network.json").read_text(encoding="utf-8"))
        pipeline = Pipeline.load(folder / "text")
        options = resolve_name(NETWORKS[facts["kind"]][1])(**facts["model"])
        network = build_network(facts["kind"], options, pipeline)
        checkpoints.load_weights(network, checkpoints.read_tensors(folder / "weights.safetensors"))
        if "watched" in facts:  # else what the network watches by itself
            network.watched = Watched(**facts["watched"])
        network.to(devices.pick(device))
        search = StoredSearch(**facts["search"])
        return cls(facts["kind"], [network], options, pipeline, search, Shortlist.load(folder))

    @staticmethod
    def resolve_device(device: str) -> str:
        """The device that "auto" stands for here."""
        return str(devices.pick(device))

    def describe(self) -> Mapping[str, object]:
        with devices.WithoutContent():  # counted on a network without content: in fewer bits some are no parameters
            like = build_network(self.kind, self.options, self.pipeline)
        return {
            "parameters": len(self.networks) * sum(parameter.numel() for parameter in like.parameters()),
            "source pieces": len(self.pipeline.source.pieces),
            "target pieces": len(self.pipeline.target.pieces),
            "joint pieces": self.pipeline.joint,
            "longest source in training": self.pipeline.longest,
            "shortlist": str(self.shortlist) if self.shortlist else "none",
            **self.networks[0].facts(),
            **asdict(self.options),
            **{f"search {name}": value for name, value in asdict(self.search).items()},
        }


class RecurrentTranslator(NeuralTranslator):
    """One whose network has cells: what their gates do along a sentence can be seen."""

    abilities = NeuralTranslator.abilities | {Ability.GATES}

    def gates(self, text: str, options: SearchOptions = SearchOptions()) -> Gates:
        from dragoman.neural.gating import gates_of

        return gates_of(self, text, options)

    def gradients(self, text: str, reference: str = "", options: SearchOptions = SearchOptions()) -> Gradients:
        from dragoman.neural.gating import gradients_of

        return gradients_of(self, text, reference, options)


class FixedVectorTranslator(RecurrentTranslator):
    """One whose network looks at nothing but what it was handed: there is no attention to show."""

    abilities = RecurrentTranslator.abilities - {Ability.ATTENTION, Ability.LINKS}


def found_of(segment: Segment, candidate: Candidate, settled: Settled) -> Found:
    """A candidate with its figures. attention: T x S over the real source positions, the end piece among them."""
    attention = None if candidate.attention is None else candidate.attention[:, : len(segment.pieces) + 1]
    tokens = candidate.token_log_probabilities
    return Found(candidate.pieces, settled.score(tokens), sum(tokens), tokens, candidate.capped, attention)
