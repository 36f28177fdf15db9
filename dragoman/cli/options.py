"""Which options do several commands share, and how are they written?"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Literal

from cyclopts import Group, Parameter, Token
from cyclopts.validators import Number

from dragoman import contracts
from dragoman.contracts import Sampling, SearchOptions, UserError

STANDARD_STREAM = "\0-"  # what `-` is called while the command line is parsed: it would be taken for an option


def protect(arguments: Sequence[str]) -> list[str]:
    """Rename every `-` so that it may stand where a file may."""
    return [STANDARD_STREAM if argument == "-" else argument for argument in arguments]


def _file(type_: object, tokens: Sequence[Token]) -> str:
    return tokens[0].value.replace(STANDARD_STREAM, "-")


def _files(type_: object, tokens: Sequence[Token]) -> list[str]:
    return [token.value.replace(STANDARD_STREAM, "-") for token in tokens]


def _whole(type_: object, tokens: Sequence[Token]) -> int:
    """cyclopts would round 1.5 to 2."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"a whole number is wanted, not '{tokens[0].value}'") from None


WHOLE = Parameter(converter=_whole)
"""Of every option that is a whole number."""

File = Annotated[str, Parameter(converter=_file, metavar="FILE")]
Folder = Annotated[str, Parameter(metavar="DIR")]
Files = Annotated[list[str], Parameter(converter=_files, consume_multiple=True, metavar="FILE...")]
Json = Annotated[bool, Parameter(name="--json")]
Settings = Annotated[list[str], Parameter(name="--set", metavar="NAME=VALUE")]

Source = Annotated[
    str | None, Parameter(metavar="LANGUAGE", help="Of the source side, such as zh; many files tell it themselves.")
]
Target = Annotated[str | None, Parameter(metavar="LANGUAGE", help="Of the target side.")]
Language = Annotated[
    str | None, Parameter(metavar="LANGUAGE", help="Of text in one language, such as en; names like my.en tell it.")
]
OnBadLine = Annotated[
    Literal["stop", "skip"],
    Parameter(help="What to do about a line that is no text (not UTF-8, NUL): end, or set it aside and count it."),
]
Device = Annotated[str, Parameter(help="Where to compute: cpu, cuda, cuda:1, ...")]
Engine = Annotated[
    Literal["ctranslate2"] | None,
    Parameter(help="What computes; a folder that `dragoman export` made tells it by itself."),
]
Threads = Annotated[
    int, WHOLE, Parameter(validator=Number(gte=0, lte=1024), help="Processor cores to use; 0 is all of them.")
]
Precision = Annotated[
    contracts.Precision,
    Parameter(
        help="Bits of the matrix products: bf16 and int8 are faster on some processors and change some translations."
    ),
]
Workers = Annotated[
    int,
    WHOLE,
    Parameter(
        validator=Number(gte=0, lte=1024),
        help="Processes that share a long input, one core each; 0 is one for each core where that pays, 1 is none.",
    ),
]
Seed = Annotated[int | None, WHOLE, Parameter(validator=Number(gte=0, lt=2**64))]
NBest = Annotated[int | None, WHOLE, Parameter(validator=Number(gte=1))]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], help="Show no progress; warnings still come.")]


@Parameter(name="*")
@dataclass(frozen=True)
class ReadingFlags:
    """How the corpus commands read sentence pairs."""

    source: Source = None
    target: Target = None
    on_bad_line: OnBadLine = "stop"
    columns: Annotated[
        str | None,
        Parameter(
            metavar="SOURCE_NAME,TARGET_NAME",
            help="The CSV columns or JSON keys of both sides, where these are not named by language or source, target.",
        ),
    ] = None
    inline_tags: Annotated[
        Literal["strip", "keep"],
        Parameter(help="Tags inside the sentences of TMX and XLIFF: left out, or kept as text."),
    ] = "strip"

    def named_columns(self) -> tuple[str, str] | None:
        """The two names of --columns; a name that holds a comma stands in double quotes."""
        if self.columns is None:
            return None
        names = [name.strip() for name in next(csv.reader([self.columns]), [])]
        if len(names) != 2 or not all(names):
            raise UserError(f"--columns {self.columns}: two names with a comma between, source and target")
        if names[0] == names[1]:
            raise UserError(f"--columns {self.columns}: source and target are the same column; name two")
        return names[0], names[1]


SEARCH = Group("Search", sort_key=10)


def _search(text: str, bounds: Number | None = None) -> Parameter:
    return Parameter(group=SEARCH, help=text, validator=bounds)


@Parameter(name="*")
@dataclass(frozen=True)
class LengthFlags:
    """How scores are compared across lengths."""

    alpha: Annotated[float | None, _search("Strength of length normalisation; else what the model stores.")] = None
    length_form: Annotated[
        Literal["power", "gnmt"] | None, _search("Divide log p by T^alpha, or by ((5+T)/6)^alpha.")
    ] = None
    batch_tokens: Annotated[
        int | None, WHOLE, _search("Source pieces searched at once; changes speed, not results.", Number(gte=1))
    ] = None

    def options(self) -> SearchOptions:
        """What the translator is asked for."""
        return SearchOptions(alpha=self.alpha, length_form=self.length_form, batch_tokens=self.batch_tokens)

    def given(self) -> dict[str, object]:
        """The options whose values are not those of an empty command line, for `refuse_given`."""
        unsaid, names = type(self)(), [field.name for field in fields(self)]
        return {f"--{name.replace('_', '-')}": getattr(self, name) != getattr(unsaid, name) for name in names}


@Parameter(name="*")
@dataclass(frozen=True)
class SearchFlags(LengthFlags):
    """How to search; what is not given is what the model stores."""

    beam: Annotated[
        int | None, WHOLE, _search("Hypotheses kept at each step; 1 is greedy. Models store 5.", Number(gte=1))
    ] = None
    max_ratio: Annotated[float | None, _search("Output pieces at most this many times the source's, plus 10.")] = None
    shortlist: Annotated[
        bool, _search("Say only what `dragoman shortlist` expects of a source: faster, some translations change.")
    ] = False
    sample: Annotated[bool, _search("Draw translations instead of searching for the best.")] = False
    temperature: Annotated[
        float, _search("With --sample: below 1 sharpens, above 1 flattens.", Number(gt=0, lt=math.inf))
    ] = 1.0
    top_k: Annotated[
        int, WHOLE, _search("With --sample: draw from the best K pieces only; 0 is all.", Number(gte=0))
    ] = 0
    top_p: Annotated[
        float, _search("With --sample: draw from the smallest set of this probability.", Number(gt=0, lte=1))
    ] = 1.0
    sample_seed: Annotated[int, WHOLE, _search("With --sample: another seed, other draws.")] = 1

    def options(self, n_best: int = 1) -> SearchOptions:
        """What the translator is asked for; UserError for options that would be dropped."""
        return replace(
            super().options(),
            n_best=n_best,
            beam=self.beam,
            max_ratio=self.max_ratio,
            shortlist=self.shortlist,
            sampling=self._sampling(),
        )

    def _sampling(self) -> Sampling | None:
        drawn = Sampling(self.temperature, self.top_k, self.top_p, self.sample_seed)
        if self.sample:
            refuse_given("--sample draws and does not search", {"--beam": self.beam})
            return drawn
        if drawn != Sampling():
            raise UserError("--temperature, --top-k, --top-p and --sample-seed need --sample")
        return None


def refuse_given(why: str, options: Mapping[str, object]) -> None:
    """UserError that names the options which were given and would be dropped; None, False, "" and 0 are not given."""
    given = [name for name, value in options.items() if value]
    if given:
        raise UserError(f"{why}: {', '.join(given)} would be dropped")
