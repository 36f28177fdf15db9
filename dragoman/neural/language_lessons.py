"""How is a text made into a network that predicts it? (Pieces, ids, network, training: in that order.)"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from dragoman.contracts import Progress, Work
from dragoman.neural import batches, checkpoints, devices, memory, streams
from dragoman.neural.generation import NeuralLanguageModel, build_language_network
from dragoman.neural.lessons import named, refuse_other_shape
from dragoman.neural.lm_recipes import LanguageRecipe
from dragoman.neural.streams import Layout, Window
from dragoman.neural.training import Learner, Lesson
from dragoman.text.running import RunningText, documents_of, fit_running_text
from dragoman.text.textstore import TextStore, build_text_store
from dragoman.texts import Text, facts_of_figures
from dragoman.whole import whole

DEV_STRETCH = 2048  # pieces of a dev file that are read side by side with others


def train_language_model(recipe: LanguageRecipe, train: Text, dev: Text | None, work: Work) -> NeuralLanguageModel:
    """Fit the pieces (or take those of `work.start`), then train the network; dev chooses the checkpoint.

    Leaves in work.folder what `train_translator` leaves there. Without dev the last weights are taken.
    """
    refuse_other_shape(recipe, work)
    device = devices.pick(work.device, work.threads, deterministic=True)
    options = recipe.training
    pipeline = pieces(recipe, train, work)
    store = build_text_store(train, pipeline, work.folder, recipe.text.max_pieces, work.report)
    if store.set_aside:
        work.report(Progress("reading", note=store.summary()))
    by_files = recipe.text.document == "file"
    pipeline = replace(pipeline, longest=0 if by_files else int(store.lengths.max()))
    torch.manual_seed(work.seed)
    context = options.window if by_files else pipeline.longest + 1
    network = build_language_network(recipe.kind, recipe.model, pipeline, context).to(device)
    if work.start is not None:
        checkpoints.load_weights(network, checkpoints.weights_of(work.start.network))
    model = NeuralLanguageModel(recipe.kind, network, recipe.model, pipeline, context)
    sample = dev_sample(dev, recipe, work)
    judge = Judge(model, sample) if sample else None
    parts = stream_lesson if by_files else document_lesson
    lesson = parts(store, recipe, model, work, judge)
    learner = Learner(network, lesson, options, work)
    memory.refuse_too_large(network, options, context, learner.products)
    chosen = learner.learn()
    if judge:
        note = f"chosen: {shown(chosen.figures)}, {named(chosen)}"
        work.report(Progress("chosen", chosen.updates, learner.total(), chosen.figures, note))
    return model


def stream_lesson(
    store: TextStore, recipe: LanguageRecipe, model: NeuralLanguageModel, work: Work, judge: Judge | None
) -> Lesson:
    """Files, as one stream, window by window."""
    total, options, table = len(store.ids), recipe.training, model.pipeline.pieces
    layout = Layout.of(total, options.tokens_per_batch, options.window)

    def count(group: Sequence[Window]) -> int:
        return sum(layout.rows * (window.last - window.first) for window in group)

    def read(group: Sequence[Window]) -> Iterable[batches.Batch]:
        return (layout.read(store.ids, window, table, model.device) for window in group)

    return Lesson(lambda epoch: layout.plan(total, work.seed, epoch), count, read, table.padding, judge)


def document_lesson(
    store: TextStore, recipe: LanguageRecipe, model: NeuralLanguageModel, work: Work, judge: Judge | None
) -> Lesson:
    """Lines or blocks of like length in one batch."""
    lengths_N, table = store.lengths, model.pipeline.pieces

    def plan(epoch: int) -> list[np.ndarray]:
        return batches.plan(lengths_N, lengths_N, recipe.training.tokens_per_batch, work.seed, epoch)

    def count(group: Sequence[np.ndarray]) -> int:
        return sum(int(lengths_N[indices].sum()) + len(indices) for indices in group)

    def read(group: Sequence[np.ndarray]) -> Iterable[batches.Batch]:
        return streams.read_documents(store, group, table, model.device)

    return Lesson(plan, count, read, table.padding, judge)


def pieces(recipe: LanguageRecipe, train: Text, work: Work) -> RunningText:
    """The pieces of the model to go on from, those found in the work folder, or newly fitted ones."""
    folder = work.folder / "text"
    if (folder / "text.json").exists():
        return RunningText.load(folder)
    if work.start is not None:
        old: RunningText = work.start.pipeline
        pipeline = replace(old, language=train.language, document=recipe.text.document)
    else:
        pipeline = fit_running_text(train, recipe.text, threads=work.threads, seed=work.seed, report=work.report)
    pipeline.save(folder)
    return pipeline


def dev_sample(dev: Text | None, recipe: LanguageRecipe, work: Work) -> list[list[str]]:
    """Documents of the dev set with about `dev_characters`: evenly spread lines and blocks, the beginnings of files;
    kept in dev.json, where --finish finds them."""
    kept = work.folder / "dev.json"
    if kept.exists():
        found: list[list[str]] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    documents = [] if dev is None else list(documents_of(dev, recipe.text.document))
    most, total = recipe.training.dev_characters, sum(len(line) + 1 for lines in documents for line in lines)
    if total > most:
        share = most / total
        if recipe.text.document == "file":
            documents = [lines[: max(1, round(share * len(lines)))] for lines in documents]
        else:
            count = max(1, round(share * len(documents)))
            documents = [documents[place * len(documents) // count] for place in range(count)]
    if documents:
        with whole(kept) as aside:
            aside.write_text(json.dumps(documents, ensure_ascii=False), encoding="utf-8")
    return documents


def shown(figures: dict[str, float]) -> str:
    """Dev figures as a user reads them."""
    return f"dev perplexity {figures['perplexity']:.4g}, {figures['bits_per_character']:.4g} bits a character"


@dataclass(frozen=True)
class Judge:
    """Looks at dev documents. Long files are read in stretches side by side, each from an empty state: that is faster,
    and a little worse than in one go."""

    model: NeuralLanguageModel
    documents: Sequence[Sequence[str]]

    def __call__(self) -> tuple[dict[str, float], list[str]]:
        """The figures by name."""
        return dict(facts_of_figures(self.model.figures(self.documents, stretch=DEV_STRETCH))), []
