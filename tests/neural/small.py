"""A small translator for tests of plumbing: real pieces, an untrained network, seconds to make."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import torch

from dragoman.neural.recipes import TransformerOptions
from dragoman.neural.segments import StoredSearch
from dragoman.neural.seq2seq import NeuralTranslator, build_network
from dragoman.text.options import TextOptions
from dragoman.text.pipeline import Pipeline, fit_pipeline
from tests.generated import generated_bitext

OPTIONS = TransformerOptions(width=32, inner=64, heads=2, encoder_layers=1, decoder_layers=1)


@cache
def small_pipeline() -> Pipeline:
    return replace(fit_pipeline(generated_bitext(120, "en", "de"), TextOptions(pieces=500)), longest=30)


def small_translator(seed: int = 1) -> NeuralTranslator:
    torch.manual_seed(seed)
    pipeline = small_pipeline()
    network = build_network("transformer", OPTIONS, pipeline)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(1.5)
    return NeuralTranslator("transformer", [network], OPTIONS, pipeline, StoredSearch())
