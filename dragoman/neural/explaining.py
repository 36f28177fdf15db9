"""How did a network come to its translation of one text?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import torch

from dragoman.contracts import Ability, Hypothesis, Request, SearchOptions, SentencePair, UserError
from dragoman.neural.batches import Batch, collate, pad
from dragoman.neural.observing import observed_attention
from dragoman.neural.segments import Found, Segment, Settled, batches, scored_parts, translated
from dragoman.neural.seq2seq import NeuralTranslator, found_of
from dragoman.search.steps import Candidate, rank
from dragoman.search.tree import Gardener
from dragoman.seeing import Explanation, Heads, Part, Reference, Said, SentenceStates
from dragoman.text.normalise import one_line
from dragoman.text.pieces import labels

MOST_PARTS = 4
"""Parts of a long text that are explained; all of them are translated."""

LAYER = re.compile(r"(?:(encoder|decoder)\.(?:layers\.)?(\d+)\.)?(self_attention|cross_attention|attention)")


@torch.inference_mode()
def explained(translator: NeuralTranslator, text: str, reference: str, options: SearchOptions) -> Explanation:
    """See `CanExplain`. UserError for what shows no search: sampling, an ensemble."""
    settled = settled_for(translator, options)
    parts: list[Part] = []
    count = 0

    def search(segments: Sequence[Segment]) -> list[list[Found]]:
        nonlocal count
        count, found = len(segments), []
        for segment in segments[:MOST_PARTS]:
            ranked, part = grown(translator, segment, settled)
            parts.append(part)
            found.append([found_of(segment, candidate, settled) for candidate in ranked])
        return found + translator.outputs(segments[MOST_PARTS:], settled)

    best = translated(translator.pipeline, [Request(text)], settled, search)[0].hypotheses[0]
    return Explanation(
        kind=translator.kind,
        languages=(translator.source_language, translator.target_language),
        source=text,
        text=best.text,
        flags=best.flags,
        parts=tuple(parts),
        part_count=count,
        reference=given(translator, text, reference, best, count, settled) if reference else None,
    )


def settled_for(translator: NeuralTranslator, options: SearchOptions) -> Settled:
    """The search of a single network that is to be shown."""
    if options.sampling is not None:
        raise UserError("what is explained is a search: sampling draws")
    if len(translator.networks) > 1:
        raise UserError("an ensemble is explained member by member: take one model")
    return translator.settle(replace(options, attention=Ability.ATTENTION in translator.abilities))


def grown(translator: NeuralTranslator, segment: Segment, settled: Settled) -> tuple[list[Candidate], Part]:
    """What a search found for a segment, best first, and all that it looked at."""
    target = translator.pipeline.target.pieces
    gardener = Gardener(lambda piece: labels(target, [piece])[0], settled.beam, settled.alpha, settled.length_form)
    ranked = rank(translator.candidates([segment], settled, gardener)[0], settled.alpha, settled.length_form)
    found = found_of(segment, ranked[0], settled)
    tokens = found.token_log_probabilities
    said = Said(translator.pipeline.target.decode(found.pieces), named(translator, found.pieces), tokens, found.score)
    part = Part(
        source=segment.part.text,
        source_pieces=(*labels(translator.pipeline.source.pieces, segment.pieces), "</s>"),
        output=said,
        attention_TS=found.attention,
        heads=heads_of(translator, forced(translator, segment.pieces, found.pieces)),
        tree=gardener.tree(ranked[0]),
    )
    return ranked, part


def named(translator: NeuralTranslator, pieces: Sequence[int]) -> tuple[str, ...]:
    """Target pieces and the end piece as they are written."""
    return (*labels(translator.pipeline.target.pieces, pieces), "</s>")


def forced(translator: NeuralTranslator, source: Sequence[int], target: Sequence[int]) -> Batch:
    """One pair of ids as a network reads it."""
    tables = translator.pipeline.source.pieces, translator.pipeline.target.pieces
    return collate([source], [target], *tables, translator.device)


def heads_of(translator: NeuralTranslator, batch: Batch) -> tuple[Heads, ...]:
    """The weights of every head that asks the source, layer by layer: the decoder's, then the encoder's own."""
    network = translator.networks[0]
    with observed_attention(network) as seen:
        network.hidden(batch.sources_BS, batch.inputs_BT)
    found: list[Heads] = []
    for name, weights in seen.items():
        known = LAYER.fullmatch(name)
        if known is None or (known[1] == "decoder" and known[3] == "self_attention") or not weights:
            continue
        side = known[1] or "decoder"
        weights_TS = torch.cat(weights, -2)[0].float().cpu().numpy()
        weights_HTS = weights_TS if weights_TS.ndim == 3 else weights_TS[None]
        layer = f"{side} layer {int(known[2]) + 1}" if known[2] else side
        found.append(Heads(layer, "source by source" if side == "encoder" else "source by target", weights_HTS))
    return tuple(sorted(found, key=lambda heads: heads.of, reverse=True))


def given(
    translator: NeuralTranslator, text: str, reference: str, best: Hypothesis, parts: int, settled: Settled
) -> Reference:
    """A translation by somebody else beside the model's own, both scored as whole texts."""
    pair = SentencePair(text, reference)
    options = SearchOptions(alpha=settled.alpha, length_form=settled.length_form)
    theirs, ours = translator.score([pair, (text, best)], options)
    ((source, pieces),) = scored_parts(translator.pipeline, pair)
    cap = settled.cap(source, [])
    why = ""
    if parts != 1:
        why = f"the text is cut into {parts} parts before it is searched, and the reference is not"
    elif len(pieces) + 1 > cap:
        why = f"the reference has {len(pieces) + 1} pieces, and a search stops at {cap} here"
    elif not translator.rules.allow(pieces):
        why = "the reference has pieces that no output may have"
    said = Said(reference, named(translator, pieces), theirs.token_log_probabilities, theirs.score)
    attention_TS = None
    if parts == 1 and Ability.ATTENTION in translator.abilities:
        batch = forced(translator, source, pieces)
        weights_BTS = translator.networks[0].hidden_and_weights(batch.sources_BS, batch.inputs_BT)[1]
        attention_TS = weights_BTS[0].cpu().numpy()
    return Reference(said, ours.score, why, attention_TS)


@torch.inference_mode()
def sentence_states(translator: NeuralTranslator, texts: Sequence[str]) -> SentenceStates:
    """A vector for each text, read as a whole."""
    if len(translator.networks) > 1:
        raise UserError("an ensemble has no states of its own: take one model")
    source = translator.pipeline.source
    encoded = source.encode([one_line(text.strip()) for text in texts])
    rows: dict[int, torch.Tensor] = {}
    for indices in batches([len(pieces) for pieces in encoded], 2048):
        sources_BS = torch.from_numpy(pad([encoded[i] for i in indices], source.pieces.padding, source.pieces.end))
        vectors_BD = translator.networks[0].sentence_vectors(sources_BS.to(translator.device))
        rows.update(zip(indices, vectors_BD.float().cpu(), strict=True))
    vectors_ND = torch.stack([rows[index] for index in range(len(texts))]).numpy()
    return SentenceStates(vectors_ND, tuple(map(tuple, encoded)))
