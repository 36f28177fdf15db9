"""How is raw text cut into what is searched at once, and how does what was found become text again?

What all engines share that translate with the pieces of a network; so no torch here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from dragoman.abilities import Coverage, refuse_unable
from dragoman.contracts import (
    Ability,
    Hypothesis,
    Link,
    Request,
    Sampling,
    Score,
    SearchOptions,
    SentencePair,
    Span,
    Translation,
    UserError,
)
from dragoman.neural.links import Side, links_of
from dragoman.neural.outputs import flags_of, kept_space
from dragoman.search.steps import normaliser
from dragoman.text.normalise import one_line
from dragoman.text.pipeline import Pipeline, unknown_units
from dragoman.text.sentences import Part, cut_long, rejoin, spaces_behind, split_sentences
from dragoman.text.words import word_spans

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
    links: bool = False
    shortlist: bool = False
    batch_tokens: int = BATCH_TOKENS

    def score(self, token_log_probabilities: Sequence[float]) -> float:
        """What the search maximises."""
        return sum(token_log_probabilities) / normaliser(len(token_log_probabilities), self.alpha, self.length_form)

    def cap(self, source: Sequence[int], prefix: Sequence[int]) -> int:
        """How many pieces an output may have, the end piece among them."""
        return int(self.max_ratio * len(source)) + 10 + len(prefix)


@dataclass(frozen=True)
class Segment:
    """What is searched at once: a request's text, or a part of it, from `start` on. `number` counts the parts of a
    request."""

    request: int
    number: int
    start: int
    part: Part
    pieces: list[int]
    prefix: list[int]


@dataclass(frozen=True)
class Found:
    """An output of a segment with its figures, as in `Hypothesis`; pieces without the end piece."""

    pieces: tuple[int, ...]
    score: float
    log_probability: float
    token_log_probabilities: tuple[float, ...] = ()
    capped: bool = False
    attention: Any = None


def settle(search: StoredSearch, options: SearchOptions) -> Settled:
    """Stored values for what was left open; UserError for what does not go together."""
    asked = {name: value for name, value in asdict(options).items() if value is not None}
    settled = Settled(**{**asdict(search), **asked, "sampling": options.sampling})
    for name, least, most in BOUNDS:
        if not least <= getattr(settled, name) <= most:  # NaN is not
            raise UserError(f"{name} is a number from {least:g} to {most:g}, not {getattr(settled, name)!r}")
    if settled.sampling is None and settled.n_best > settled.beam:
        raise UserError(f"n-best {settled.n_best} is above the beam of {settled.beam}: raise --beam too")
    return settled


class SegmentTranslator:
    """Raw text in and out of an engine that searches segments and scores parts: what is the same for all engines."""

    kind: str
    abilities: frozenset[Ability]
    pipeline: Pipeline
    search: StoredSearch

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
        return translated(self.pipeline, asked, settled, lambda segments: self.outputs(segments, settled))

    def score(
        self, pairs: Sequence[SentencePair | tuple[str, Hypothesis]], options: SearchOptions = SearchOptions()
    ) -> list[Score]:
        """The model's view of given translations: of a text by its canonical pieces, of a hypothesis by its own."""
        settled = self.settle(options)
        return scored(
            self.pipeline, pairs, settled, lambda sources, targets: self.score_parts(sources, targets, settled)
        )

    def coverage(self, texts: Sequence[str]) -> Coverage:
        """What of these texts it has no pieces for, and which are longer than what it was trained on."""
        return coverage_of(self.pipeline, texts)

    def settle(self, options: SearchOptions) -> Settled:
        """Stored values for what was left open; UserError for what does not go together."""
        return settle(self.search, options)

    def outputs(self, segments: Sequence[Segment], settled: Settled) -> Sequence[Sequence[Found]]:
        """What the search finishes for each segment, best first."""
        raise AssertionError("each engine searches in its own way")

    def score_parts(
        self, sources: Sequence[list[int]], targets: Sequence[list[int]], settled: Settled
    ) -> Sequence[tuple[float, ...]]:
        """The natural log-probability of each target piece and of the end piece."""
        raise AssertionError("each engine scores in its own way")


# --- cutting --------------------------------------------------------------------------------------


def cut_requests(pipeline: Pipeline, requests: Sequence[Request]) -> list[Segment]:
    """The parts of each request that are searched, in order; none for a blank one."""
    cores = [request.text.strip() for request in requests]
    found = []
    for index, (request, core, pieces) in enumerate(zip(requests, cores, pipeline.source.encode(cores), strict=True)):
        prefix = prefix_pieces(pipeline, request.prefix)
        whole = fits(pipeline, core, pieces)
        parts = [Part(core, "")] if whole else cut_long(core, lambda text: fits(pipeline, text))
        encoded = [pieces] if len(parts) == 1 else pipeline.source.encode(part.text for part in parts)
        start = _indent(request.text)
        for number, (part, part_pieces) in enumerate(zip(parts, encoded, strict=True)):
            if part.text:
                found.append(Segment(index, number, start, part, part_pieces, [] if number else prefix))
            start += len(part.text) + len(part.space)
    return found


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def prefix_pieces(pipeline: Pipeline, prefix: str) -> list[int]:
    """UserError for a prefix that cannot come out as it is."""
    if "\n" in prefix or "\r" in prefix:
        raise UserError(f"the prefix {prefix!r} has a line end in it")
    pieces = pipeline.target.encode([prefix])[0] if prefix else []
    if pipeline.target.pieces.unknown in pieces:
        raise UserError(f"the prefix {prefix!r} has words or signs that this model does not know")
    return pieces


def fits(pipeline: Pipeline, text: str, pieces: Sequence[int] | None = None) -> bool:
    """Is this one line with no more pieces and sentences than the model was often enough trained on?"""
    if "\n" in text or "\r" in text:
        return False
    if sum(1 for part in split_sentences(text) if part.text) > pipeline.sentences:
        return False
    return len(pipeline.source.encode([text])[0] if pieces is None else pieces) <= pipeline.longest


def coverage_of(pipeline: Pipeline, texts: Sequence[str]) -> Coverage:
    """What the source side has no pieces for, and how many texts are cut before they are translated."""
    cores = [text.strip() for text in texts]
    encoded = pipeline.source.encode(cores)
    too_long = sum(not fits(pipeline, core, pieces) for core, pieces in zip(cores, encoded, strict=True))
    return Coverage(*unknown_units(pipeline.source, cores), too_long)


def batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Indices of segments of like length, longest first, at most batch_tokens positions at once, padding included."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) + 1) * (lengths[batch[0]] + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


# --- translating ----------------------------------------------------------------------------------


def translated(
    pipeline: Pipeline,
    requests: Sequence[Request],
    settled: Settled,
    search: Callable[[Sequence[Segment]], Sequence[Sequence[Found]]],
) -> list[Translation]:
    """One translation a request, in order. search: the outputs of each segment, best first, at least one."""
    parts = cut_requests(pipeline, requests)
    grouped: list[list[tuple[Segment, Sequence[Found]]]] = [[] for _ in requests]
    for segment, found in zip(parts, search(parts), strict=True):
        grouped[segment.request].append((segment, found))
    return [_translation(pipeline, request, found, settled) for request, found in zip(requests, grouped, strict=True)]


def _translation(
    pipeline: Pipeline, request: Request, parts: Sequence[tuple[Segment, Sequence[Found]]], settled: Settled
) -> Translation:
    """Hypothesis k of a text is made of hypothesis k of each part, or the last one a part has."""
    spans = word_spans(request.text)
    if not parts:
        return Translation(request.text, spans, (Hypothesis(request.text, links=() if settled.links else None),))
    depth = max(len(found) for _, found in parts)
    hypotheses: dict[str, Hypothesis] = {}
    for place in range(depth):
        chosen = [(segment, found[min(place, len(found) - 1)]) for segment, found in parts]
        hypothesis = _hypothesis(pipeline, request, chosen, settled)
        hypotheses.setdefault(hypothesis.text, hypothesis)
        if len(hypotheses) == settled.n_best:
            break
    return Translation(request.text, spans, tuple(hypotheses.values()))


def _hypothesis(
    pipeline: Pipeline, request: Request, parts: Sequence[tuple[Segment, Found]], settled: Settled
) -> Hypothesis:
    decoded = [pipeline.target.decode(found.pieces) for _, found in parts]
    joined = text = rejoin([segment.part for segment, _ in parts], decoded)
    pieces: list[int] = []
    for _, found in parts:
        pieces += [*found.pieces, pipeline.target.pieces.end]
    if not request.prefix:
        text = kept_space(request.text, text)
    hypothesis = Hypothesis(
        text=text,
        words=word_spans(text),
        pieces=tuple(pieces[:-1]),
        score=sum(found.score for _, found in parts),
        log_probability=sum(found.log_probability for _, found in parts),
        token_log_probabilities=tuple(token for _, found in parts for token in found.token_log_probabilities),
        attention=parts[0][1].attention if settled.attention and len(parts) == 1 else None,
        flags=flags_of(request.text, text, any(found.capped for _, found in parts)),
    )
    if not settled.links:
        return hypothesis
    return replace(
        hypothesis, links=_links(pipeline, request, parts, decoded, hypothesis, _indent(text) - _indent(joined))
    )


def _links(
    pipeline: Pipeline,
    request: Request,
    parts: Sequence[tuple[Segment, Found]],
    decoded: Sequence[str],
    hypothesis: Hypothesis,
    start: int,
) -> tuple[Link, ...]:
    """Links of all parts, where they stand in the whole texts. start: of the first translation in the hypothesis."""
    words, links = word_spans(request.text), set[Link]()
    spaces = spaces_behind([segment.part for segment, _ in parts], decoded)
    for (segment, found), text, space in zip(parts, decoded, spaces, strict=True):
        source = _moved(pipeline.source.spans_in(segment.part.text, segment.pieces), segment.start)
        target = _moved(pipeline.target.spans(found.pieces), start)
        links.update(links_of(found.attention, Side(words, source), Side(hypothesis.words, target)))
        start += len(text) + len(space)
    return tuple(sorted(links))


def _moved(spans: Sequence[Span], by: int) -> list[Span]:
    return [(start + by, end + by) for start, end in spans]


# --- scoring --------------------------------------------------------------------------------------


def scored(
    pipeline: Pipeline,
    pairs: Sequence[SentencePair | tuple[str, Hypothesis]],
    settled: Settled,
    score: Callable[[list[list[int]], list[list[int]]], Sequence[tuple[float, ...]]],
) -> list[Score]:
    """A Score for each pair. score: of source and target pieces, the natural log-probability of each target
    piece and of the end piece."""
    parts = [scored_parts(pipeline, pair) for pair in pairs]
    flat = [part for found in parts for part in found]
    tokens = iter(score([source for source, _ in flat], [target for _, target in flat]))
    return [_added([next(tokens) for _ in found], settled) for found in parts]


def _added(parts: Sequence[tuple[float, ...]], settled: Settled) -> Score:
    tokens = tuple(token for part in parts for token in part)
    return Score(sum(settled.score(part) for part in parts), sum(tokens), tokens)


def scored_parts(pipeline: Pipeline, pair: SentencePair | tuple[str, Hypothesis]) -> list[tuple[list[int], list[int]]]:
    """Source and target pieces of each part that is scored on its own (one, but for hypotheses of long texts)."""
    if isinstance(pair, SentencePair):
        source = pipeline.source.encode([one_line(pair.source.strip())])[0]
        return [(source, pipeline.target.encode([one_line(pair.target.strip())])[0])]
    text, hypothesis = pair
    found = cut_requests(pipeline, [Request(text)])
    if not found and not hypothesis.pieces:
        return []
    targets: list[list[int]] = [[]]
    for piece in hypothesis.pieces:
        if piece == pipeline.target.pieces.end:
            targets.append([])
        else:
            targets[-1].append(piece)
    if len(found) != len(targets):
        raise UserError(f"the hypothesis {hypothesis.text!r} is not one for this source and this model")
    return [(segment.pieces, target) for segment, target in zip(found, targets, strict=True)]
