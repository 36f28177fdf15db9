"""Do the catalogues of the demo keep what the reader needs, and leave out what was left in English?"""

from __future__ import annotations

import importlib
from pathlib import Path

from dragoman.corpus.formats import open_bitext

PLONE = r"""msgid ""
msgstr ""
"Language: zh-CN\n"
"Content-Type: text/plain; charset=utf-8\n"

#. Default: "Save \"it\""
msgid "label_save"
msgstr "保存"

msgid "Open"
msgstr "打开"

msgid "HTML"
msgstr "HTML"

#, fuzzy
msgid "Close"
msgstr "关"
"""


def test_catalogues_are_collected(tmp_path: Path) -> None:
    place = tmp_path / "packages" / "plone" / "locales" / "zh_CN" / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "plone.po").write_text(PLONE, encoding="utf-8")
    (place / "plone.mo").write_bytes(b"the same, compiled")
    collect = importlib.import_module("examples.catalogues").collect
    assert collect("zh", tmp_path / "packages", tmp_path / "catalogues") == 1
    bitext = open_bitext([str(tmp_path / "catalogues")], "zh", "en")
    assert [(pair.source, pair.target) for pair in bitext] == [("保存", 'Save "it"'), ("打开", "Open")]
    assert bitext.set_aside == {"fuzzy": 1}
