"""When is a folder a model, and how does a new model take the place of an old one?

Only with model.json, which is written last, is a folder a model. A new model is made aside, in
FOLDER/work/finished, and then moved over the old one file by file, model.json last. Its folder is
first renamed to FOLDER/work/publish: from then on it counts as decided, and if the moving is cut,
the next command on the folder carries it to its end.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import filelock
import pydantic

import dragoman
from dragoman.contracts import Product, Recipe, UserError
from dragoman.system.catalogue import ENGINES, KINDS, product_class
from dragoman.system.settings import to_toml
from dragoman.texts import languages_of
from dragoman.whole import write_whole

MODEL_FORMAT = 1
_CARD = "model.json"
_PATIENCE = 10.0  # seconds that a reader waits for a publication by another process


class Busy(UserError):
    """Another process holds the folder."""


@dataclass(frozen=True)
class ModelCard:
    """What model.json says.

    fingerprint: of all that the product itself wrote, so equal weights, equal fingerprint.
    checksums: blake2b of each of those files; records: the other files (recipe, report, progress).
    run: the training run that made it, as lifecycle compares it; empty for a model saved by hand.
    source_language: empty where the product knows one language only.
    """

    format: int
    kind: str
    source_language: str
    target_language: str
    fingerprint: str
    checksums: Mapping[str, str]
    records: Sequence[str] = ()
    created: str = ""
    dragoman: str = ""
    run: Mapping[str, Any] = field(default_factory=dict)

    @property
    def languages(self) -> tuple[str, ...]:
        """(source, target), or the only one."""
        return (self.source_language, self.target_language) if self.source_language else (self.target_language,)


# --- writing ------------------------------------------------------------------------------------


def save_model(
    product: Product,
    recipe: Recipe[Any, Any],
    folder: Path,
    facts: Mapping[str, object] | None = None,
    *,
    run: Mapping[str, Any] | None = None,
    records: Sequence[Path] = (),
) -> ModelCard:
    """Make `folder`, which must be new or empty, a model folder.

    facts: go to report.json. records: files (progress, curve) that are copied beside the model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise UserError(f"{folder}: not empty")
    product.save(folder)
    checksums = flush_and_sum(folder)
    write_whole(folder / "recipe.toml", to_toml(recipe))
    write_report(folder, facts or {})
    for record in records:
        shutil.copyfile(record, folder / record.name)
    names = ("recipe.toml", "report.json", *(record.name for record in records))
    return write_card(folder, recipe.kind, product, checksums, names, run)


def flush_and_sum(folder: Path) -> dict[str, str]:
    """The checksum of every file in the folder, all of which are on the disk afterwards."""
    written = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): _flush_and_sum(path) for path in written}


def write_report(folder: Path, facts: Mapping[str, object]) -> None:
    """report.json, for `info` and for people."""
    write_whole(folder / "report.json", json.dumps(dict(facts), indent=2, ensure_ascii=False, default=str) + "\n")


def write_card(
    folder: Path,
    kind: str,
    product: Product,
    checksums: Mapping[str, str],
    records: Sequence[str],
    run: Mapping[str, Any] | None = None,
) -> ModelCard:
    """model.json, last of all: from now on the folder is a model."""
    *source, target = languages_of(product)
    card = ModelCard(
        format=MODEL_FORMAT,
        kind=kind,
        source_language=source[0] if source else "",
        target_language=target,
        fingerprint=_digest(json.dumps([kind, sorted(checksums.items())]).encode()),
        checksums=checksums,
        records=tuple(records),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        dragoman=dragoman.__version__,
        run=dict(run or {}),
    )
    write_whole(folder / _CARD, json.dumps(asdict(card), indent=2, ensure_ascii=False) + "\n")
    return card


def save_changed(product: Product, folder: Path, aside: Path) -> None:
    """Make `aside` a model folder: a changed product, with the records of the one in `folder`."""
    old = read_card(folder)
    aside.mkdir(parents=True)
    product.save(aside)
    checksums = flush_and_sum(aside)
    records = [name for name in old.records if (folder / name).exists()]  # the model does without them
    for name in records:
        shutil.copyfile(folder / name, aside / name)
    write_report(aside, {**read_report(folder), "model": dict(product.describe())})
    write_card(aside, old.kind, product, checksums, records, old.run)


# --- reading ------------------------------------------------------------------------------------


def load_model(folder: Path, device: str = "cpu") -> Any:
    """The product in a model folder, its files checked against their sums; what it can do depends on its kind.

    UserError in one line: not a model, training unfinished, damaged, newer format, unknown kind.
    """
    folder, deadline = Path(folder), time.monotonic() + _PATIENCE
    while True:
        complete_publication(folder)
        card = read_card(folder)
        try:
            verify(folder, card)
            product = _load_product(folder, card, device)
        except (UserError, OSError):
            if time.monotonic() > deadline or not _replaced(folder, card):
                raise
        else:
            if not _replaced(folder, card):
                return product


def read_card(folder: Path) -> ModelCard:
    """What model.json says, without loading the model. UserError where the folder is no model."""
    path = folder / _CARD
    if not folder.is_dir():
        raise UserError(f"{folder}: {'a file, not a model folder' if folder.exists() else 'no such folder'}")
    if not path.exists():
        if (folder / "work" / "run.json").exists():
            raise UserError(
                f"{folder}: training is not finished; the same train command goes on with it, "
                f"and `dragoman train --finish {folder}` makes a model of the best checkpoint so far"
            )
        raise UserError(f"{folder}: not a model folder (it has no {_CARD})")
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        version = table["format"]
        if isinstance(version, int) and version > MODEL_FORMAT:
            raise UserError(
                f"{folder}: made by a newer Dragoman (format {version}, this one reads {MODEL_FORMAT}); update dragoman"
            )
        card = pydantic.TypeAdapter(ModelCard).validate_python(table)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: damaged, or not of Dragoman") from error
    for name in (*card.checksums, *card.records):
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name or ":" in name:
            raise UserError(f"{path}: names a file outside of the folder: {name!r}")
    if card.kind not in (*KINDS, *ENGINES):
        raise UserError(f"{folder}: kind {card.kind!r} is unknown to this Dragoman; it knows {', '.join(KINDS)}")
    return card


def read_report(folder: Path) -> dict[str, Any]:
    """What report.json says of the training; empty where it is gone. UserError where it is no such table."""
    path = folder / "report.json"
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    except ValueError:
        report = None
    if not isinstance(report, dict):
        raise UserError(f"{path}: damaged; the model does without it, it may be removed")
    return report


def verify(folder: Path, card: ModelCard) -> None:
    """UserError naming the first file that is missing or differs from its checksum."""
    for name, checksum in card.checksums.items():
        path = folder / name
        if not path.is_file():
            raise UserError(f"{path}: missing; the model is damaged")
        if _sum(path) != checksum:
            raise UserError(f"{path}: damaged (its checksum differs)")


def _load_product(folder: Path, card: ModelCard, device: str) -> Any:
    product = product_class(card.kind)
    resolve_device(card.kind, device)
    try:
        return product.load(folder, device=device) if takes_device(product) else product.load(folder)
    except ValueError as error:  # options that this Dragoman does not have
        raise UserError(f"{folder}: this Dragoman makes no such {card.kind}: {' '.join(str(error).split())}") from error


def resolve_device(kind: str, device: str) -> str:
    """The device that `device` stands for: "cpu" for a kind that knows no other, else what the product's own
    `resolve_device` says of "auto", where it has one. UserError where the kind does not run there."""
    product = product_class(kind)
    if takes_device(product):
        return str(product.resolve_device(device)) if hasattr(product, "resolve_device") else device
    if device not in ("cpu", "auto"):
        raise UserError(f"kind {kind!r} runs on the cpu only, not on {device!r}")
    return "cpu"


def takes_device(product: Any) -> bool:
    """Does the product class run on other devices than the cpu?"""
    return "device" in inspect.signature(product.load).parameters


def _replaced(folder: Path, card: ModelCard) -> bool:
    """Did another process put a new model there, or begin to, since `card` was read?"""
    return (folder / "work" / "publish" / _CARD).exists() or read_card(folder) != card


# --- one model after another --------------------------------------------------------------------


def publish(finished: Path, folder: Path) -> ModelCard:
    """Move a finished model folder over the model in `folder`, if any. The caller holds the lock."""
    read_card(finished)
    (folder / "work").mkdir(parents=True, exist_ok=True)
    roll_forward(folder)
    os.replace(finished, folder / "work" / "publish")
    roll_forward(folder)
    return read_card(folder)


def complete_publication(folder: Path) -> None:
    """Carry a publication that was cut to its end; wait for one that another process is carrying out."""
    deadline = time.monotonic() + _PATIENCE
    while (folder / "work" / "publish" / _CARD).exists():
        try:
            with locked(folder):
                roll_forward(folder)
        except Busy:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        except OSError as error:
            raise UserError(f"{folder}: a new model waits in work/publish; {error.strerror}") from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold FOLDER/work against other processes; the lock ends with the process, however that ends."""
    lock = filelock.FileLock(folder / "work" / "lock", timeout=0)
    try:
        (folder / "work").mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout as error:
        raise Busy(f"{folder}: another process is training there") from error
    except OSError as error:
        raise UserError(f"{folder / 'work'}: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def published(out: Path) -> Iterator[Path]:
    """A folder to fill, locked; it takes the place of `out` when the block is left without an error, and is
    removed otherwise."""
    made = [path for path in (out, *out.absolute().parents) if not path.exists()]
    aside = out / "work" / "finished"
    try:
        with locked(out):
            try:
                roll_forward(out)
                shutil.rmtree(aside, ignore_errors=True)
                yield aside
                publish(aside, out)
            finally:
                shutil.rmtree(aside, ignore_errors=True)
                remove_lock(out)
    finally:
        for path in made:
            with suppress(OSError):  # it is not empty
                path.rmdir()


def remove_lock(folder: Path) -> None:
    """Remove FOLDER/work, empty but for the lock. The caller holds the lock: nobody else can have begun there.

    Who waits for this lock notices that its file is gone; the folder stays where somebody was quicker.
    """
    with suppress(OSError):
        (folder / "work" / "lock").unlink()
        (folder / "work").rmdir()


def roll_forward(folder: Path) -> None:
    """What a publication does from wherever it was cut: files, then model.json, then the empty folders.

    The caller holds the lock.
    """
    pending = folder / "work" / "publish"
    if (pending / _CARD).exists():
        new = read_card(pending)
        names = [*new.checksums, *new.records]
        for name in _files_of_old_model(folder) - set(names):
            (folder / name).unlink(missing_ok=True)
            _remove_empty(folder / name, folder)
        for name in names:
            if (pending / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(pending / name, folder / name)
        os.replace(pending / _CARD, folder / _CARD)
    shutil.rmtree(pending, ignore_errors=True)


def _files_of_old_model(folder: Path) -> set[str]:
    try:
        old = read_card(folder)
    except UserError:
        return set()
    return {*old.checksums, *old.records}


def _remove_empty(path: Path, top: Path) -> None:
    for parent in path.parents:
        if parent == top or not parent.is_dir() or any(parent.iterdir()):
            return
        parent.rmdir()


def _flush_and_sum(path: Path) -> str:
    path.chmod(path.parent.stat().st_mode & 0o666)  # who may read the folder may read the weights
    with path.open("r+b") as file:
        os.fsync(file.fileno())
    return _sum(path)


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
