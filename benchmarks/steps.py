"""How is a long measurement cut into steps that need not be done twice?

A result is a JSON file under build/bench; a step is run only where its file is missing. Each result says when,
under which load, and by which command it came about.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

RESULTS = Path("build/bench")
PEERS = Path(os.environ.get("PEERS_ROOT", "build/peers"))
SCRIPTS = Path(os.environ.get("PEERS_SCRIPTS", PEERS / "scripts"))

Result = dict[str, Any]


def step(name: str, measure: Callable[[], Mapping[str, Any]]) -> Result:
    """The result of a step, measured now or found; a failure is said and leaves the step open."""
    place = RESULTS / f"{name}.json"
    if place.exists():
        found: Result = json.loads(place.read_text(encoding="utf-8"))
        return found
    print(f"{name} ...", file=sys.stderr, flush=True)
    load = os.getloadavg()[0]
    try:
        measured = dict(measure())
    except (subprocess.CalledProcessError, OSError) as error:
        return {"skipped": str(error)}
    facts = {
        "date": datetime.now().isoformat(timespec="minutes"),
        "load": [round(load, 2), round(os.getloadavg()[0], 2)],
        "command": " ".join(sys.orig_argv),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({**measured, **facts}, indent=2) + "\n", encoding="utf-8")
    return {**measured, **facts}


def peer(script: str, *arguments: str, **environment: str) -> Result:
    """What a peer's script reports: the JSON behind RESULT in its last such line.

    The peers are installed in environments of their own, outside the project (PEERS_ROOT, PEERS_SCRIPTS).
    """
    if not (SCRIPTS / script).exists():
        raise FileNotFoundError(f"no {script} in {SCRIPTS}: set PEERS_ROOT and PEERS_SCRIPTS")
    done = subprocess.run(
        ["bash", str(SCRIPTS / script), *arguments],
        env={**os.environ, "PEERS_ROOT": str(PEERS.resolve()), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not lines:
        raise OSError(f"{script} reported nothing: {done.stderr.strip()[-300:]}")
    found: Result = json.loads(lines[-1].removeprefix("RESULT "))
    return found


def table(header: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    """A Markdown table."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
