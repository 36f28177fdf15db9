"""How is what an aligner has learnt kept in a model folder?

Numbers in tables.safetensors, by name; what is no array in aligner.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from dragoman.alignment.cells import Partners
from dragoman.alignment.fertility import Distortion, FertileModel
from dragoman.alignment.hmm import ChainModel, Jumps
from dragoman.alignment.ibm import Diagonal, PlaceModel, Places, Table, Uniform
from dragoman.alignment.lexicon import Lexicon
from dragoman.alignment.numbers import Floats
from dragoman.alignment.sampler import Choices, SampledModel, Way
from dragoman.contracts import UserError

TABLES, FACTS = "tables.safetensors", "aligner.json"
Arrays = dict[str, np.ndarray[Any, Any]]
WAYS = ("forward", "reverse")


def write_model(folder: Path, model: Any, facts: Mapping[str, object]) -> None:
    """aligner.json and tables.safetensors."""
    arrays, parameters = _parts_of(model)
    text = json.dumps({**facts, "model": parameters}, ensure_ascii=False, indent=2)
    (folder / FACTS).write_text(text + "\n", encoding="utf-8")
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / TABLES)


def read_model(folder: Path) -> tuple[Any, dict[str, Any]]:
    """The model and the facts. UserError where these are none."""
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        return _made_of(load_file(folder / TABLES), facts["model"]), facts
    except (ValueError, KeyError, TypeError, SafetensorError) as error:
        raise UserError(f"{folder}: its tables are damaged, or not of this release") from error


def _parts_of(model: Any) -> tuple[Arrays, dict[str, Any]]:
    if isinstance(model, SampledModel):
        arrays, parameters = _parts_of(model.chain)
        choices = model.choices
        arrays |= {"counts": model.counts_D2, "drawn.jumps": model.jumps.weights_2W}
        for name, way in zip(WAYS, model.ways, strict=True):
            arrays |= {f"{name}.sums": way.sums_V, f"{name}.nulls": way.nulls_V}
            arrays |= {f"{name}.fertility": way.ratio_VF, f"{name}.prior": way.prior_V}
        drawn = {"alpha": choices.alpha, "none": choices.none, "bonus": choices.bonus, "fertility": choices.fertility}
        return arrays, {**parameters, "drawn": drawn}
    lexicon = model.lexicon
    arrays = {
        **{"rows": lexicon.partners.row_begins_V, "partners": lexicon.partners.targets_D},
        **{"table": lexicon.table_D2, "none.target": lexicon.null_T, "none.source": lexicon.null_S},
    }
    if isinstance(model, ChainModel):
        arrays["jumps"] = model.jumps.weights_2W
        return arrays, {"form": "chain", "none": model.none, "ignore": model.ignore}
    if isinstance(model, FertileModel):
        arrays |= dict(zip(("forward.fertility", "reverse.fertility"), model.fertilities, strict=True))
    places = [_place_parts(one, name, arrays) for name, one in zip(WAYS, model.places, strict=True)]
    if isinstance(model, FertileModel):
        return arrays, {"form": "fertile", "p1": model.p1}
    return arrays, {"form": "places", "places": places}


def _place_parts(places: Places | Distortion, name: str, arrays: Arrays) -> dict[str, Any]:
    if isinstance(places, Diagonal):
        return {"form": "diagonal", "none": places.none, "tension": places.tension}
    if isinstance(places, Table | Distortion):
        arrays[f"{name}.lengths"] = np.array(list(places.tables), np.int64).reshape(-1, 2)
        arrays[f"{name}.places"] = np.concatenate([*places.tables.values(), np.zeros(0, np.float32)])
        return {"form": "table"}
    return {"form": "uniform"}


def _made_of(arrays: Arrays, parameters: Mapping[str, Any]) -> Any:
    partners = Partners(arrays["rows"], arrays["partners"], len(arrays["none.target"]))
    lexicon = Lexicon(partners, arrays["table"], arrays["none.target"], arrays["none.source"])
    if parameters["form"] == "places":
        forward, reverse = (
            _place_made(name, one, arrays) for name, one in zip(WAYS, parameters["places"], strict=True)
        )
        return PlaceModel(lexicon, (forward, reverse))
    if parameters["form"] == "fertile":
        tables = [_tables_of(name, arrays) for name in WAYS]
        fertilities = arrays["forward.fertility"], arrays["reverse.fertility"]
        return FertileModel(lexicon, (Distortion(tables[0]), Distortion(tables[1])), fertilities, parameters["p1"])
    chain = ChainModel(lexicon, Jumps(arrays["jumps"]), parameters["none"], ignore=parameters["ignore"])
    if "drawn" not in parameters:
        return chain
    forward_way, reverse_way = (
        Way(*(arrays[f"{name}.{part}"] for part in ("sums", "nulls", "fertility", "prior"))) for name in WAYS
    )
    jumps = Jumps(arrays["drawn.jumps"])
    return SampledModel(chain, arrays["counts"], (forward_way, reverse_way), jumps, Choices(**parameters["drawn"]))


def _place_made(name: str, parameters: Mapping[str, Any], arrays: Arrays) -> Places:
    if parameters["form"] == "diagonal":
        return Diagonal(parameters["none"], parameters["tension"])
    if parameters["form"] == "table":
        return Table(_tables_of(name, arrays))
    return Uniform()


def _tables_of(name: str, arrays: Arrays) -> dict[tuple[int, int], Floats]:
    lengths_S2 = arrays[f"{name}.lengths"]
    ends = np.cumsum(lengths_S2[:, 1] * (lengths_S2[:, 0] + 1))
    tables = np.split(arrays[f"{name}.places"], ends[:-1]) if len(ends) else []
    return {(int(i), int(j)): table for (i, j), table in zip(lengths_S2, tables, strict=True)}
