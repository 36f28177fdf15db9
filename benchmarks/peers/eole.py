"""Eole's predict on our weights: python -m benchmarks.peers.eole FOLDER [fp32|bf16], in its own environment."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from benchmarks.peers.task import Sentences, Task, places, read_weights, split_keys

SHARED = [
    ("self_attention.query", "self_attn.linear_query"),
    ("self_attention.key", "self_attn.linear_keys"),
    ("self_attention.value", "self_attn.linear_values"),
    ("self_attention.output", "self_attn.final_linear"),
    ("self_road.norm", "input_layernorm"),
    ("feed_forward.inner", "mlp.gate_up_proj"),
    ("feed_forward.outer", "mlp.down_proj"),
    ("feed_road.norm", "post_attention_layernorm"),
]
CROSS = [
    ("cross_attention.query", "context_attn.linear_query"),
    ("cross_attention.key", "context_attn.linear_keys"),
    ("cross_attention.value", "context_attn.linear_values"),
    ("cross_attention.output", "context_attn.final_linear"),
    ("cross_road.norm", "precontext_layernorm"),
]
POSITIONS = 5000  # rows of its table


def write_model(task: Task, weights: dict[str, Any], place: Path) -> None:
    """A model folder as Eole leaves one behind after training, with our weights."""
    names: dict[str, str] = {}
    for half, layers, pairs in (
        ("encoder", task.encoder_layers, SHARED),
        ("decoder", task.decoder_layers, [*SHARED, *CROSS]),
    ):
        names |= places(half, f"{half}_norm", [("", "layer_norm")])
        for number in range(layers):
            names |= places(f"{half}.transformer_layers.{number}", f"{half}.{number}", pairs)
    given = {theirs: weights[ours].contiguous() for ours, theirs in names.items()}
    for number in range(task.decoder_layers):
        given[f"decoder.transformer_layers.{number}.layer_scalar"] = torch.ones(1)
    given["src_emb.embeddings.weight"] = weights["target_embedding.weight"]
    given["generator.bias"] = torch.zeros(len(task.pieces))
    table = import_module("eole.modules.embeddings").PositionalEncoding(task.width, "SinusoidalInterleaved", POSITIONS)
    for side in ("src", "tgt"):
        given[f"{side}_emb.pe.pe"] = table.pe.clone()
    place.mkdir(exist_ok=True)
    import_module("safetensors.torch").save_file(given, place / "model.00.safetensors")
    shape = {
        "hidden_size": task.width,
        "heads": task.heads,
        "transformer_ff": task.inner,
        "position_encoding_type": "SinusoidalInterleaved",
        "add_qkvbias": True,
        "add_final_linear_bias": True,
        "add_ffnbias": True,
    }
    embeddings = {f"{side}word_vec_size": task.width for side in ("", "src_", "tgt_")}
    model = {
        **shape,
        "architecture": "transformer",
        "share_embeddings": True,
        "share_decoder_embeddings": True,
        "layers": task.encoder_layers,
        "embeddings": {**embeddings, "position_encoding_type": "SinusoidalInterleaved"},
        "encoder": {
            **shape,
            "encoder_type": "transformer",
            "layers": task.encoder_layers,
            "src_word_vec_size": task.width,
        },
        "decoder": {
            **shape,
            "decoder_type": "transformer",
            "layers": task.decoder_layers,
            "tgt_word_vec_size": task.width,
            "with_cross_attn": True,
        },
    }
    vocabulary = {f"{side}_vocab": "none" for side in ("src", "tgt")}
    config = {
        "share_vocab": True,
        "model": model,
        "training": {"compute_dtype": "torch.float32"},
        "data": {},
        **vocabulary,
    }
    (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
    special = ("unk_token", "pad_token", "bos_token", "eos_token")
    ids = (task.unknown, task.padding, task.start, task.end)
    words = {
        "src": task.pieces,
        "tgt": task.pieces,
        "decoder_start_token": task.pieces[task.start],
        "specials": {name: task.pieces[index] for name, index in zip(special, ids, strict=True)},
    }
    (place / "vocab.json").write_text(json.dumps(words), encoding="utf-8")


def main(folder: str, precision: str = "fp32") -> None:
    """Measure it."""
    task = Task.read(folder)
    torch.set_num_threads(task.threads)
    place = Path(folder) / "eole"
    write_model(task, split_keys(read_weights(folder)), place)
    command = import_module("eole.bin.run.predict").Predict
    parser = ArgumentParser()
    command.add_args(parser)
    asked = ["--model_path", str(place), "--src", "none", "--beam_size", str(task.beam), "--batch_type", "sents"]
    asked += ["--compute_dtype", precision, "--max_length", str(task.cap), "--max_length_ratio", "0"]
    asked += ["--length_penalty", "avg", "--alpha", str(task.alpha)]
    engine = import_module("eole.inference_engine").InferenceEnginePY(command.build_config(parser.parse_args(asked)))
    id_of = {piece: index for index, piece in enumerate(task.pieces)}

    def translate(sources: Sentences, batch: int) -> Sentences:
        engine.config.update(batch_size=batch)
        lines = [" ".join(task.pieces[index] for index in source) for source in sources]
        _, _, outputs = engine.infer_list(lines)
        return [[id_of[piece] for piece in output[0].split() if piece in id_of] for output in outputs]

    task.do(folder, "eole", translate)
    engine.terminate()


if __name__ == "__main__":
    main(*sys.argv[1:3])
