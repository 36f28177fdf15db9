"""What is wrong with this corpus or this model, and what helps?

Facts that are known anyway (an inspection, a report, translations with their flags) become findings: a line for each,
and what to do about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dragoman.abilities import CanCover, Coverage
from dragoman.cleaning.guessing import alike, is_known
from dragoman.cleaning.inspection import Inspection, Side
from dragoman.cleaning.scripts import SCRIPTS, scripts_of
from dragoman.cleaning.signs import Signs
from dragoman.contracts import Flag, Hypothesis, SentencePair
from dragoman.corpus.languages import parse_language
from dragoman.corpus.splitting import key_hash
from dragoman.evaluation.metrics import corpus_scores
from dragoman.system.catalogue import KINDS, recipe_class
from dragoman.system.stream import System
from dragoman.texts import LanguageModel, Text
from dragoman.wording import counted

Level = Literal["good", "note", "warning"]

FEW_PAIRS = ((1_000, "warning"), (5_000, "note"))
MUCH = 0.01  # share of pairs, texts or characters from which a finding is a warning
FEWEST_GUESSED = 20  # texts whose language was guessed, from which shares are told
MOST_SHOWN = 12  # examples in a line
STRANGE = 1.25  # times as many bits as on the dev text, from which a text is unlike that of the training
SAME_OUTPUT = 0.2  # share of outputs that are one and the same, from which a model has collapsed

# What to do about pairs that cleaning rejects for a reason; `dragoman corpus clean` alone for all others.
ADVICE = {
    "wrong script": "are the languages right, and the two sides not swapped (--source, --target)?",
    "identical sides": "untranslated text teaches to copy",
    "duplicate": "repeated pairs weigh more than others and leak into test sets",
    "in a test set": "what was learnt by heart is no test: train without these pairs",
    "length ratio": "such pairs are often shifted by a line: look at their neighbours",
    "other numbers": "such pairs are often no translations of each other",
    "mojibake": "decode the file again with its own encoding, if you still have it",
}


@dataclass(frozen=True)
class Finding:
    """A fact in one line, and what to do about it, if anything."""

    level: Level
    what: str
    advice: str = ""


# --- a corpus -----------------------------------------------------------------------------------


def corpus_findings(found: Inspection) -> list[Finding]:
    """What an inspection gives reason to say, the worst first."""
    findings = [*_amount(found.cleaning.kept), *_reasons(found), *_languages(found)]
    for side in (found.source, found.target):
        findings += _side(side)
    return by_level(findings)


def by_level(findings: Sequence[Finding]) -> list[Finding]:
    """Warnings, then notes, then what is good."""
    return sorted(findings, key=lambda one: ("warning", "note", "good").index(one.level))


def _amount(pairs: int) -> Iterator[Finding]:
    told = f"{counted(pairs, 'usable pair')}"
    if not pairs:
        yield Finding("warning", told, "there is nothing to learn from: the reasons are told here")
        return
    for below, level in FEW_PAIRS:
        if pairs < below:
            few = "a network learns little from so few; translation memory and dictionary may be better"
            yield Finding(level, told, f"{few}: compare them, and add text by --monolingual")  # type: ignore[arg-type]
            return
    yield Finding("good", told)


def _reasons(found: Inspection) -> Iterator[Finding]:
    report = found.cleaning
    total = max(report.total, 1)
    for reason, count in report.rejected.items():
        level: Level = "warning" if count >= MUCH * total or reason == "in a test set" else "note"
        advice = ADVICE.get(reason, "")
        tested = " --test FILES" if reason == "in a test set" else ""
        cleaning = f"`dragoman corpus clean{tested}` sets them aside"
        yield Finding(
            level, f"{reason}: {shown_share(count, total)} of records", f"{advice}; {cleaning}" if advice else cleaning
        )
    if not report.rejected:
        yield Finding("good", "cleaning would reject nothing")
    for side, count in report.again.items():
        if count > 0.2 * total:
            what = f"{shown_share(count, total)} of pairs have a {side} that came before with another partner"
            yield Finding(
                "note", what, "several translations of a sentence are no fault, but make a test look too good"
            )


def _languages(found: Inspection) -> Iterator[Finding]:
    """Whether texts look like what they are said to be."""
    sides = found.source, found.target
    if any(len(side.sample) < FEWEST_GUESSED for side in sides):
        return
    codes = [parse_language(side.language).language for side in sides]
    likeliest = [side.guessed.most_common(1)[0][0] for side in sides]
    if likeliest == codes[::-1] and codes[0] != codes[1]:
        yield Finding(
            "warning", f"the {codes[0]} side looks like {codes[1]} and the other way round", "swap the two sides"
        )
        return
    for side, code in zip(sides, codes, strict=True):
        if not is_known(code):
            yield Finding("note", f"the guess of languages does not know {code}")
            continue
        share = sum(side.guessed[each] for each in alike(code)) / len(side.sample)
        told = f"{share:.0%} of {len(side.sample)} drawn {side.language} texts look like {code}"
        if share >= 0.8:
            yield Finding("good", told)
        else:
            other = side.guessed.most_common(1)[0][0]
            advice = (
                "is this the right file, and the right --source and --target? "
                "`dragoman corpus clean --set language=0.1` sets aside what is in another one"
            )
            yield Finding("warning" if share < 0.5 else "note", f"{told}, most like {other}", advice)


def _side(side: Side) -> Iterator[Finding]:
    figures = side.figures()
    texts = int(side.lengths_L.sum())
    if not texts:
        return
    foreign = figures["letters_of_other_scripts"]
    if foreign > 0.2:
        scripts = ", ".join(
            f"{name} {share:.0%}" for name, share in list(figures["scripts"].items())[:3] if share >= MUCH
        )
        yield Finding(
            "note", f"{side.language}: {scripts} of the letters", "fine where names and code stay as they are"
        )
    for name, count in figures["odd_texts"].items():
        level: Level = "warning" if count >= MUCH * texts and name not in HARMLESS else "note"
        told = f"{side.language}: {name} in {shown_share(count, texts)} of texts"
        yield Finding(level, told, HARMLESS.get(name, CLEANED))
    if figures["length"]["p99"] > 100:
        what = f"{side.language}: one text in 100 is longer than {figures['length']['p99']:.0f} words or letters"
        yield Finding("note", what, "long texts cost time; the longest are cut or set aside in training")


CLEANED = "`dragoman corpus clean` puts them right or sets them aside"
HARMLESS = {
    "not composed (NFC)": "training and translation compose them",
    "spaces that are not plain": "`dragoman corpus clean` makes them plain",
    "invisible signs": "`dragoman corpus clean` takes most of them out",
    "traditional characters": "to make them simplified: `dragoman corpus clean --set normalise.simplified=true`",
    "simplified characters": "a side that is zh-Hant should have none",
    "line separators": "they are white space inside a line",
}


def shown_share(count: int, total: int) -> str:
    """A count, and of how many it is how much."""
    share = 100 * count / max(total, 1)
    return f"{count:,} ({share:.0f} %)" if share >= 10 else f"{count:,} ({share:.2g} %)"


# --- a model ------------------------------------------------------------------------------------


def report_findings(report: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """What the training itself tells. rows: of progress.jsonl."""
    findings = []
    figures = report.get("dev_figures") or {}
    if "bleu" in figures:
        bleu = figures["bleu"]
        level: Level = "warning" if bleu < 1 else "note" if bleu < 10 else "good"
        few = "it does not translate yet: more time, or more pairs" if bleu < 1 else "understandable only in part"
        findings.append(Finding(level, f"dev BLEU {bleu:.1f}", "" if level == "good" else few))
    elif "bits_per_character" in figures:
        told = f"dev perplexity {figures['perplexity']:.3g}, {figures['bits_per_character']:.2f} bits a character"
        findings.append(Finding("good", told))
    elif report and not report.get("dev") and _chooses_by_dev(str(report.get("kind", ""))):
        findings.append(Finding("note", "trained without a dev set", "nothing was chosen or fitted: train with --dev"))
    looks = [
        (row["step"], row["loss"]) for row in rows if row.get("phase") == "dev" and "loss" in row and "step" in row
    ]
    if len(looks) > 2:
        (best_step, best), (last_step, last) = min(looks, key=lambda look: look[1]), looks[-1]
        if last > 1.03 * best:
            what = f"dev loss rose from {best:.2f} at update {best_step:,} to {last:.2f} at the end: learnt by heart"
            findings.append(
                Finding("note", what, "more dropout, a smaller network or more pairs; transformer-auto chooses")
            )
        elif report.get("ended") == "time" and looks[-2][1] - last > 0.01 * last:
            what = f"still getting better when its time was over (update {last_step:,})"
            findings.append(Finding("note", what, "the same command with a longer --time-budget goes on"))
    return findings


def _chooses_by_dev(kind: str) -> bool:
    """Whether models of a kind have anything that a dev set chooses."""
    return kind not in KINDS or bool(getattr(recipe_class(kind), "needs_dev", True))


def language_findings(model: LanguageModel, text: Text, report: Mapping[str, Any]) -> list[Finding]:
    """How a language model does on a text, beside the dev text of its training."""
    figures = model.evaluate(text)
    findings, told = [], f"{figures.bits_per_character:.2f} bits a character on this text"
    if isinstance(model, CanCover):
        findings.append(unknown_finding(model.coverage(list(text)), "they are all one to it"))
    before = (report.get("dev_figures") or {}).get("bits_per_character")
    if before is None:
        findings.append(Finding("note", told, "nothing to compare with: it was trained without a dev set"))
    elif figures.bits_per_character > STRANGE * before:
        findings.append(Finding("warning", f"{told}, {before:.2f} on that of its training", "train on text like this"))
    else:
        findings.append(Finding("good", f"{told}, {before:.2f} on that of its training"))
    return findings


def unknown_finding(cover: Coverage, about: str) -> Finding:
    """Which units of some texts a model does not know; about: what becomes of them."""
    told = f"{cover.unknown_share:.2%} of {cover.units:,} {cover.kind} are unknown"
    shown = ", ".join(unit for unit, _ in Counter(cover.unknown).most_common(MOST_SHOWN))
    level: Level = "good" if not cover.unknown else "warning" if cover.unknown_share >= MUCH else "note"
    return Finding(level, f"{told}: {shown}" if shown else told, f"{about}; train on text like this" if shown else "")


def unseen_scripts(cover: Coverage, signs: Signs) -> list[str]:
    """The scripts of the texts of which a model knows no letter, the commonest first. cover: of characters."""
    unknown = Signs(list(cover.unknown))
    times_N = np.array(list(cover.unknown.values()), dtype=np.int64)
    found = Counter[str]()
    for script in SCRIPTS:
        letters = int(signs.of_scripts([script]).sum())
        if letters and int(unknown.of_scripts([script]) @ times_N) >= letters:
            found[script] = letters
    return [script for script, _ in found.most_common()]


def coverage_findings(system: System, texts: Sequence[str]) -> list[Finding]:
    """What of these texts the model does not know before it translates them."""
    if not isinstance(system, CanCover):
        return []
    cover = system.coverage(texts)
    about = {"words": "they are copied or lost", "characters": "they are spelt by bytes or lost, mostly badly"}
    findings = [unknown_finding(cover, about[cover.kind])]
    signs = Signs(texts)
    if cover.kind == "characters" and (unseen := unseen_scripts(cover, signs)):
        what = f"scripts of which the model has no letter: {', '.join(unseen)}"
        findings.append(Finding("warning", what, "text in such a script is not translated"))
    letters = max(int(signs.letters_N.sum()), 1)
    foreign = 1 - int(signs.of_scripts(scripts_of(system.source_language)).sum()) / letters
    if foreign > 0.2:
        what = f"{foreign:.0%} of the letters are in scripts that {system.source_language} is not written in"
        findings.append(
            Finding("warning" if foreign > 0.5 else "note", what, "is this the source language of the model?")
        )
    if cover.too_long:
        what = f"{shown_share(cover.too_long, len(texts))} of texts are longer than what the model was trained on"
        findings.append(Finding("note", what, "they are translated in parts; a sentence a line is better"))
    return findings


def output_findings(system: System, sources: Sequence[str], best: Sequence[Hypothesis]) -> list[Finding]:
    """What translations look wrong, whatever they should say."""
    total = max(len(best), 1)
    flags = Counter(flag for hypothesis in best for flag in hypothesis.flags)
    advice = {
        Flag.LENGTH_CAP: "outputs run on: an undertrained model, or text unlike the training text",
        Flag.EMPTY: "an undertrained model, or text unlike the training text",
        Flag.REPEATS: "an undertrained model; a lower learning rate or more pairs",
        Flag.COPY: "untranslated pairs in the training text teach this: `dragoman corpus clean`",
        Flag.UNTRANSLATED: "words that the training text does not have",
    }
    findings = [
        Finding(
            "warning" if count >= MUCH * total else "note",
            f"{flag.value}: {shown_share(count, total)} of translations",
            advice[flag],
        )
        for flag, count in flags.most_common()
    ]
    if len(set(sources)) > 2:
        text, times = Counter(hypothesis.text for hypothesis in best).most_common(1)[0]
        if times > 1 and times >= SAME_OUTPUT * total:
            what = f"{shown_share(times, total)} of translations are one and the same: {text[:60]}"
            findings.append(
                Finding("warning", what, "the model says the same whatever it reads: it needs more training")
            )
    signs = Signs([hypothesis.text for hypothesis in best])
    letters = int(signs.letters_N.sum())
    right = int(signs.of_scripts(scripts_of(system.target_language)).sum())
    if letters and right < 0.5 * letters:
        what = (
            f"only {right / letters:.0%} of the letters of its translations are in a script of {system.target_language}"
        )
        findings.append(Finding("warning", what, "were the sides of the training text swapped?"))
    return findings or [
        Finding("good", f"{counted(len(best), 'translation')}: none is empty, endless, repeated or copied")
    ]


def quality_findings(pairs: Sequence[SentencePair], best: Sequence[Hypothesis], language: str) -> list[Finding]:
    """BLEU, beside what costs nothing: leaving the text as it is."""
    references = [[pair.target for pair in pairs]]
    bleu, copied = (
        corpus_scores(texts, references, language, with_ter=False).bleu.value
        for texts in ([hypothesis.text for hypothesis in best], [pair.source for pair in pairs])
    )
    told = f"BLEU {bleu:.1f} on {counted(len(pairs), 'test pair')}; the sources as they are have {copied:.1f}"
    level: Level = "warning" if bleu <= copied else "note" if bleu < 10 else "good"
    return [
        Finding(
            level, told, "" if level == "good" else "compare it with memory:FILES and the dictionary before you use it"
        )
    ]


def leak_findings(test: Sequence[SentencePair], train: frozenset[int]) -> list[Finding]:
    """Test pairs of which a side stands in the training text, case and digits apart. train: hashes of its sides."""
    leaked = sum(key_hash(pair.source) in train or key_hash(pair.target) in train for pair in test)
    if not leaked:
        return [Finding("good", "no side of a test pair stands in the training text")]
    what = f"{shown_share(leaked, len(test))} of test pairs have a side that stands in the training text"
    return [
        Finding("warning", what, "the score says too much: `dragoman corpus clean --test` keeps them out of training")
    ]
