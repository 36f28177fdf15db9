"""How does a user hand a model to a faster engine?"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from dragoman.cli.loading import use_threads
from dragoman.cli.options import Files, Folder, Quiet, Threads
from dragoman.cli.screen import screen


def export(
    model: Folder,
    out: Folder,
    /,
    *,
    to: Literal["ctranslate2"],
    quantization: Literal["fp32", "int8"] = "fp32",
    sample: Files | None = None,
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Write a model down for another engine, once both have been seen to translate alike.

    fp32 needs equal translations of 99 % of the sample; int8 may lose 0.3 BLEU there.

    Parameters
    ----------
    model:
        The folder that `dragoman train --out` made.
    out:
        A new folder, or an earlier export, which is replaced.
    to:
        The engine: CTranslate2 (pip install ctranslate2).
    quantization:
        How weights are kept; int8 is smaller and faster, and changes some translations.
    sample:
        Sentences to compare on: one text file of the source language, or pairs in any format that train reads.
        Else the dev sentences that lie in the model's work, else generated ones.
    """
    from dragoman.corpus.streams import require_files
    from dragoman.system.export import export_model
    from dragoman.system.store import read_card

    use_threads(threads)
    require_files(file for file in sample or () if not Path(file).is_dir())
    with screen(quiet) as report:
        parity = export_model(Path(model), Path(out), to, quantization, sample or (), report=report)
    size = sum((Path(out) / name).stat().st_size for name in read_card(Path(out)).checksums)
    print(f"{out}: {to}, {quantization}, {size / 1e6:,.1f} MB; {parity}")
    print(f"translate with: dragoman translate {out} FILE")
