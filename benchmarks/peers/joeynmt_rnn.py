"""JoeyNMT's recurrent network, in its own environment.

python -m benchmarks.peers.joeynmt_rnn FOLDER [WEIGHTS]: its beam search on our weights, or on its own.
python -m benchmarks.peers.joeynmt_rnn train CONF UNTIL WEIGHTS: its trainer, until the clock says UNTIL (seconds since
1970); then its weights are written, and the updates that it made.
"""

from __future__ import annotations

import json
import math
import runpy
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from benchmarks.peers.joeynmt import SPECIAL, measure, order_of, vocabulary_of
from benchmarks.peers.task import Task, read_weights


def shape(width: int, attention: str, dropout: float) -> dict[str, Any]:
    """LSTMs of one layer, the encoder's in both directions, input feeding. attention: "bahdanau" or "luong"."""
    both: dict[str, Any] = {
        "type": "recurrent", "rnn_type": "lstm", "hidden_size": width, "num_layers": 1, "dropout": dropout,
        "embeddings": {"embedding_dim": width, "scale": False, "dropout": dropout},
    }  # fmt: skip
    return {
        "initializer": "xavier_uniform", "bias_initializer": "zeros", "init_gain": 1.0, "embed_initializer": "normal",
        "embed_init_weight": 0.1, "tied_embeddings": True, "tied_softmax": False,
        "encoder": {**both, "bidirectional": True},
        "decoder": {
            **both, "hidden_dropout": dropout, "input_feeding": True, "init_hidden": "bridge", "attention": attention,
        },
    }  # fmt: skip


def configuration(task: Task, place: Path, languages: tuple[str, str], attention: str, batch: int) -> dict[str, Any]:
    """For its trainer; train.LANGUAGE, dev.LANGUAGE and vocabulary lie in `place`, pieces spelt as our ids."""
    side = {"max_length": 100, "level": "word", "voc_file": str(place / "vocabulary"), "tokenizer_cfg": {}}
    return {
        "name": "recurrent", "joeynmt_version": "2.3.0", "model_dir": str(place / "model"), "use_cuda": False,
        "fp16": False, "random_seed": 42,
        "data": {
            "train": str(place / "train"), "dev": str(place / "dev"), "dataset_type": "plain",
            "src": {**side, "lang": languages[0]}, "trg": {**side, "lang": languages[1]}, "special_symbols": SPECIAL,
        },
        "testing": {"n_best": 1, "beam_size": 5, "beam_alpha": 1.0, "batch_size": 64, "batch_type": "sentence",
                    "max_output_length": task.cap, "eval_metrics": ["bleu"]},
        "training": {
            "optimizer": "adam", "adam_betas": [0.9, 0.98], "learning_rate": 0.001, "learning_rate_min": 0.0,
            "scheduling": "warmupinversesquareroot", "learning_rate_warmup": 100, "clip_grad_norm": 1.0,
            "weight_decay": 0.0, "loss": "crossentropy", "label_smoothing": 0.1, "batch_size": batch,
            "batch_type": "token", "batch_multiplier": 1, "normalization": "tokens", "epochs": 10**6,
            "updates": 10**9, "validation_freq": 10**9, "logging_freq": 100, "early_stopping_metric": "bleu",
            "shuffle": True, "overwrite": True, "print_valid_sents": [0], "keep_best_ckpts": 1,
        },
        "model": shape(task.width, attention, 0.1),
    }  # fmt: skip


def vocabulary_lines(task: Task) -> str:
    """Its vocabulary file."""
    special = (SPECIAL[f"{name}_token"] for name in ("unk", "pad", "bos", "eos"))
    return "".join(f"{piece}\n" for piece in (*special, *order_of(task)[4:]))


def train(conf: str, until: float, weights: str) -> None:
    """Its own command, cut at a time."""
    manager = import_module("joeynmt.training").TrainManager
    learn = manager._train_step

    def step(self: Any, batch: Any) -> Any:
        if time.time() > until:
            torch.save(self.model.state_dict(), weights)
            Path(f"{weights}.json").write_text(json.dumps({"updates": self.stats.steps}), encoding="utf-8")
            sys.exit(0)
        return learn(self, batch)

    manager._train_step = step
    sys.argv = ["joeynmt", "train", conf]
    runpy.run_module("joeynmt", run_name="__main__")


def network_of(task: Task, attention: str) -> Any:
    """Its own network without weights."""
    vocabulary = vocabulary_of(task)
    return import_module("joeynmt.model").build_model(shape(task.width, attention, 0.0), vocabulary, vocabulary)


def with_our_weights(task: Task, weights: dict[str, Any]) -> Any:
    """The same function as ours: its keys get the bias that ours have, and its first memory is made of the encoder's
    memory, as ours is, not of the state once more."""
    attention = "bahdanau" if "attention.score.query.weight" in weights else "luong"
    network, order = network_of(task, attention), order_of(task)
    encoder, decoder = network.encoder, network.decoder

    def put(layer: Any, name: str) -> None:
        layer.weight.copy_(weights[f"{name}.weight"])
        if f"{name}.bias" in weights:
            layer.bias = torch.nn.Parameter(weights[f"{name}.bias"])

    def put_cell(cell: str, inputs: list[Any], rnn: Any, suffix: str = "") -> None:
        getattr(rnn, f"weight_ih_l0{suffix}").copy_(torch.cat(inputs, 1))
        getattr(rnn, f"weight_hh_l0{suffix}").copy_(weights[f"{cell}.state.weight"])
        getattr(rnn, f"bias_ih_l0{suffix}").copy_(weights[f"{cell}.input.bias"])
        getattr(rnn, f"bias_hh_l0{suffix}").zero_()

    with torch.no_grad():
        scale = math.sqrt(task.width)  # with which embeddings enter our cells
        network.src_embed.lut.weight.copy_(weights["target_embedding.weight"][order] * scale)
        put_cell("encoder.layers.0.0", [weights["encoder.layers.0.0.input.weight"]], encoder.rnn)
        put_cell("encoder.layers.0.1", [weights["encoder.layers.0.1.input.weight"]], encoder.rnn, "_reverse")
        put_cell("decoder.0", [weights["decoder.0.input.weight"], weights["feed.weight"]], decoder.rnn)
        put(decoder.attention.key_layer, "attention.score.key")
        if attention == "bahdanau":
            put(decoder.attention.query_layer, "attention.score.query")
            put(decoder.attention.energy_layer, "attention.score.judge")
        put(decoder.att_vector_layer, "mix")
        put(decoder.bridge_layer, "bridge.parts.0")
        decoder.output_layer.weight.copy_(weights["output.weight"][order])
    last: dict[str, Any] = {}
    encoder.rnn.register_forward_hook(lambda module, given, made: last.update(memory=made[1][1]))

    def first_state(encoder_final: Any) -> tuple[Any, Any]:
        hidden = decoder.bridge_layer(encoder_final).tanh()
        memory = torch.cat([last["memory"][0], last["memory"][1]], -1)
        memory = torch.nn.functional.linear(memory, weights["bridge.parts.1.weight"], weights["bridge.parts.1.bias"])
        return hidden[None], memory[None]

    decoder._init_hidden = first_state
    return network.eval()


def main(folder: str, own: str = "") -> None:
    """Measure it."""
    task = Task.read(folder)
    torch.set_num_threads(task.threads)
    if not own:
        network = with_our_weights(task, read_weights(folder))
    else:
        weights = torch.load(own)
        network = network_of(task, "bahdanau" if "decoder.attention.query_layer.weight" in weights else "luong")
        network.load_state_dict(weights)
    measure(task, network.eval(), folder, "joeynmt_rnn")


if __name__ == "__main__":
    if sys.argv[1] == "train":
        train(sys.argv[2], float(sys.argv[3]), sys.argv[4])
    else:
        main(*sys.argv[1:3])
