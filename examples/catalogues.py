"""Where does a machine without a corpus find sentence pairs? In the catalogues that Python packages ship.

Packages are fetched by pip without their dependencies into a folder of their own; nothing of them is run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import polib

PINS = ("django==5.2.19", "gramps==6.0.8", "horizon==27.0.0", "plone.app.locales==7.0.4", "wagtail==8.0.1")
LANGUAGE_PACKS = {
    "zh": "jupyterlab-language-pack-zh-CN==4.5.post3",
    "fr": "jupyterlab-language-pack-fr-FR==4.5.post3",
    "de": "jupyterlab-language-pack-de-DE==4.5.post3",
    "es": "jupyterlab-language-pack-es-ES==4.5.post3",
}
FOLDERS = {"zh": ("zh_CN", "zh_Hans"), "fr": ("fr", "fr_FR"), "de": ("de", "de_DE"), "es": ("es", "es_ES")}
# The comment too: where the msgid is a key, as in Plone, it holds the English, and the reader takes it from there.
KEPT = ("msgctxt", "msgid", "msgid_plural", "msgstr", "msgstr_plural", "comment", "flags", "obsolete")


def packages_for(language: str) -> list[str]:
    """Packages with catalogues in `language` (zh, fr, de, es), with their versions."""
    return [*PINS, LANGUAGE_PACKS[language]]


def fetch(language: str, folder: Path) -> Path:
    """Install the packages into `folder`, unless they are there."""
    pins = packages_for(language)
    listed = folder / "fetched.txt"
    if listed.exists() and listed.read_text(encoding="utf-8").split() == pins:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    options = ["-qq", "--disable-pip-version-check", "--no-deps", "--no-compile", "--only-binary", ":all:"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder), *pins]
    subprocess.run(command, check=True)
    listed.write_text("\n".join(pins) + "\n", encoding="utf-8")
    return folder


def collect(language: str, packages: Path, folder: Path) -> int:
    """Put the catalogues of `language` side by side into `folder`; return how many there are."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    count = 0
    for path in sorted(packages.glob("**/LC_MESSAGES/*.[pm]o")):
        compiled_twin = path.suffix == ".mo" and path.with_suffix(".po").exists()
        if path.parent.parent.name not in FOLDERS[language] or compiled_twin:
            continue
        count += 1
        _translated(path).save(str(folder / f"{count:03d}.{path.relative_to(packages).parts[0]}.{path.stem}.po"))
    return count


def _translated(path: Path) -> polib.POFile:
    """A catalogue without what was left in English."""
    found = polib.pofile(str(path)) if path.suffix == ".po" else polib.mofile(str(path))
    catalogue = polib.POFile()
    catalogue.metadata = found.metadata
    for entry in found:
        if entry.msgid != entry.msgstr:
            catalogue.append(polib.POEntry(**{name: getattr(entry, name) for name in KEPT}))
    return catalogue
