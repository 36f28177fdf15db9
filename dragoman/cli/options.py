"""Which options do several commands share, and how are they written?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from cyclopts import Group, Parameter, Token

from dragoman.contracts import Sampling, SearchOptions, UserError

STANDARD_STREAM = "\0-"  # what `-` is called while the command line is parsed: it would be taken for an option


def protect(arguments: Sequence[str]) -> list[str]:
    """Rename every `-` so that it may stand where a file may."""
    return [STANDARD_STREAM if argument == "-" else argument for argument in arguments]


def _file(type_: object, tokens: Sequence[Token]) -> str:
    return tokens[0].value.replace(STANDARD_STREAM, "-")


def _files(type_: object, tokens: Sequence[Token]) -> list[str]:
    return [token.value.replace(STANDARD_STREAM, "-") for token in tokens]


File = Annotated[str, Parameter(converter=_file, metavar="FILE")]
Folder = Annotated[str, Parameter(metavar="DIR")]
Files = Annotated[list[str], Parameter(converter=_files, consume_multiple=True, metavar="FILE...")]
Json = Annotated[bool, Parameter(name="--json")]
Settings = Annotated[list[str], Parameter(name="--set", metavar="NAME=VALUE")]

Source = Annotated[
    str | None, Parameter(metavar="LANGUAGE", help="Of the source side, such as zh; many files tell it themselves.")
]
Target = Annotated[str | None, Parameter(metavar="LANGUAGE", help="Of the target side.")]
OnBadLine = Annotated[
    Literal["stop", "skip"],
    Parameter(help="What to do about a line that is no text (not UTF-8, NUL): end, or set it aside and count it."),
]
Device = Annotated[str, Parameter(help="Where to compute: cpu, cuda, cuda:1, ...")]
Threads = Annotated[int, Parameter(help="Processor cores to use; 0 is all of them.")]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], help="Show no progress; warnings still come.")]

SEARCH = Group("Search", sort_key=10)


def _search(text: str) -> Parameter:
    return Parameter(group=SEARCH, help=text)


@Parameter(name="*")
@dataclass(frozen=True)
class LengthFlags:
    """How scores are compared across lengths."""

    alpha: Annotated[float | None, _search("Strength of length normalisation; else what the model stores.")] = None
    length_form: Annotated[
        Literal["power", "gnmt"] | None, _search("Divide log p by T^alpha, or by ((5+T)/6)^alpha.")
    ] = None
    batch_tokens: Annotated[int | None, _search("Source pieces searched at once; changes speed, not results.")] = None

    def options(self) -> SearchOptions:
        """What the translator is asked for."""
        _at_least("--batch-tokens", self.batch_tokens, 1)
        return SearchOptions(alpha=self.alpha, length_form=self.length_form, batch_tokens=self.batch_tokens)


@Parameter(name="*")
@dataclass(frozen=True)
class SearchFlags(LengthFlags):
    """How to search; what is not given is what the model stores."""

    beam: Annotated[int | None, _search("Hypotheses kept at each step; 1 is greedy. Models store 5.")] = None
    max_ratio: Annotated[float | None, _search("Output pieces at most this many times the source's, plus 10.")] = None
    sample: Annotated[bool, _search("Draw translations instead of searching for the best.")] = False
    temperature: Annotated[float, _search("With --sample: below 1 sharpens, above 1 flattens.")] = 1.0
    top_k: Annotated[int, _search("With --sample: draw from the best K pieces only; 0 is all.")] = 0
    top_p: Annotated[float, _search("With --sample: draw from the smallest set of this probability.")] = 1.0
    sample_seed: Annotated[int, _search("With --sample: another seed, other draws.")] = 1

    def options(self, n_best: int = 1) -> SearchOptions:
        """What the translator is asked for; UserError where a value makes no sense."""
        for name, value in (("--beam", self.beam), ("--n-best", n_best)):
            _at_least(name, value, 1)
        return replace(
            super().options(), n_best=n_best, beam=self.beam, max_ratio=self.max_ratio, sampling=self._sampling()
        )

    def _sampling(self) -> Sampling | None:
        drawn = Sampling(self.temperature, self.top_k, self.top_p, self.sample_seed)
        if not self.sample:
            if drawn != Sampling():
                raise UserError("--temperature, --top-k, --top-p and --sample-seed need --sample")
            return None
        if self.temperature <= 0:
            raise UserError(f"--temperature must be above 0, not {self.temperature:g}")
        if not 0 < self.top_p <= 1:
            raise UserError(f"--top-p must lie in (0, 1], not {self.top_p:g}")
        _at_least("--top-k", self.top_k, 0)
        return drawn


def _at_least(name: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise UserError(f"{name} must be at least {least}, not {value}")
