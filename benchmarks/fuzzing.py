"""Does any file whatever make a reader fail in another way than by one line of ours?

python -m benchmarks.fuzzing [MINUTES [SEED]]: small good files of every format, compressed in every way, are damaged
at random (bytes changed, put in, cut out, doubled, files spliced, or nothing but random bytes) and read in both modes
of --on-bad-line, for MINUTES (10). Prints for each format how many were read whole, read with records set aside, or
refused in one line; whatever else happens is printed with the seed of its file, and the exit code is 1.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.steps import table
from dragoman.contracts import SentencePair, UserError
from dragoman.corpus.compression import SUFFIXES as PACKED
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.layouts import LAYOUTS
from dragoman.corpus.lines import OnBadLine
from dragoman.corpus.writers import write_bitext

PAIRS = [
    *(SentencePair(f"Wörter {number} & <b>mehr</b>", f"“words” {number}, {number}.5 %s") for number in range(12)),
    SentencePair('"quoted", with\tcommas', "他说：“你好”。"),
]
MODES: tuple[OnBadLine, ...] = ("stop", "skip")
PLAIN = "two texts"
SHOWN = 5  # failures


def good_files(place: Path) -> dict[str, list[bytes]]:
    """The files of each format, once for each compression: bytes of one file, or of two plain texts."""
    found: dict[str, list[bytes]] = {}
    for packed in ("", *PACKED):
        for suffix in (*LAYOUTS, ".mo"):
            path = place / f"x{suffix}{packed}"
            write_bitext(PAIRS, [path], "de", "en")
            found.setdefault(suffix, []).append(path.read_bytes())
        sides = [place / f"x.{code}{packed}" for code in ("de", "en")]
        write_bitext(PAIRS, sides, "de", "en")
        found.setdefault(PLAIN, []).extend(path.read_bytes() for path in sides)
    return found


def damaged(data: bytes, others: Sequence[bytes], draws: random.Random) -> bytes:
    """The bytes after one to four accidents."""
    if draws.random() < 0.05:
        return draws.randbytes(draws.randrange(300))
    for _ in range(draws.randint(1, 4)):
        at, length = draws.randrange(len(data) + 1), draws.choice((1, 2, 5, 20, 100))
        match draws.randrange(6):
            case 0:
                data = data[:at] + draws.randbytes(length) + data[at + length :]
            case 1:
                data = data[:at] + draws.randbytes(length) + data[at:]
            case 2:
                data = data[:at] + data[at + length :]
            case 3:
                data = data[:at] + data[at : at + length] * draws.choice((2, 50)) + data[at + length :]
            case 4:
                other = draws.choice(others)
                data = data[:at] + other[draws.randrange(len(other) + 1) :]
            case 5:
                data = data[:at] + draws.choice((b"<", b"&", b'"', b"\\", b"\n", b"\r", b"\0", b"\xff", b"]]>", b"{"))
    return data


def outcome(paths: Sequence[Path], mode: OnBadLine) -> str:
    """What became of the files; AssertionError where a mistake is not told in one line with the file's name."""
    try:
        bitext = open_bitext([str(path) for path in paths], "de", "en", on_bad_line=mode)
        kept = sum(1 for _ in bitext)
    except UserError as error:
        told = str(error)
        assert "\n" not in told, told
        assert told.startswith((*map(str, paths), "0 of ")) or all(str(path) in told for path in paths), told
        return "refused in one line"
    assert kept == len(bitext) > 0, f"{kept} pairs, where {len(bitext)} were counted"
    return "read, records set aside" if bitext.set_aside else "read whole"


def main(minutes: float, seed: int) -> int:
    """Print a row a format; 1 where a reader failed."""
    counts: dict[str, Counter[str]] = {}
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        good = good_files(place)
        everything = [data for files in good.values() for data in files]
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end:
            seed += 1
            draws = random.Random(seed)
            name, mode = draws.choice(list(good)), draws.choice(MODES)
            which = draws.randrange(1 + len(PACKED))
            packed = ("", *PACKED)[which if draws.random() < 0.9 else 0]
            if name == PLAIN:
                paths = [place / f"y.{code}{packed}" for code in ("de", "en")]
                contents = list(good[name][2 * which : 2 * which + 2])
                broken = draws.randrange(2)
                contents[broken] = damaged(contents[broken], everything, draws)
            else:
                paths, contents = [place / f"y{name}{packed}"], [damaged(good[name][which], everything, draws)]
            for path, data in zip(paths, contents, strict=True):
                path.write_bytes(data)
            try:
                found = outcome(paths, mode)
            except Exception:  # whatever it is, it is what is looked for
                found = "FAILED"
                failed.append(f"seed {seed}, {name}{packed}:\n{traceback.format_exc()}")
            counts.setdefault(name, Counter())[found] += 1
    kinds = sorted({kind for counter in counts.values() for kind in counter})
    rows: list[tuple[object, ...]] = [(name, *(counter[kind] for kind in kinds)) for name, counter in counts.items()]
    rows.append(("all", *(sum(counter[kind] for counter in counts.values()) for kind in kinds)))
    print(table(("format", *kinds), rows))
    print("\n".join(failed[:SHOWN]))
    return int(bool(failed))


if __name__ == "__main__":
    minutes, seed = [*sys.argv[1:3], *("10", "1")[len(sys.argv[1:3]) :]]
    sys.exit(main(float(minutes), int(seed)))
