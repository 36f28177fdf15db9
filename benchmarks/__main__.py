"""Which tables can be measured, and which are?

python -m benchmarks (or make bench): the list. python -m benchmarks TABLE... (make bench TABLES="..."): each in turn;
steps that are done are not done again (build/bench). Corpora come from the folder BENCH_DATA, peers from PEERS_ROOT and
PEERS_SCRIPTS; what is missing is skipped, and said.
"""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

from benchmarks.corpora import MULTI30K, PYDOCS_EN_ZH, PYDOCS_ZH_EN, TATOEBA_EN_ZH, TATOEBA_ZH_EN
from benchmarks.quality import place_of
from benchmarks.variations import STUDIES


class Table(NamedTuple):
    """A module of this folder and what it is asked."""

    about: str
    module: str
    arguments: tuple[str, ...] = ()


def tables() -> dict[str, Table]:
    """By name. Decoding is measured with the models that `quality-multi30k.en-de` and `small` leave behind."""
    auto, small = (str(place_of(MULTI30K, *made)) for made in (("transformer-auto", 30), ("transformer-small", 20)))
    found = {"speed": Table("start, training and decoding on generated pairs, no corpus needed (2 minutes)", "speed")}
    try:
        train, test = MULTI30K.part("train"), MULTI30K.part(MULTI30K.test)
    except FileNotFoundError as missing:
        print(f"skipped: {missing}", file=sys.stderr)
    else:
        found |= {
            "training": Table(
                "target pieces a second, beside JoeyNMT and Eole (30 minutes)", "training", (*train, "3", "40")
            ),
            "small": Table(
                "transformer-small, 20 minutes", "quality", (MULTI30K.name, "20", "transformer-small", "--alone")
            ),
            "peer-decoding": Table("beside JoeyNMT, Hugging Face, Eole, CTranslate2", "peer_decoding", (small, *test)),
            "decoding": Table("by beam, batch, threads and processes", "decoding", (auto, test[0])),
            "engine": Table("CTranslate2 through us and by hand", "engine", (small, "--test", *test)),
            "precision": Table("fp32, bf16, int8", "precision", (small, *test)),
        }
    for corpus in (MULTI30K, TATOEBA_ZH_EN, TATOEBA_EN_ZH, PYDOCS_ZH_EN, PYDOCS_EN_ZH):
        about = "transformer-auto and Eole, 30 minutes each"
        found[f"quality-{corpus.name}"] = Table(about, "quality", (corpus.name,))
    found["stopping"] = Table("transformer-auto until it stops by itself", "quality", (MULTI30K.name, "0"))
    found["lowresource"] = Table("6,644 pairs: transformer-auto, -base, back-translation (100 minutes)", "lowresource")
    for corpus in (MULTI30K, TATOEBA_ZH_EN):
        about = "what cleaning catches of a corpus that was spoilt on purpose (a minute)"
        found[f"noise-{corpus.name}"] = Table(about, "noise", (corpus.name,))
    found["filtering"] = Table("cleaning a million pairs, and beside OpusFilter (20 minutes)", "filtering")
    found["cleaned"] = Table("BLEU with spoilt, cleaned and original pairs (an hour)", "cleaned")
    found["receptive"] = Table("how far encoders see, how long a layer takes, no corpus needed (a minute)", "receptive")
    for name, study in STUDIES.items():
        trainings = len(study.rows()) * len(study.seeds)
        found[name] = Table(f"{study.about}: {trainings} trainings (hours)", "variations", (name,))
    found["families"] = Table("every kind, 20 minutes and three seeds each, by length (9 hours)", "families")
    found["recurrent"] = Table("LSTMs beside JoeyNMT's: training, 30 minutes each, beam search (2 hours)", "recurrent")
    found["ngram"] = Table("n-gram models: KenLM's figures, exchange, speed, 20 million words (10 minutes)", "ngram")
    found["memory"] = Table("the peak of a training on a million pairs", "memory")
    return found


def main(names: list[str]) -> int:
    """Run the tables in turn; 1 where one of them failed."""
    known = tables()
    if not names:
        for name, one in known.items():
            print(f"{name:30} {one.about}")
        return 0
    for name in names:
        if name not in known:
            print(f"no table {name!r}: there are {', '.join(known)}", file=sys.stderr)
            return 2
    codes = [
        subprocess.call([sys.executable, "-m", f"benchmarks.{known[n].module}", *known[n].arguments]) for n in names
    ]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
