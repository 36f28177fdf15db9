"""Is memory that a step freed there for the next one?"""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

COUNT = """
import resource, torch
from dragoman.neural import devices

def page_faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(16 << 20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(*(page_faults() for _ in range(20)))
devices.pick("cpu")
print(*(page_faults() for _ in range(20)))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked to keep memory")
def test_a_freed_tensor_is_not_cleared_anew() -> None:
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    before, after = (list(map(int, line.split())) for line in done.stdout.splitlines())
    assert min(before) > 1000
    assert sum(after) < sum(before) / 2  # the heap needs a few rounds to find its shape
