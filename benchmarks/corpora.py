"""Where are the corpora that are measured on?

In the folder that BENCH_DATA names, outside the project: a folder a corpus, two text files a part. What is missing is
skipped.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

DATA = Path(os.environ.get("BENCH_DATA", "build/data"))


class Corpus(NamedTuple):
    """Names of a corpus, its direction and its parts."""

    folder: str
    source: str
    target: str
    dev: str = "dev"
    test: str = "test"

    @property
    def name(self) -> str:
        return f"{Path(self.folder).name.partition('.')[0]}.{self.source}-{self.target}"

    def part(self, name: str) -> list[str]:
        """The two files of a part. Raises FileNotFoundError where they are missing."""
        files = [DATA / self.folder / f"{name}.{language}" for language in (self.source, self.target)]
        for file in files:
            if not file.exists():
                raise FileNotFoundError(f"no {file}: set BENCH_DATA")
        return [str(file) for file in files]


MULTI30K = Corpus("multi30k", "en", "de", "val", "test2016")
TATOEBA_ZH_EN = Corpus("tatoeba.en-zh", "zh", "en")
TATOEBA_EN_ZH = Corpus("tatoeba.en-zh", "en", "zh")
PYDOCS_ZH_EN = Corpus("pydocs.en-zh", "zh", "en")
PYDOCS_EN_ZH = Corpus("pydocs.en-zh", "en", "zh")
LAFAND = Corpus("lafand.en-yor", "en", "yor")
CORPORA = {
    corpus.name: corpus for corpus in (MULTI30K, TATOEBA_ZH_EN, TATOEBA_EN_ZH, PYDOCS_ZH_EN, PYDOCS_EN_ZH, LAFAND)
}
