"""Is the memory that a training needs known before it starts, and is too little of it refused?"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from dragoman.contracts import UserError
from dragoman.neural import memory
from dragoman.neural.recipes import TrainingOptions
from tests.neural.small import small_translator

MEASURED = """
import resource, torch
from dragoman.neural import memory, recipes, seq2seq, training
from dragoman.neural.batches import Batch
from dragoman.neural.optimiser import AdamW
from tests.neural.small import small_pipeline

options = recipes.TransformerOptions(width=256, inner=1024)
network = seq2seq.build_network("transformer", options, small_pipeline())
optimiser = AdamW(network.parameters(), 1e-3)

def update(rows):
    ids = torch.randint(30, 300, (rows, 64))
    training.batch_loss(network, Batch(ids, ids, ids, 64 * rows), 0, 0.1)[0].smoothed.backward()
    optimiser.step()

update(1)  # what the libraries take once and for all
weights = sum(parameter.numel() for parameter in network.parameters()) * (
    memory.BYTES_A_PARAMETER + memory.BYTES_A_GRADIENT
)
before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() - weights
update(32)
status = dict(line.split(":") for line in open("/proc/self/status"))
peak = int(status["VmHWM"].split()[0]) * 1024  # ru_maxrss begins with the parent's
print(memory.needed_bytes(network, tokens=2048, longest=64), peak - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measured where /proc tells it")
def test_the_estimate_is_near_what_a_training_takes() -> None:
    done = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True, check=True)
    estimate, measured = map(int, done.stdout.split())
    assert measured / 2 < estimate < measured * 2


def test_longer_batches_and_sentences_need_more() -> None:
    network = small_translator().networks[0]
    base = memory.needed_bytes(network, tokens=512, longest=64)
    assert memory.needed_bytes(network, tokens=4096, longest=64) > base
    assert memory.needed_bytes(network, tokens=512, longest=256) > base
    assert memory.needed_bytes(network, tokens=512, longest=64, products=torch.bfloat16) < base


def test_asking_changes_nothing() -> None:
    network = small_translator().networks[0]
    before = torch.get_rng_state()
    memory.needed_bytes(network, tokens=512, longest=64)
    assert torch.equal(torch.get_rng_state(), before)
    assert not network.training
    assert all(parameter.grad is None for parameter in network.parameters())


def test_too_little_memory_is_refused_before_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    network, options = small_translator().networks[0], TrainingOptions()
    needed = memory.needed_bytes(network, options.tokens_per_batch, 64)
    monkeypatch.setattr(memory, "free_bytes", lambda: needed)
    memory.refuse_too_large(network, options, 64, torch.float32)
    with pytest.raises(UserError, match=r"training needs about .* GiB are free: lower tokens_per_batch \(4096\)"):
        memory.refuse_too_large(network, replace(options, tokens_per_batch=4096), 64, torch.float32)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux is asked")
def test_some_memory_is_free() -> None:
    free = memory.free_bytes()
    assert free is not None
    assert 2**20 < free < 2**50
