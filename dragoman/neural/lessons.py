"""How is a bitext made into a network that translates? (Pieces, ids, network, training, search: in that order.)"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pkgutil import resolve_name
from typing import Any

import numpy as np
import torch

from dragoman.contracts import (
    Ability,
    Bitext,
    PieceTable,
    Progress,
    Request,
    SearchOptions,
    SentencePair,
    UserError,
    Work,
)
from dragoman.evaluation.metrics import corpus_scores
from dragoman.neural import batches, checkpoints, devices, memory
from dragoman.neural.checkpoints import Kept
from dragoman.neural.network import Network
from dragoman.neural.recipes import NetworkRecipe, TrainingOptions
from dragoman.neural.segments import StoredSearch
from dragoman.neural.seq2seq import NETWORKS, NeuralTranslator, build_network
from dragoman.neural.team import Team, join, own_device
from dragoman.neural.training import Learner, Lesson
from dragoman.search.steps import rank
from dragoman.text.pieces import BACK_TRANSLATED
from dragoman.text.pipeline import Pipeline, fit_pipeline
from dragoman.text.store import PairStore, build_store
from dragoman.whole import whole
from dragoman.wording import counted

ALPHAS = tuple(step / 10 for step in range(13))
FEWEST_TO_FIT = 10
COLLAPSED = 0.5  # share of dev outputs that are one and the same, or copies, from which a warning is due


def train_translator(recipe: NetworkRecipe, train: Bitext, dev: Bitext | None, work: Work) -> NeuralTranslator:
    """Fit the pieces (or take those of `work.start`), train the network, fit the search on dev.

    What `work.synthetic` holds is learnt too, behind a tag.

    Leaves in work.folder: text/ (pieces), ids-* (the corpus as numbers), state.json and state-*.safetensors,
    best-*.safetensors. Without dev nothing is chosen or fitted: the last weights are taken, alpha is 0.7.
    """
    refuse_no_shape(recipe)
    refuse_other_shape(recipe, work)
    together = join(work.rank, work.world, torch.device(own_device(work.device)))
    device = devices.pick(own_device(work.device) if work.world > 1 else work.device, work.threads, deterministic=True)
    pipeline = pieces_of_all(recipe, train, work, together)
    store = build_store(train, pipeline, work.folder, recipe.text.max_pieces, work.report, threads=work.threads)
    if store.set_aside:
        work.report(Progress("reading", note=store.summary()))
    pipeline = replace(pipeline, longest=store.usual_source_length)
    everything = with_synthetic(store, recipe, pipeline, work)
    torch.manual_seed(work.seed)
    network = build_network(recipe.kind, recipe.model, pipeline).to(device)
    if work.start is not None:
        checkpoints.load_weights(network, checkpoints.weights_of(work.start.networks[0]))
        network.watched = work.start.networks[0].watched
    if store.links is not None:
        teach_links(network, recipe)
    search = first_search(recipe, store)
    product: type[NeuralTranslator] = resolve_name(recipe.product)
    translator = product(recipe.kind, [network], recipe.model, pipeline, search)
    sample = dev_sample(dev, sentences_looked_at(recipe.training), work)
    judge = Judge(translator, sample) if sample else None
    if judge and work.start is not None and not (work.folder / checkpoints.STATE).exists():
        figures, _ = judge()
        work.report(Progress("dev", 0, 0, figures, note="before training: " + shown(figures)))
    lesson = pair_lesson(everything, len(store), recipe, translator, work, judge)
    learner = Learner(network, lesson, recipe.training, work, together)
    memory.refuse_too_large(network, recipe.training, recipe.text.max_pieces, learner.products)
    chosen = learner.learn()
    if not judge:
        return translator
    note = f"chosen: {shown(chosen.figures)}, {named(chosen)}"
    work.report(Progress("chosen", chosen.updates, learner.total(), chosen.figures, note))
    if chosen.figures["bleu"] < 1:
        note = "dev BLEU is below 1: this model does not translate yet; it needs more time, or more pairs"
        work.report(Progress("chosen", chosen.updates, learner.total(), chosen.figures, note))
    if recipe.search.alpha == "fit":
        alpha, note = fit_alpha(translator, sample, learner.share_of_time_for(beam=search.beam))
        work.report(Progress("search", note=note))
        search = replace(search, alpha=alpha)
    return product(recipe.kind, [network], recipe.model, pipeline, search)


def first_search(recipe: NetworkRecipe, store: PairStore) -> StoredSearch:
    """The search before alpha is fitted. max_ratio, where it is to be fitted: 2, or what the training pairs need and a
    quarter."""
    asked = recipe.search
    needed = max(2.0, round(1.25 * store.usual_length_ratio, 2))
    return StoredSearch(
        asked.beam,
        0.7 if asked.alpha == "fit" else asked.alpha,
        asked.length_form,
        needed if asked.max_ratio == "fit" else asked.max_ratio,
    )


def pair_lesson(
    pairs: PairStore, real: int, recipe: NetworkRecipe, translator: NeuralTranslator, work: Work, judge: Judge | None
) -> Lesson:
    """Pairs of like length in one batch. real: so many of them come in every epoch, of those behind them a part."""
    source, target = translator.pipeline.source.pieces, translator.pipeline.target.pieces
    training, ratio = recipe.training, recipe.backtranslation.ratio

    def plan(epoch: int) -> list[np.ndarray]:
        pairs_N = batches.pairs_of_epoch(real, len(pairs) - real, ratio, work.seed, epoch)
        lengths = pairs.source_lengths, pairs.target_lengths
        return batches.plan(*lengths, training.tokens_per_batch, work.seed, epoch, pairs_N)

    def count(group: Sequence[np.ndarray]) -> int:
        return sum(int(pairs.target_lengths[indices].sum()) + len(indices) for indices in group)

    def read(group: Sequence[np.ndarray]) -> Iterable[batches.Batch]:
        own = [batches.share(indices, work.rank, work.world) for indices in group]
        return batches.read(pairs, own, source, target, translator.device)

    return Lesson(plan, count, read, target.padding, judge, training.select, training.guidance)


def teach_links(network: Network, recipe: NetworkRecipe) -> None:
    """Have the pairs' links teach one head, which is what is watched from now on. UserError where nothing can learn."""
    if Ability.ATTENTION not in resolve_name(recipe.product).abilities:
        raise UserError(f"links teach attention, and kind {recipe.kind!r} has none")
    if network.watched is not None and recipe.training.guidance:
        network.watched = network.watched._replace(head=network.watched.head or 0)


def refuse_no_shape(recipe: Any) -> None:
    """UserError, before any text is read, where no network can have the shape that the recipe asks for."""
    few = PieceTable(tuple("psuzx"), padding=0, unknown=1, start=2, end=3)
    try:
        with devices.WithoutContent():
            resolve_name(NETWORKS[recipe.kind][0])(recipe.model, few, few, recipe.text.joint)
    except ValueError as error:
        raise UserError(f"this recipe makes no network: {error}") from error


def refuse_other_shape(recipe: Any, work: Work) -> None:
    """UserError where the model to go on from has another shape than the recipe asks for."""
    if work.start is None:
        return
    there, asked = asdict(work.start.options), asdict(recipe.model)
    for name in asked:
        if there[name] != asked[name] and "dropout" not in name:
            raise UserError(f"the model to go on from has model.{name} = {there[name]}, the recipe {asked[name]}")


def pieces(recipe: NetworkRecipe, train: Bitext, work: Work) -> Pipeline:
    """The pieces of the model to go on from, those found in the work folder, or newly fitted ones."""
    folder = work.folder / "text"
    if (folder / "text.json").exists():
        return Pipeline.load(folder)
    if work.start is not None:
        old: Pipeline = work.start.pipeline
        pipeline = replace(
            old,
            source_language=train.source_language,
            target_language=train.target_language,
            longest=recipe.text.max_pieces,
        )
    else:
        pipeline = fit_pipeline(train, recipe.text, threads=work.threads, seed=work.seed, report=work.report)
    pipeline.save(folder)
    return pipeline


def with_synthetic(store: PairStore, recipe: NetworkRecipe, pipeline: Pipeline, work: Work) -> PairStore:
    """The real pairs, and behind them those of `work.synthetic`, each source of which begins with a tag.

    A network that sees which sources are synthetic learns their target side without taking the way they are
    written for how people write (Caswell et al. 2019). Pieces, lengths and search are of the real pairs alone.
    """
    if work.synthetic is None:
        return store
    made = build_store(
        work.synthetic,
        pipeline,
        work.folder,
        recipe.text.max_pieces,
        work.report,
        threads=work.threads,
        tag=BACK_TRANSLATED,
    )
    seen = len(batches.pairs_of_epoch(len(store), len(made), recipe.backtranslation.ratio, work.seed, 0)) - len(store)
    note = f"synthetic pairs: {made.summary()}; an epoch sees {seen:,} of them beside {counted(len(store), 'real one')}"
    work.report(Progress("reading", note=note))
    return store.followed_by(made)


def pieces_of_all(recipe: NetworkRecipe, train: Bitext, work: Work, team: Team) -> Pipeline:
    """The pieces as rank 0 has them, in every process of the team."""
    folder = work.folder / "text"
    if team.leads:
        pieces(recipe, train, work)
    files = team.share({path.name: path.read_bytes() for path in folder.glob("*")})
    if not team.leads:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    return Pipeline.load(folder)


def sentences_looked_at(training: TrainingOptions) -> int:
    """dev_sentences, but under a time budget at most one for four of its seconds (and not under 50)."""
    if not training.time_budget:
        return training.dev_sentences
    return min(training.dev_sentences, max(50, int(training.time_budget / 4)))


def dev_sample(dev: Bitext | None, most: int, work: Work) -> list[tuple[str, str]]:
    """At most `most` pairs, evenly spread over the dev set; kept in dev.json, where --finish finds them."""
    kept = work.folder / "dev.json"
    if kept.exists():
        return [(source, target) for source, target in json.loads(kept.read_text(encoding="utf-8"))]
    if dev is None or not len(dev):
        return []
    step = max(1.0, len(dev) / most)
    wanted = {int(index * step) for index in range(min(most, len(dev)))}
    sample = [(pair.source, pair.target) for index, pair in enumerate(dev) if index in wanted]
    with whole(kept) as aside:
        aside.write_text(json.dumps(sample, ensure_ascii=False), encoding="utf-8")
    return sample


def shown(figures: dict[str, float]) -> str:
    """Dev figures as a user reads them."""
    names = {"loss": "dev loss", "bleu": "BLEU", "chrf": "chrF"}
    return ", ".join(f"{names[name]} {figures[name]:.3g}" for name in names if name in figures)


def named(kept: Kept) -> str:
    """Which weights these are."""
    count = int(kept.figures.get("averaged", 1))
    return f"the average of the {count} best checkpoints" if count > 1 else f"the checkpoint of update {kept.updates:,}"


@dataclass(frozen=True)
class Judge:
    """Looks at dev pairs: loss (nats a piece), BLEU and chrF of greedy translations, and signs of collapse."""

    translator: NeuralTranslator
    dev: Sequence[tuple[str, str]]

    def __call__(self) -> tuple[dict[str, float], list[str]]:
        """The figures by name, and lines that must be said."""
        sources, references = [source for source, _ in self.dev], [target for _, target in self.dev]
        outputs = [each.text for each in self.translator.translate(sources, SearchOptions(beam=1))]
        scores = corpus_scores(outputs, [references], self.translator.target_language, with_ter=False)
        right = self.translator.score([SentencePair(source, target) for source, target in self.dev])
        pieces = sum(len(score.token_log_probabilities) for score in right)
        loss = -sum(score.log_probability for score in right) / pieces
        return {"loss": loss, "bleu": scores.bleu.value, "chrf": scores.chrf.value}, collapse(sources, outputs)


def collapse(sources: Sequence[str], outputs: Sequence[str]) -> list[str]:
    """One output for everything, or copies of the source: what a network does that learnt nothing yet."""
    if len(outputs) < 10:
        return []
    notes = []
    commonest = Counter(outputs).most_common(1)[0][1] / len(outputs)
    if commonest >= COLLAPSED:
        notes.append(f"the model gives one and the same output for {commonest:.0%} of the dev sentences so far")
    copies = sum(source == output for source, output in zip(sources, outputs, strict=True)) / len(outputs)
    if copies >= COLLAPSED:
        notes.append(
            f"the model copies {copies:.0%} of the dev sentences: are source and target really different languages?"
        )
    return notes


def fit_alpha(translator: NeuralTranslator, dev: Sequence[tuple[str, str]], share: float) -> tuple[float, str]:
    """The length normalisation with the best dev BLEU, from one search, and what to say of it.

    Which hypotheses a search finishes does not depend on alpha, so its candidates are only ranked anew
    for each value. Ties go to the value nearest 0.7. share: of the dev pairs, as far as time allows.
    """
    settled = translator.settle(SearchOptions())
    segments = translator.segments([Request(source) for source, _ in dev])
    cut = {segment.request for segment in segments if segment.number}
    segments = [segment for segment in segments if segment.request not in cut]
    segments = segments[: math.ceil(share * len(segments))]
    if len(segments) < FEWEST_TO_FIT:
        return settled.alpha, f"length normalisation alpha {settled.alpha:g}: too few dev pairs, or time, to fit it"
    references = [[dev[segment.request][1] for segment in segments]]
    found = translator.search_all(segments, settled)
    best: tuple[float, float, float] = (-1.0, 0.0, settled.alpha)
    for alpha in ALPHAS:
        ranked = [rank(candidates, alpha, settled.length_form)[0] for candidates in found]
        outputs = [translator.pipeline.target.decode(candidate.pieces).strip() for candidate in ranked]
        bleu = corpus_scores(outputs, references, translator.target_language, with_ter=False).bleu.value
        best = max(best, (round(bleu, 2), -abs(alpha - 0.7), alpha))
    return best[2], f"length normalisation alpha {best[2]:g} fitted on dev (BLEU {best[0]:.2f}, beam {settled.beam})"
