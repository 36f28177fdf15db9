"""How does a network learn from batches, and when is it done?

One loop for every network: it knows neither the architecture nor the task. `Lesson` says where batches
come from and who judges; everything that the next update depends on is in `checkpoints.Standing`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dragoman.contracts import Interrupted, Progress, UserError, Work
from dragoman.neural import checkpoints, devices
from dragoman.neural.batches import Batch, rows_apart
from dragoman.neural.checkpoints import Kept, Standing
from dragoman.neural.crew import Crew
from dragoman.neural.loss import Loss, cross_entropy, guidance
from dragoman.neural.network import Carried, Network, Predictor
from dragoman.neural.optimiser import AdamW
from dragoman.neural.recipes import LearningOptions
from dragoman.neural.team import Team

SAVE_SECONDS = 120.0
WINDOW = 50
ALONE = Team()


@dataclass(frozen=True)
class Lesson:
    """plan(epoch): the epoch's batches in order, cheap; count: the target pieces of some of them; read: their
    tensors, in a team this process's share of them; padding: of the targets; judge: dev figures by name ("loss",
    "chrf", "bleu", ...) and lines that must be said; None without dev. select: the figure that decides; guidance: how
    much the links of pairs weigh."""

    plan: Callable[[int], Sequence[Any]]
    count: Callable[[Sequence[Any]], int]
    read: Callable[[Sequence[Any]], Iterable[Batch]]
    padding: int
    judge: Callable[[], tuple[dict[str, float], list[str]]] | None
    select: str = "loss"
    guidance: float = 0.0


def rate(position: float, length: int, options: LearningOptions) -> float:
    """Learning rate at a position of the schedule (in updates, from 0 to length).

    Up: linear over warmup_updates. Down: cosine to 0 (Loshchilov & Hutter 2017) or
    sqrt(warmup / position) (Vaswani et al. 2017, eq. 3).
    """
    warmup = min(options.warmup_updates, length // 2)
    if position < warmup:
        return options.learning_rate * (position + 1) / (warmup + 1)
    if options.schedule == "cosine":
        way = min(1.0, (position - warmup) / max(1, length - warmup))
        return options.learning_rate * 0.5 * (1 + math.cos(math.pi * way))
    return options.learning_rate * math.sqrt(max(1, warmup) / max(1.0, position))


class Clock:
    """Seconds of work in all sittings, and how much of the schedule they are worth under a budget.

    Some of the budget is kept for what follows the last update: a look at the dev set, one at the
    averaged weights, fitting the search. It is reckoned from the time that a look takes.
    """

    def __init__(self, options: LearningOptions, length: int, began: float, before: float) -> None:
        self.budget, self.length, self.began, self.before = options.time_budget, length, began, before

    def seconds(self) -> float:
        return self.before + time.monotonic() - self.began

    def position(self, updates: int, look_seconds: float) -> float:
        if not self.budget:
            return float(updates)
        reserve = min(0.2 * self.budget, 7 * look_seconds + 3 if look_seconds else 0.15 * self.budget)
        return self.length * self.seconds() / (self.budget - reserve)


class Window(NamedTuple):
    """What the last updates were like."""

    seconds: float
    tokens: int
    loss: float
    norm: float


class Learner:
    """The loop. `learn` brings the network to its best weights and returns the dev figures of those."""

    def __init__(
        self, network: Predictor, lesson: Lesson, options: LearningOptions, work: Work, team: Team = ALONE
    ) -> None:
        self.network, self.lesson, self.options, self.work, self.team = network, lesson, options, work, team
        self.device = checkpoints.device_of(network)
        self.products = devices.products_dtype(options.precision, self.device)
        self.crew = Crew(network, self.device)
        self.parts = len(self.crew)
        self.optimiser = AdamW(
            network.parameters(), options.learning_rate, (options.beta1, options.beta2), options.weight_decay
        )
        self.limits = {
            "max_updates": float(options.max_updates),
            "max_epochs": float(options.max_epochs),
            "time_budget": float(options.time_budget),
        }
        state = team.share(checkpoints.read_state(work.folder))
        team.start_alike(network)
        self.standing = checkpoints.put_on(state, network, self.optimiser) if state else Standing()
        self.carried = checkpoints.carried_of(state, self.device) if state else ()
        self.length = self.schedule_length()
        self.clock = Clock(options, self.length, work.began, self.standing.seconds)
        if self.standing.updates and self.standing.under != self.limits:
            self.standing.done, self.standing.looks = "", 0
            self.standing.position = self.clock.position(self.standing.updates, self.standing.look_seconds)
        self.last_saved = time.monotonic()
        self.stopped = False
        self.window: list[Window] = []

    def schedule_length(self) -> int:
        if not self.options.max_epochs:
            return self.options.max_updates
        per_epoch = math.ceil(len(self.lesson.plan(0)) / self.options.accumulate)
        return min(self.options.max_updates, self.options.max_epochs * per_epoch)

    def learn(self) -> Kept:
        """Train to the end, or not at all where `work.finish` says so, and put on the best weights.

        In a team only rank 0 looks at the dev set and chooses; the others keep their last weights.
        """
        if not self.work.finish:
            with self.crew:
                while not self.standing.done:
                    self.one_epoch()
        elif not self.standing.updates:
            raise UserError(f"{self.work.folder}: nothing was learnt yet, so there is nothing to finish")
        return self.settle() if self.team.leads else Kept(0.0, self.standing.updates, {})

    def one_epoch(self) -> None:
        standing = self.standing
        batches = self.lesson.plan(standing.epoch)
        while standing.batch < len(batches):
            group = batches[standing.batch : standing.batch + self.options.accumulate]
            before = standing.position
            self.update(group)
            standing.batch += len(group)
            standing.updates += 1
            if self.team.leads:
                standing.position = max(before, self.clock.position(standing.updates, standing.look_seconds))
                self.work.report(self.progress())
                self.after_update(before)
            standing.position, standing.done, self.stopped = self.team.share(
                (standing.position, standing.done, self.stopped)
            )
            if self.stopped:
                raise Interrupted
            if standing.done:
                self.work.report(self.progress())
                return
        standing.epoch, standing.batch = standing.epoch + 1, 0
        if self.options.max_epochs and standing.epoch >= self.options.max_epochs:
            self.end("epochs")

    def update(self, group: Sequence[Any]) -> None:
        """One step of the optimiser on the sum of the losses over all target pieces, divided by their number."""
        began = time.monotonic()
        self.network.train()
        tokens = self.lesson.count(group)
        self.optimiser.rate = rate(self.standing.position, self.length, self.options)
        self.team.draw_apart(self.work.seed, self.standing.updates)
        likelihood = float(self.team.add_up(self.network, self.gradients(list(self.lesson.read(group)), tokens)))
        norm = float(torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.options.clip or math.inf))
        if not math.isfinite(likelihood) or not math.isfinite(norm):
            raise UserError(
                f"training diverged at update {self.standing.updates + 1}: the loss is no number any more; the same "
                f"command with --restart and a learning_rate below {self.options.learning_rate:g} may help"
            )
        self.optimiser.step()
        self.window = [*self.window[1 - WINDOW :], Window(time.monotonic() - began, tokens, likelihood, norm)]

    def gradients(self, batches: Sequence[Batch], tokens: int) -> Tensor:
        """Add up the gradients of these batches, divided by `tokens`; returns the sum of their -log p.

        Where a device's memory does not hold a batch, it is cut by rows into twice as many parts until it does:
        the sums, and with them the update, stay the same.
        """
        while True:
            self.optimiser.zero_grad()
            likelihood, carried = torch.zeros((), device=self.device), self.carried
            try:
                for batch in batches:
                    begun = rows_of(carried if batch.goes_on else (), self.parts)
                    parts = zip(rows_apart(batch, self.parts), [tokens] * self.parts, begun, strict=False)
                    learnt = list(self.crew.each(self.learn_from, parts))
                    likelihood += sum(each for each, _ in learnt)
                    carried = tuple(torch.cat(behind) for behind in zip(*(after for _, after in learnt), strict=True))
                self.crew.add_up()
                self.carried = carried
                return likelihood
            except torch.OutOfMemoryError as error:
                if self.parts >= max(len(batch.targets_BT) for batch in batches):
                    raise UserError(
                        f"one row of a batch alone does not fit into the memory of {self.device}"
                    ) from error
            self.parts *= 2
            note = f"out of memory on {self.device}: batches are taken in {self.parts} parts, updates stay the same"
            self.work.report(Progress("training", self.standing.updates, self.total(), note=note))
            torch.cuda.empty_cache()

    def learn_from(self, network: Predictor, part: Batch, tokens: int, before: Carried) -> tuple[Tensor, Carried]:
        """Add to the network's gradients those of a part; returns the sum of its -log p, and what it leaves behind."""
        smoothing, guided = self.options.label_smoothing, self.lesson.guidance
        loss, after = batch_loss(network, part, self.lesson.padding, smoothing, self.products, before, guided)
        (loss.smoothed / tokens).backward()  # type: ignore[no-untyped-call]
        return loss.negative_log_likelihood, tuple(each.detach() for each in after)

    def after_update(self, before: float) -> None:
        """Look at the dev set, save, end: whatever is due at this point of the schedule."""
        standing, every = self.standing, self.options.validate_every
        ended = standing.position >= self.length
        crossed = math.floor(standing.position / every) > math.floor(before / every)
        if self.lesson.judge and (crossed or ended):
            self.look()
        if ended:
            self.end("time" if self.options.time_budget else "schedule")
        elif self.options.patience and standing.looks >= self.options.patience:
            self.end("patience")
        elif crossed or time.monotonic() - self.last_saved > SAVE_SECONDS:
            self.save()
        if not standing.done and self.work.stop():
            self.save()
            self.stopped = True

    def look(self) -> None:
        """Dev figures; the weights are kept when they are among the best `average` so far."""
        standing, began = self.standing, time.monotonic()
        with self.crew.rest():
            figures = self.judge()
        standing.look_seconds = time.monotonic() - began
        kept = Kept(self.figure(figures), standing.updates, figures)
        standing.looks = 0 if not standing.best or kept.figure > standing.best[0].figure else standing.looks + 1
        standing.looked = standing.updates
        ranked = sorted([*standing.best, kept], key=lambda each: (-each.figure, -each.updates))
        standing.best = ranked[: self.options.average]
        if kept in standing.best:
            checkpoints.write_tensors(
                checkpoints.weights_of(self.network), checkpoints.checkpoint(self.work.folder, standing.updates)
            )

    def judge(self) -> dict[str, float]:
        """Dev figures of the weights as they are, told to whoever watches."""
        self.network.eval()
        figures, notes = self.lesson.judge() if self.lesson.judge else ({}, [])
        self.work.report(Progress("dev", self.standing.updates, self.total(), figures))
        for note in notes:
            self.work.report(Progress("training", self.standing.updates, self.total(), note=note))
        return figures

    def figure(self, figures: Mapping[str, float]) -> float:
        """The dev figure that selects, greater being better. Below a BLEU of 1 outputs are noise: there the loss
        decides, and every such checkpoint is worse than one that translates."""
        if self.lesson.select == "loss" or figures["bleu"] < 1:
            return -figures["loss"]
        return figures[self.lesson.select]

    def end(self, reason: str) -> None:
        self.standing.done = reason
        if not self.team.leads:
            return
        if self.lesson.judge and self.standing.looked != self.standing.updates:
            self.look()
        self.save()

    def save(self) -> None:
        self.standing.seconds, self.standing.under = self.clock.seconds(), self.limits
        checkpoints.save_state(self.work.folder, self.standing, self.network, self.optimiser, self.carried)
        kept = {checkpoints.checkpoint(self.work.folder, each.updates).name for each in self.standing.best}
        for old in self.work.folder.glob("best-*.safetensors"):
            if old.name not in kept:
                old.unlink()
        self.last_saved = time.monotonic()

    def settle(self) -> Kept:
        """Put on the average of the best checkpoints, or the best one where the average is no better on dev;
        without a dev set the last weights. Returns which, and its dev figures."""
        best = self.standing.best
        if not best:
            self.network.eval()
            figures = self.lesson.judge()[0] if self.lesson.judge else {}
            return Kept(self.figure(figures) if figures else 0.0, self.standing.updates, figures)
        if len(best) > 1 and self.lesson.judge:
            self.wear(best)
            figures = {**self.lesson.judge()[0], "averaged": float(len(best))}
            if self.figure(figures) > best[0].figure:
                return Kept(self.figure(figures), best[0].updates, figures)
        self.wear(best[:1])
        return best[0]

    def wear(self, kept: Sequence[Kept]) -> None:
        """Give the network the mean of these checkpoints' weights."""
        checkpoints.load_weights(self.network, checkpoints.average(self.work.folder, [each.updates for each in kept]))
        self.network.eval()

    def share_of_time_for(self, beam: int) -> float:
        """How much of the dev sample a search with this beam can translate in what is left of the budget."""
        cost = (beam + 1) * self.standing.look_seconds
        left = self.options.time_budget - self.clock.seconds()
        return 1.0 if not self.options.time_budget or cost <= left else max(0.0, left / cost)

    def progress(self) -> Progress:
        """Figures over the last updates: means, and the time left as an estimate."""
        standing, seconds, window = self.standing, self.clock.seconds(), self.window
        values = {
            "epoch": float(standing.epoch + 1),
            "learning_rate": self.optimiser.rate,
            "seconds": seconds,
        }
        if window:
            values["loss"] = sum(each.loss for each in window) / sum(each.tokens for each in window)
            values["gradient_norm"] = sum(each.norm for each in window) / len(window)
            values["clipped"] = sum(each.norm > self.options.clip > 0 for each in window) / len(window)
            values["tokens_per_second"] = sum(each.tokens for each in window) / sum(each.seconds for each in window)
        if standing.best:
            values[f"best_{self.lesson.select}"] = standing.best[0].figures[self.lesson.select]
        if standing.done:
            return Progress("training", standing.updates, standing.updates, values)
        if self.options.time_budget:
            values["seconds_left"] = max(0.0, self.options.time_budget - seconds)
        elif window:
            left, update = self.length - standing.position, sum(each.seconds for each in window) / len(window)
            values["seconds_left"] = left * (update + standing.look_seconds / self.options.validate_every)
        return Progress("training", standing.updates, self.total(), values)

    def total(self) -> int:
        """Updates of the whole schedule; under a time budget an estimate."""
        if self.options.time_budget and self.standing.position:
            return max(self.standing.updates, round(self.standing.updates * self.length / self.standing.position))
        return self.length


def rows_of(carried: Carried, parts: int) -> list[Carried]:
    """What is carried, cut by rows as `rows_apart` cuts a batch."""
    return list(zip(*(tensor.tensor_split(parts) for tensor in carried), strict=True)) or [()] * parts


def batch_loss(
    network: Predictor,
    batch: Batch,
    padding: int,
    smoothing: float,
    products: torch.dtype = torch.float32,
    carried: Carried = (),
    guided: float = 0.0,
) -> tuple[Loss, Carried]:
    """Summed loss over the real target pieces of a batch; padded positions never reach the vocabulary. And what a batch
    that goes on from this one begins with.

    products: what matrix products are taken in; states come out of the network as fp32. carried: what the batch before
    left, where this one goes on from it. guided: the weight of what its links say of the attention, in what is
    minimised.
    """
    with torch.autocast(batch.inputs_BT.device.type, dtype=products, enabled=products != torch.float32):
        misled: Tensor | float = 0.0
        if guided and batch.linked_BTS is not None:
            assert isinstance(network, Network)  # only pairs are linked
            states_BTD, weights_BTS = network.hidden_and_weights(batch.sources_BS, batch.inputs_BT)
            misled = guided * guidance(weights_BTS, batch.linked_BTS)
        else:
            states_BTD, carried = network.states(batch, carried)
    states_BTD, real_BT = states_BTD.float(), batch.targets_BT != padding
    loss = cross_entropy(states_BTD[real_BT], network.output_VD, batch.targets_BT[real_BT], smoothing, products)
    return loss._replace(smoothed=loss.smoothed + misled), carried
