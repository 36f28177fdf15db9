"""Hugging Face's generate on our weights: python -m benchmarks.peers.huggingface FOLDER, in its own environment.

As M2M100, its Transformer with the norms before the sublayers and sinusoids that are not learnt.
"""

from __future__ import annotations

import math
import sys
from importlib import import_module
from typing import Any

import torch

from benchmarks.peers.task import Sentences, Task, by_length, cut, padded, places, read_weights, split_keys

SHARED = [
    ("self_attention.query", "self_attn.q_proj"),
    ("self_attention.key", "self_attn.k_proj"),
    ("self_attention.value", "self_attn.v_proj"),
    ("self_attention.output", "self_attn.out_proj"),
    ("self_road.norm", "self_attn_layer_norm"),
    ("feed_forward.inner", "fc1"),
    ("feed_forward.outer", "fc2"),
    ("feed_road.norm", "final_layer_norm"),
]
CROSS = [
    ("cross_attention.query", "encoder_attn.q_proj"),
    ("cross_attention.key", "encoder_attn.k_proj"),
    ("cross_attention.value", "encoder_attn.v_proj"),
    ("cross_attention.output", "encoder_attn.out_proj"),
    ("cross_road.norm", "encoder_attn_layer_norm"),
]


def network_of(task: Task, weights: dict[str, Any]) -> Any:
    """Its own Transformer with our weights."""
    transformers: Any = import_module("transformers")
    config = transformers.M2M100Config(
        vocab_size=len(task.pieces),
        d_model=task.width,
        encoder_layers=task.encoder_layers,
        decoder_layers=task.decoder_layers,
        encoder_attention_heads=task.heads,
        decoder_attention_heads=task.heads,
        encoder_ffn_dim=task.inner,
        decoder_ffn_dim=task.inner,
        activation_function="relu",
        scale_embedding=True,
        dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        encoder_layerdrop=0.0,
        decoder_layerdrop=0.0,
        pad_token_id=task.padding,
        bos_token_id=task.start,
        eos_token_id=task.end,
        decoder_start_token_id=task.start,
        forced_eos_token_id=None,
    )
    network = transformers.M2M100ForConditionalGeneration(config)
    names: dict[str, str] = {}
    for half, layers, pairs in (
        ("encoder", task.encoder_layers, SHARED),
        ("decoder", task.decoder_layers, [*SHARED, *CROSS]),
    ):
        names |= places(f"model.{half}", f"{half}_norm", [("", "layer_norm")])
        for number in range(layers):
            names |= places(f"model.{half}.layers.{number}", f"{half}.{number}", pairs)
    given = {theirs: weights[ours] for ours, theirs in names.items()}
    for name in network.state_dict():
        if name.endswith(("shared.weight", "embed_tokens.weight", "lm_head.weight")):
            given[name] = weights["target_embedding.weight"]
    network.load_state_dict(given)
    for part in (network.model.encoder, network.model.decoder):
        table = part.embed_positions.weights
        table[task.padding + 1 :] = sinusoids(len(table) - task.padding - 1, task.width)
    return network.eval()


def sinusoids(length: int, width: int) -> torch.Tensor:
    """Sine and cosine by turns, as Vaswani et al. 2017 have them and M2M100 has not."""
    steps = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000) / width))
    angles = torch.arange(length, dtype=torch.float64)[:, None] * steps
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).float()


def main(folder: str) -> None:
    """Measure it."""
    task = Task.read(folder)
    torch.set_num_threads(task.threads)
    network = network_of(task, split_keys(read_weights(folder)))

    def one_batch(sources: Sentences) -> Sentences:
        rows = torch.tensor(padded(sources, task.end, task.padding))
        with torch.inference_mode():
            found = network.generate(
                input_ids=rows,
                attention_mask=(rows != task.padding).long(),
                num_beams=task.beam,
                max_length=task.cap,
                length_penalty=task.alpha,
                early_stopping=False,
            )
        return [cut(row[1:], task.end) for row in found.tolist()]

    task.do(folder, "huggingface", lambda sources, batch: by_length(sources, batch, one_batch))


if __name__ == "__main__":
    main(sys.argv[1])
