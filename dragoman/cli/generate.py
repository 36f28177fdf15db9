"""How does `dragoman generate` write texts that begin as asked?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from dragoman.cli.language import loaded_model
from dragoman.cli.options import WHOLE, Device, File, Folder, Json, Quiet, Threads
from dragoman.cli.screen import say
from dragoman.contracts import Flag, Sampling
from dragoman.wording import counted, json_line

if TYPE_CHECKING:
    from dragoman.texts import Generated

Count = Annotated[int, WHOLE, Parameter(validator=Number(gte=1, lte=100_000))]


def generate(
    model: Folder,
    /,
    *,
    prefix: str = "",
    n: Count = 1,
    length: Count = 500,
    temperature: Annotated[float, Parameter(validator=Number(gte=0, lt=math.inf))] = 1.0,
    top_k: Annotated[int, WHOLE, Parameter(validator=Number(gte=0))] = 0,
    top_p: Annotated[float, Parameter(validator=Number(gt=0, lte=1))] = 1.0,
    seed: Annotated[int, WHOLE, Parameter(validator=Number(gte=0, lt=2**64))] = 1,
    out: File = "-",
    as_json: Json = False,
    device: Device = "auto",
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    r"""Write texts with a language model; a blank line stands between texts of several lines.

    Parameters
    ----------
    model:
        The folder of a language model.
    prefix:
        What every text begins with; \n in it is a line end.
    n:
        How many texts.
    length:
        The most pieces (characters, subwords, words) that a text may have behind the prefix.
    temperature:
        Below 1 sharpens, above 1 flattens; 0 takes the likeliest piece each time.
    top_k:
        Draw from the best K pieces only; 0 is all.
    top_p:
        Draw from the smallest set of pieces with this probability.
    seed:
        Another seed, other texts; the same one, the same texts.
    out:
        Write there instead of to standard output.
    as_json:
        Print a JSON object a line: text, log-probability of what was written, flags.
    """
    from dragoman.corpus.lines import writing
    from dragoman.texts import Generating

    written = loaded_model(model, "generate", device, threads).generate(
        prefix.replace("\\n", "\n"), Generating(n, length, Sampling(temperature, top_k, top_p, seed))
    )
    with writing(out) as output:
        if as_json:
            output.writelines(f"{json_line(_row(one))}\n" for one in written)
        else:
            between = "\n" if any("\n" in one.text for one in written) else ""
            output.write(between.join(f"{one.text}\n" for one in written))
    if quiet:
        return
    for flag in Flag:
        count = sum(flag in one.flags for one in written)
        if count:
            told = f"the limit of {length:,} pieces reached" if flag is Flag.LENGTH_CAP else flag.value
            say(f"{count:,} of {counted(len(written), 'text')}: {told}")


def _row(one: Generated) -> dict[str, object]:
    return {
        "text": one.text,
        "log_probability": one.log_probability,
        "token_log_probabilities": one.token_log_probabilities,
        "flags": [flag.value for flag in one.flags],
    }
