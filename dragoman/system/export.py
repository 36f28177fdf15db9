"""Does a model that is handed to another engine still translate as it did?

An export is written aside, loaded again, and compared with the model sentence by sentence; only one that passes
takes its place in OUT.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal

from dragoman.contracts import Progress, Translation, UserError, quiet
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.lines import read_lines
from dragoman.corpus.sources import PLAIN, suffix_container
from dragoman.evaluation.metrics import corpus_scores
from dragoman.system import store
from dragoman.system.catalogue import ENGINES, EXPORTERS, product_class
from dragoman.text.pieces import BYTE_IDS
from dragoman.text.pipeline import Pipeline
from dragoman.wording import counted

Quantization = Literal["fp32", "int8"]

SENTENCES = {"fp32": 200, "int8": 500}  # BLEU needs more of them than a count of what is equal
TIE = 1e-4
EQUAL = 0.99  # share of equal translations that fp32 needs
BLEU_LOST = 0.3  # that int8 may lose against references
GENERATED = "generated sentence"
ALIKE = 75.0  # BLEU of int8 against the model's own translations that is needed where there are no references


@dataclass(frozen=True)
class Sample:
    """Sentences to compare on, and where they came from. references: None where there are none."""

    name: str
    sources: Sequence[str]
    references: Sequence[str] | None = None


@dataclass(frozen=True)
class Parity:
    """How an exported model translates a sample, against the model itself.

    equal: sentences with the same best translation, or one whose score ties within 1e-4. bleu, exported_bleu: against
    references, None without. alike: BLEU of its translations against the model's.
    """

    sample: str
    sentences: int
    equal: int
    alike: float
    bleu: float | None = None
    exported_bleu: float | None = None

    def passes(self, quantization: Quantization) -> bool:
        """fp32: 99 % of the translations are equal. int8: at most 0.3 BLEU are lost, or it is as alike as that."""
        if self.equal >= EQUAL * self.sentences:
            return True
        if quantization == "fp32":
            return False
        if self.bleu is None or self.exported_bleu is None:
            return self.alike >= ALIKE
        return self.exported_bleu >= self.bleu - BLEU_LOST

    def __str__(self) -> str:
        share = f"{self.equal:,} of {counted(self.sentences, self.sample)} translated equally"
        share += f" ({self.equal / self.sentences:.1%})"
        if self.bleu is None:
            return f"{share}, BLEU {self.alike:.1f} against the model's own translations"
        return f"{share}, BLEU {self.bleu:.2f} -> {self.exported_bleu:.2f}"


def export_model(
    folder: Path,
    out: Path,
    engine: str,
    quantization: Quantization = "fp32",
    sample: Sequence[str] = (),
    *,
    report: Callable[[Progress], None] = quiet,
) -> Parity:
    """Make `out` a folder that the engine runs, of the model in `folder`.

    sample: files to compare on, as `read_sample` takes them; else the dev sentences that training left in the
    model folder; else sentences made of the model's pieces. An earlier export in `out` is replaced.
    UserError: other files in `out`; what the engine cannot express; too many other translations.
    """
    card = store.read_card(folder)
    if (card.kind, engine) not in EXPORTERS:
        able = ", ".join(kind for kind, other in EXPORTERS if other == engine)
        raise UserError(f"{folder}: kind {card.kind!r} cannot be exported to {engine}; kinds that can: {able}")
    refuse_foreign(out)
    asked = read_sample(sample, card.source_language, card.target_language) if sample else kept_sample(folder)
    model: Any = store.load_model(folder)
    compared = asked or drawn_sample(model.pipeline, SENTENCES["fp32"])
    with store.published(out) as aside:
        report(Progress("exporting"))
        resolve_name(EXPORTERS[card.kind, engine])(model, aside, quantization)
        checksums = store.flush_and_sum(aside)
        exported = product_class(engine).load(aside, "cpu")
        parity = compare(model, exported, compared, SENTENCES[quantization], report)
        if not parity.passes(quantization):
            raise UserError(f"not exported: {parity}; {needed(parity, quantization)}")
        facts = {"exported from": card.fingerprint, "checked": str(parity), "model": dict(exported.describe())}
        store.write_report(aside, facts)
        store.write_card(aside, engine, exported, checksums, ["report.json"])
    return parity


def needed(parity: Parity, quantization: Quantization) -> str:
    """What the parity of an export must be, in words."""
    if quantization == "fp32":
        least = f"{EQUAL:.0%} are needed"
    elif parity.bleu is None:
        least = f"{ALIKE:g} are needed"
    else:
        least = f"at most {BLEU_LOST:g} may be lost"
    few = parity.sentences < SENTENCES[quantization] or parity.sample == GENERATED
    return f"{least}{'; --sample compares on more sentences, or on your own' if few else ''}"


def refuse_foreign(out: Path) -> None:
    """UserError where `out` is neither new, nor empty, nor an earlier export."""
    if not out.exists():
        return
    if not out.is_dir():
        raise UserError(f"{out}: is a file; OUT names a folder for the export")
    if (out / "model.json").exists():
        kind = store.read_card(out).kind
        if kind not in ENGINES:
            raise UserError(f"{out}: holds a {kind} model; name another folder as OUT")
        return
    names = {path.name for path in out.iterdir()} - {"work"}
    work = {path.name for path in (out / "work").iterdir()} if (out / "work").is_dir() else set()
    if names or work - {"lock", "finished", "publish"}:
        raise UserError(f"{out}: holds other files; name a new or empty folder as OUT")


# --- the sample -----------------------------------------------------------------------------------


def read_sample(files: Sequence[str], source: str, target: str) -> Sample:
    """One text file of the source language, or sentence pairs in any format."""
    if len(files) == 1 and suffix_container(files[0]) == PLAIN and not Path(files[0]).is_dir():
        sources = [line.text for line in read_lines(files[0]) if line.text.strip()]
        if not sources:
            raise UserError(f"{files[0]}: no sentence to check with")
        return Sample("sentence", sources)
    pairs = list(open_bitext(files, source, target))
    return Sample("sentence", [pair.source for pair in pairs], [pair.target for pair in pairs])


def kept_sample(folder: Path) -> Sample | None:
    """The dev sentences that training looked at, where the model folder still has its work."""
    try:
        pairs = json.loads((folder / "work" / "dev.json").read_text(encoding="utf-8"))
        sources, references = [str(source) for source, _ in pairs], [str(target) for _, target in pairs]
    except (OSError, ValueError, TypeError):
        return None
    return Sample("dev sentence", sources, references) if pairs else None


def drawn_sample(pipeline: Pipeline, count: int) -> Sample:
    """Texts of 3 to 12 learnt pieces, the frequent ones more often: no language, but all that a network can read."""
    draw = random.Random(count)
    first = BYTE_IDS[-1] + 1 if pipeline.source.pieces.byte_ids else BYTE_IDS[0]
    learnt = range(first, len(pipeline.source.pieces))
    weights = [1 / (rank + 10) for rank in range(len(learnt))]
    rows = [draw.choices(learnt, weights, k=draw.randint(3, 12)) for _ in range(count)]
    texts = [pipeline.source.decode(row).strip() for row in rows]
    return Sample(GENERATED, [text for text in texts if text])


# --- the comparison -------------------------------------------------------------------------------


def compare(model: Any, exported: Any, sample: Sample, most: int, report: Callable[[Progress], None] = quiet) -> Parity:
    """Translate at most so many sentences, evenly spread over the sample, with both."""
    step = max(1.0, len(sample.sources) / most)
    places = [int(index * step) for index in range(min(most, len(sample.sources)))]
    sources = [sample.sources[place] for place in places]
    report(Progress("comparing", 0, 2 * len(sources)))
    ours = model.translate(sources)
    report(Progress("comparing", len(sources), 2 * len(sources)))
    theirs = exported.translate(sources)
    texts, others = ([translation.text for translation in translations] for translations in (ours, theirs))

    def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
        return corpus_scores(hypotheses, [references], model.target_language, with_ter=False).bleu.value

    known = None if sample.references is None else [sample.references[place] for place in places]
    return Parity(
        sample.name,
        len(sources),
        sum(map(same, ours, theirs)),
        bleu(others, texts),
        None if known is None else bleu(texts, known),
        None if known is None else bleu(others, known),
    )


def same(one: Translation, other: Translation) -> bool:
    """Equal best translations, or scores that tie."""
    return one.text == other.text or abs(one.hypotheses[0].score - other.hypotheses[0].score) <= TIE
