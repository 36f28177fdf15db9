"""How is a trained Transformer written down for CTranslate2?"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.contracts import PieceTable, UserError
from dragoman.neural.attention import MultiHeadAttention
from dragoman.neural.exported import FACTS, ctranslate2_module
from dragoman.neural.seq2seq import NeuralTranslator
from dragoman.neural.transformer import DecoderLayer, EncoderLayer, Transformer, sinusoids

ACTIVATIONS = {"relu": "RELU", "gelu": "GELU"}
KNOWN_THERE: dict[str, tuple[object, ...]] = {
    "norm": ("pre", "post"),
    "residual": (True,),
    "activation": tuple(ACTIVATIONS),
    "positions": ("sinusoidal",),
    "score": ("scaled",),
}
POSITIONS = 1024  # at least; CTranslate2 reads our sinusoids from a table, for its own ones are others
STEPS = 64  # of a weight in int8, see `quantise`


def write_ctranslate2(translator: NeuralTranslator, folder: Path, quantization: str) -> None:
    """Write model.bin, config.json and vocabularies for CTranslate2 into the folder, our text/ and search beside them.

    quantization: "fp32" or "int8". UserError that names what CTranslate2 cannot express.
    """
    specs: Any = ctranslate2_module().specs
    refuse_inexpressible(translator)
    network, pipeline = translator.networks[0], translator.pipeline
    assert isinstance(network, Transformer)
    positions = max(POSITIONS, 2 * (math.ceil(translator.search.max_ratio * pipeline.longest) + 10))
    with torch.inference_mode():
        spec = transformer_spec(specs, network, positions)
        if quantization == "int8":
            quantise(specs, spec)
    for table, register in (
        (pipeline.source.pieces, spec.register_source_vocabulary),
        (pipeline.target.pieces, spec.register_target_vocabulary),
    ):
        register(list(table.pieces))
    table = pipeline.target.pieces
    spec.config.unk_token, spec.config.bos_token = table.pieces[table.unknown], table.pieces[table.start]
    spec.config.eos_token = table.pieces[table.end]
    spec.config.decoder_start_token = table.pieces[table.start]
    spec.validate()
    spec.optimize()  # equal matrices are kept once
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))
    pipeline.save(folder / "text")
    facts = {"quantization": quantization, "positions": positions, "search": asdict(translator.search)}
    (folder / FACTS).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def refuse_inexpressible(translator: NeuralTranslator) -> None:
    """UserError for the first thing that CTranslate2 has no words for."""
    network, pipeline = translator.networks[0], translator.pipeline
    if len(translator.networks) > 1:
        raise UserError("an ensemble cannot be exported to ctranslate2: export one of its members")
    if type(network) is not Transformer:
        raise UserError(f"a {type(network).__name__} cannot be exported to ctranslate2: it runs Transformers")
    for name, known in KNOWN_THERE.items():
        if (chosen := getattr(network.options, name)) not in known:
            raise UserError(f"ctranslate2 has no Transformer with {name} = {chosen!r}: it cannot be exported")
    if translator.search.length_form != "power":
        raise UserError(
            f"ctranslate2 has no length normalisation {translator.search.length_form!r}: it divides by T^alpha only"
        )
    for table in (pipeline.source.pieces, pipeline.target.pieces):
        refuse_pieces(table)


def refuse_pieces(table: PieceTable) -> None:
    """UserError where two pieces are not told apart by their spelling."""
    seen: set[str] = set()
    for piece in table.pieces:
        if piece in seen:
            raise UserError(f"ctranslate2 tells pieces apart by their spelling, and {piece!r} is two of them")
        seen.add(piece)


def transformer_spec(specs: Any, network: Transformer, positions: int) -> Any:
    """CTranslate2's description of a Transformer with our weights in it."""
    options = network.options
    spec = specs.TransformerSpec.from_config(
        (options.encoder_layers, options.decoder_layers),
        options.heads,
        pre_norm=options.norm == "pre",
        activation=getattr(specs.common_spec.Activation, ACTIVATIONS[options.activation]),
    )
    spec.config.layer_norm_epsilon = network.decoder_layers[0].feed_road.norm.eps
    table_TD = sinusoids(positions, options.width)
    spec.encoder.embeddings[0].weight = network.source_embedding.weight
    spec.decoder.embeddings.weight = network.target_embedding.weight
    spec.decoder.projection.weight = network.output_VD
    for side, norm in ((spec.encoder, network.encoder_norm), (spec.decoder, network.decoder_norm)):
        side.position_encodings.encodings = table_TD
        if isinstance(norm, nn.LayerNorm):
            set_norm(side.layer_norm, norm)
    for theirs, ours in zip(spec.encoder.layer, network.encoder, strict=True):
        assert isinstance(ours, EncoderLayer)
        set_layer(theirs, ours)
    for theirs, ours in zip(spec.decoder.layer, network.decoder_layers, strict=True):
        set_layer(theirs, ours)
        set_norm(theirs.attention.layer_norm, ours.cross_road.norm)
        attention = ours.cross_attention
        for linear, part in zip(
            theirs.attention.linear, (attention.query, attention.key_value, attention.output), strict=True
        ):
            set_linear(linear, [part])
    return spec


def set_layer(spec: Any, layer: EncoderLayer | DecoderLayer) -> None:
    """What layers of both sides have: self-attention and feed-forward, with their norms."""
    set_norm(spec.self_attention.layer_norm, layer.self_road.norm)
    set_self_attention(spec.self_attention, layer.self_attention)
    set_norm(spec.ffn.layer_norm, layer.feed_road.norm)
    set_linear(spec.ffn.linear_0, [layer.feed_forward.inner])
    set_linear(spec.ffn.linear_1, [layer.feed_forward.outer])


def set_self_attention(spec: Any, attention: MultiHeadAttention) -> None:
    """Queries, keys and values come from one product there."""
    set_linear(spec.linear[0], [attention.query, attention.key_value])
    set_linear(spec.linear[1], [attention.output])


def set_norm(spec: Any, norm: nn.Module) -> None:
    """Gain and shift."""
    assert isinstance(norm, nn.LayerNorm)
    spec.gamma, spec.beta = norm.weight, norm.bias


def set_linear(spec: Any, parts: Sequence[nn.Linear]) -> None:
    """One product for the outputs of all parts, one after another."""
    spec.weight = torch.cat([part.weight for part in parts])
    spec.bias = torch.cat([part.bias for part in parts])


def quantise(specs: Any, spec: Any) -> None:
    """Write each matrix as int8 with a scale a row: w_8 = round(w 64 / max |w|).

    CTranslate2's own conversion takes 127 steps. Processors without VNNI add two products of a byte and a weight in
    16 bits, and 2 x 255 x 127 does not fit there: sums are cut off in silence, and many more translations
    change. 2 x 255 x 64 fits. See docs/decisions/15.
    """

    def visit(layer: Any, name: str, value: Any) -> None:
        if name.rpartition("/")[2] == "weight" and hasattr(layer, "weight_scale"):
            layer.weight, layer.weight_scale = in_steps(value)

    specs.model_spec.visit_spec(spec, visit)


def in_steps(weight: Tensor) -> tuple[Tensor, Tensor]:
    """int8 weights and their scale a row: weight = int8 / scale, as nearly as 64 steps allow.

    >>> in_steps(torch.tensor([[1.0, -0.5, 0.1]]))
    (tensor([[ 64, -32,   6]], dtype=torch.int8), tensor([64.]))
    """
    scale = STEPS / weight.abs().amax(1).clamp(min=1e-30)
    return (weight * scale[:, None]).round().to(torch.int8), scale
