"""JoeyNMT's beam search on our weights: python -m benchmarks.peers.joeynmt FOLDER, in its own environment."""

from __future__ import annotations

import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import torch

from benchmarks.peers.task import Sentences, Task, by_length, cut, padded, places, read_weights, split_keys


def attention(ours: str, theirs: str) -> list[tuple[str, str]]:
    """Names of the four matrices."""
    parts = (("query", "q"), ("key", "k"), ("value", "v"), ("output", "output"))
    return [(f"{ours}.{mine}", f"{theirs}.{other}_layer") for mine, other in parts]


FEED_FORWARD = [
    ("feed_forward.inner", "feed_forward.pwff_layer.0"),
    ("feed_forward.outer", "feed_forward.pwff_layer.3"),
    ("feed_road.norm", "feed_forward.layer_norm"),
]
ENCODER = [*attention("self_attention", "src_src_att"), ("self_road.norm", "layer_norm"), *FEED_FORWARD]
DECODER = [
    *attention("self_attention", "trg_trg_att"),
    *attention("cross_attention", "src_trg_att"),
    ("self_road.norm", "x_layer_norm"),
    ("cross_road.norm", "dec_layer_norm"),
    *FEED_FORWARD,
]
UNKNOWN, PADDING, START, END = range(4)  # JoeyNMT's special pieces come first, in this order


def order_of(task: Task) -> list[int]:
    """Our id of each of its pieces."""
    special = [task.unknown, task.padding, task.start, task.end]
    return special + [index for index in range(len(task.pieces)) if index not in special]


SPECIAL: dict[str, Any] = {
    "unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>",
    "unk_id": UNKNOWN, "pad_id": PADDING, "bos_id": START, "eos_id": END,
}  # fmt: skip


def vocabulary_of(task: Task) -> Any:
    """Its vocabulary; pieces are spelt as our ids, in the order of `order_of`."""
    rest = list(map(str, order_of(task)[4:]))
    special = SimpleNamespace(**SPECIAL, sep_token=None, lang_tags=[])
    return import_module("joeynmt.vocabulary").Vocabulary(rest, special)


def network_of(task: Task, weights: dict[str, Any]) -> Any:
    """Its own Transformer with our weights."""

    def side(layers: int) -> dict[str, Any]:
        return {
            "type": "transformer",
            "num_layers": layers,
            "num_heads": task.heads,
            "embeddings": {"embedding_dim": task.width, "scale": True, "dropout": 0.0},
            "hidden_size": task.width,
            "ff_size": task.inner,
            "dropout": 0.0,
            "layer_norm": "pre",
            "activation": "relu",
        }

    vocabulary = vocabulary_of(task)
    shape = {
        "tied_embeddings": True,
        "tied_softmax": True,
        "encoder": side(task.encoder_layers),
        "decoder": side(task.decoder_layers),
    }
    network = import_module("joeynmt.model").build_model(shape, vocabulary, vocabulary)
    names: dict[str, str] = {}
    for half, layers, pairs in (("encoder", task.encoder_layers, ENCODER), ("decoder", task.decoder_layers, DECODER)):
        names |= places(half, f"{half}_norm", [("", "layer_norm")])
        for number in range(layers):
            names |= places(f"{half}.layers.{number}", f"{half}.{number}", pairs)
    given = {theirs: weights[ours] for ours, theirs in names.items()}
    for name, tensor in network.state_dict().items():
        if name.endswith("lut.weight") or name == "decoder.output_layer.weight":
            given[name] = weights["target_embedding.weight"][order_of(task)]
        elif name.endswith("pe.pe"):
            given[name] = tensor  # the same sinusoids as ours
    network.load_state_dict(given)
    for module in network.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = 1e-5  # as in ours
    return network.eval()


def main(folder: str) -> None:
    """Measure it."""
    task = Task.read(folder)
    torch.set_num_threads(task.threads)
    measure(task, network_of(task, split_keys(read_weights(folder))), folder, "joeynmt")


def measure(task: Task, network: Any, folder: str, name: str) -> None:
    """Translate with its search, and write NAME.json."""
    order = order_of(task)
    place_of = {ours: theirs for theirs, ours in enumerate(order)}
    search, batch_of = import_module("joeynmt.search").search, import_module("joeynmt.batch").Batch
    device = torch.device("cpu")

    def one_batch(sources: Sentences) -> Sentences:
        rows = padded([[place_of[piece] for piece in source] for source in sources], END, PADDING)
        lengths = torch.tensor([len(source) + 1 for source in sources])
        batch = batch_of(
            torch.tensor(rows), lengths, None, None, None, torch.arange(len(rows)), device, PADDING, END, is_train=False
        )
        found, _, _ = search(
            model=network, batch=batch, max_output_length=task.cap, beam_size=task.beam, beam_alpha=task.alpha
        )
        return [[order[piece] for piece in cut(row, END)] for row in found.tolist()]

    task.do(folder, name, lambda sources, batch: by_length(sources, batch, one_batch))


if __name__ == "__main__":
    main(sys.argv[1])
