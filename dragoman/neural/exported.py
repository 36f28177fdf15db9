"""How does a network that was handed to CTranslate2 translate raw text, and score it? (No torch here.)"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Self

from dragoman.contracts import Ability, SearchOptions, UserError
from dragoman.neural.segments import Found, Segment, SegmentTranslator, Settled, StoredSearch, batches
from dragoman.processes import cores
from dragoman.search.constraints import OutputRules
from dragoman.search.steps import normaliser
from dragoman.text.pipeline import Pipeline

FACTS = "export.json"
NO_NORMALISATION = 1e-9  # 0 lets CTranslate2 stop at the first hypothesis that ends


def ctranslate2_module() -> Any:
    """The library. UserError where it is not installed."""
    try:
        return import_module("ctranslate2")
    except ImportError:
        raise UserError("ctranslate2 is not installed: pip install ctranslate2") from None


class ExportedTranslator(SegmentTranslator):
    """CTranslate2 with our pieces and our search options: text in, text out.

    Its beam search is ours (K hypotheses, chosen by log p from 2K continuations, until K have ended; ranked by
    log p / T^alpha, T counting the end piece), but for this: CTranslate2 knows no rules over several pieces,
    so outputs that `OutputRules` would have cut off on their way are left out afterwards; and hypotheses are
    given without the log-probabilities of their single pieces, which `score` finds.
    """

    kind = "ctranslate2"
    abilities = frozenset({Ability.SCORE, Ability.BEAM, Ability.PREFIX})

    def __init__(
        self, engine: Any, folder: Path, pipeline: Pipeline, search: StoredSearch, quantization: str, positions: int
    ) -> None:
        self.engine = engine
        self.folder = folder
        self.pipeline = pipeline
        self.search = search
        self.quantization = quantization
        self.positions = positions
        self.source_language = pipeline.source_language
        self.target_language = pipeline.target_language
        self.rules = OutputRules(pipeline.target.pieces)
        self.ids = {piece: index for index, piece in enumerate(pipeline.target.pieces.pieces)}

    # --- translating --------------------------------------------------------------------------

    def settle(self, options: SearchOptions) -> Settled:
        """Stored values for what was left open; UserError for what CTranslate2 cannot do."""
        settled = super().settle(options)
        if settled.length_form != "power":
            raise UserError(f"ctranslate2 has no length form {settled.length_form!r}: it divides by T^alpha only")
        return settled

    def outputs(self, segments: Sequence[Segment], settled: Settled) -> list[list[Found]]:
        """What may be said for each segment, best first. Groups of like length are searched at the same time, one more
        than CTranslate2 works on: while one is read, or looked at again, there is always another to search."""
        if any(len(segment.prefix) >= self.positions for segment in segments):
            raise UserError(f"the prefix is longer than the {self.positions:,} pieces that this export can write")
        groups = list(batches([len(segment.pieces) for segment in segments], settled.batch_tokens))
        with ThreadPoolExecutor(self.engine.num_translators + 1) as together:
            found = together.map(lambda group: self.group_outputs([segments[i] for i in group], settled), groups)
            best: dict[int, list[Found]] = {}
            for group, outputs in zip(groups, found, strict=True):
                best.update(zip(group, outputs, strict=True))
        return [best[index] for index in range(len(segments))]

    def group_outputs(self, segments: Sequence[Segment], settled: Settled) -> list[list[Found]]:
        """What may be said for each of the segments that are searched together, best first.

        They have one length limit, that of the longest source: what grew beyond its own limit there is searched
        again with that. Outputs that ended before they began are left out; where too few others are left, that is
        forbidden in another search, and so are bytes where nothing but broken characters was offered. Where
        CTranslate2's figures are not those of the network (it renormalises what is not forbidden, and leaves out
        prefixes and ends that were forced) they are found anew.
        """
        caps = [min(settled.cap(segment.pieces, segment.prefix), self.positions) for segment in segments]
        found = self.searched(segments, [range(len(segments))], caps, settled, min_decoding_length=0)
        again: dict[int, list[int]] = defaultdict(list)
        for index, outputs in found.items():
            found[index] = [output for output in outputs if output.pieces]
            if len(found[index]) < settled.n_best or len(outputs[0].pieces) >= caps[index]:
                again[caps[index]].append(index)
        found |= self.searched(segments, again.values(), caps, settled)
        unsure = {index for group in again.values() for index in group}
        unsure |= {i for i in found if segments[i].prefix or any(output.capped for output in found[i])}
        found |= self.rescored({index: found[index] for index in unsure}, segments, settled)
        best = {index: self.sayable(segments[index], found[index], settled.n_best) for index in found}
        mute = [[index] for index in best if not best[index]]
        spelt = self.searched(segments, mute, caps, settled, suppress_sequences=self.unsayable())
        for index, outputs in self.rescored(spelt, segments, settled).items():
            best[index] = self.sayable(segments[index], outputs, settled.n_best) or outputs[:1]
        return [best[index] for index in range(len(segments))]

    def sayable(self, segment: Segment, outputs: Sequence[Found], count: int) -> list[Found]:
        """The first of those that the rules allow."""
        allowed = (output for output in outputs if self.rules.allow(output.pieces, len(segment.prefix)))
        return list(islice(allowed, count))

    def unsayable(self) -> list[list[str]]:
        """Every piece that may not be said, or that is only a part of a character."""
        table = self.pipeline.target.pieces
        return [[table.pieces[index]] for index in {*self.rules.forbidden, *table.byte_ids}]

    def searched(
        self,
        segments: Sequence[Segment],
        groups: Iterable[Sequence[int]],
        caps: Sequence[int],
        settled: Settled,
        **options: Any,
    ) -> dict[int, list[Found]]:
        """Search groups of segments, named by their indices, together: the outputs of each, best first.

        The unknown piece is suppressed where there are no bytes to spell with; elsewhere no model was taught it.
        """
        waiting: list[tuple[int, Any]] = []
        for group in groups:
            members = [segments[index] for index in group]
            results = self.engine.translate_batch(
                [self.source(member.pieces) for member in members],
                target_prefix=[self.target(member.prefix) for member in members],
                beam_size=settled.beam,
                num_hypotheses=settled.beam,
                length_penalty=settled.alpha or NO_NORMALISATION,
                max_decoding_length=max(caps[index] for index in group) - 1,  # the end piece is the last
                max_input_length=0,
                disable_unk=not self.pipeline.target.pieces.byte_ids,
                return_scores=True,
                return_end_token=True,
                asynchronous=True,
                **options,
            )
            waiting += zip(group, results, strict=True)
        return {index: self.read(segments[index], result.result(), settled) for index, result in waiting}

    def read(self, segment: Segment, result: Any, settled: Settled) -> list[Found]:
        """The hypotheses of a segment as CTranslate2 scored them."""
        end, cut, outputs = self.pipeline.target.pieces.end, len(segment.pieces) >= self.positions, []
        for tokens, score in zip(result.hypotheses, result.scores, strict=True):
            pieces = tuple(map(self.ids.__getitem__, tokens))
            log_probability = score * normaliser(len(pieces), settled.alpha)
            ended = pieces[-1] == end
            outputs.append(Found(pieces[:-1] if ended else pieces, score, log_probability, capped=cut or not ended))
        return outputs

    def rescored(
        self, found: Mapping[int, Sequence[Found]], segments: Sequence[Segment], settled: Settled
    ) -> dict[int, list[Found]]:
        """The same outputs with the log-probabilities of all pieces of theirs, the end piece too, best first."""
        flat = [(index, output) for index, outputs in found.items() for output in outputs]
        tokens = self.score_parts(
            [segments[index].pieces for index, _ in flat], [output.pieces for _, output in flat], settled
        )
        again: dict[int, list[Found]] = defaultdict(list)
        for (index, output), own in zip(flat, tokens, strict=True):
            again[index].append(Found(output.pieces, settled.score(own), sum(own), own, output.capped))
        return {index: sorted(outputs, key=lambda output: -output.score) for index, outputs in again.items()}

    def source(self, pieces: Sequence[int]) -> list[str]:
        """Source pieces as CTranslate2 reads them, as many as there are positions, the end piece behind them."""
        table = self.pipeline.source.pieces
        return [*(table.pieces[index] for index in pieces[: self.positions - 1]), table.pieces[table.end]]

    def target(self, pieces: Sequence[int]) -> list[str]:
        """Target pieces as CTranslate2 reads them."""
        return [self.pipeline.target.pieces.pieces[index] for index in pieces]

    # --- scoring ------------------------------------------------------------------------------

    def score_parts(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], settled: Settled
    ) -> list[tuple[float, ...]]:
        """The log-probability of each target piece and of the end piece; -inf for what the positions do not reach."""
        found = [(-math.inf,) * (len(target) + 1) for target in targets]
        widths = [max(len(source), len(target)) for source, target in zip(sources, targets, strict=True)]
        waiting: list[tuple[int, Any]] = []
        for group in batches(widths, settled.batch_tokens):
            near = [index for index in group if widths[index] < self.positions]
            if near:
                results = self.engine.score_batch(
                    [self.source(sources[index]) for index in near],
                    [self.target(targets[index]) for index in near],
                    max_input_length=0,
                    asynchronous=True,
                )
                waiting += zip(near, results, strict=True)
        for index, result in waiting:
            found[index] = tuple(result.result().log_probs)
        return found

    # --- keeping ------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Copy what was loaded."""
        self.pipeline.save(folder / "text")
        for path in own_files(self.folder):
            shutil.copyfile(path, folder / path.name)

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        """UserError where CTranslate2 is not installed, or cannot compute so here."""
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        engine = started(folder, device, facts["quantization"])
        search = StoredSearch(**facts["search"])
        return cls(engine, folder, Pipeline.load(folder / "text"), search, facts["quantization"], facts["positions"])

    @staticmethod
    def resolve_device(device: str) -> str:
        """The device that "auto" stands for here."""
        return ("cuda" if ctranslate2_module().get_cuda_device_count() else "cpu") if device == "auto" else device

    def describe(self) -> Mapping[str, object]:
        return {
            "engine": f"ctranslate2 {ctranslate2_module().__version__}",
            "quantization": self.quantization,
            "source pieces": len(self.pipeline.source.pieces),
            "target pieces": len(self.pipeline.target.pieces),
            "joint pieces": self.pipeline.joint,
            "longest source in training": self.pipeline.longest,
            "positions": self.positions,
            **{f"search {name}": value for name, value in asdict(self.search).items()},
        }


def own_files(folder: Path) -> list[Path]:
    """The files of a folder that CTranslate2 reads, and ours about them."""
    return [folder / "model.bin", folder / "config.json", *sorted(folder.glob("*_vocabulary.json")), folder / FACTS]


def started(folder: Path, device: str, quantization: str) -> Any:
    """A CTranslate2 translator. On a CPU it works on as many batches at once, each by one thread, as
    OMP_NUM_THREADS says, else one a core: such small matrices gain more from that than from shared work."""
    library = ctranslate2_module()
    kind, _, index = ExportedTranslator.resolve_device(device).partition(":")
    asked = os.environ.get("OMP_NUM_THREADS", "")
    workers = int(asked) if asked.isdecimal() and int(asked) else cores()
    try:
        return library.Translator(
            str(folder),
            device=kind,
            device_index=int(index or 0),
            compute_type="int8" if quantization == "int8" else "float32",
            inter_threads=workers if kind == "cpu" else 1,
            intra_threads=1,
        )
    except (RuntimeError, ValueError) as error:
        raise UserError(f"{folder}: ctranslate2 cannot run it on {device!r}: {str(error).splitlines()[0]}") from None
