"""Which of all target pieces may the translation of this source need?

Most of the output matrix says pieces that have nothing to do with the source. A shortlist leaves these out: what may
be said are the likeliest translations of each source piece by a lexicon, the source's own pieces, and the pieces that
are frequent anyway (Jean et al. 2015; L'Hostis et al. 2016). The probabilities are then shares of what may be said, so
that they differ from those of the whole model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file
from torch import Tensor

from dragoman.contracts import UserError
from dragoman.neural.network import OutputLayer, Sayable

NAME = "shortlist.safetensors"
Ids = npt.NDArray[np.int32]
Prefixes = Sequence[Sequence[int]] | None


@dataclass(frozen=True)
class Shortlist:
    """always_A: pieces that every translation may need. partners_VN: those of each source piece, -1 where it has fewer
    than others."""

    always_A: Ids
    partners_VN: Ids

    def __str__(self) -> str:
        usual, each = len(self.always_A), self.partners_VN.shape[1] - 1
        return f"{usual:,} pieces for all, {each} translations of each source piece and itself"

    def allowed(self, sources_BS: Tensor, pieces: int) -> Tensor:
        """allowed_BV over all target pieces; of a sentence by its own pieces, whatever its company."""
        partners_BX = torch.from_numpy(self.partners_VN).to(sources_BS.device)[sources_BS].flatten(1).long()
        allowed_BV = torch.zeros((len(sources_BS), pieces + 1), dtype=torch.bool, device=sources_BS.device)
        allowed_BV.scatter_(1, torch.where(partners_BX < 0, pieces, partners_BX), True)
        allowed_BV[:, torch.from_numpy(self.always_A).to(sources_BS.device).long()] = True
        return allowed_BV[:, :pieces]

    def sayable(self, output: OutputLayer, sources_BS: Tensor, pieces: int, prefixes: Prefixes = None) -> Sayable:
        """What a batch may say; what a translation has to begin with is among it."""
        allowed_BV = self.allowed(sources_BS, pieces)
        for row, prefix in enumerate(prefixes or ()):
            allowed_BV[row, torch.tensor(prefix, dtype=torch.long, device=allowed_BV.device)] = True
        ids_V = allowed_BV.any(0).nonzero().squeeze(1)
        penalties_BV = torch.zeros((len(sources_BS), len(ids_V)), device=sources_BS.device)
        penalties_BV.masked_fill_(~allowed_BV[:, ids_V], -torch.inf)
        return Sayable(output.of(ids_V), ids_V, penalties_BV[:, None])

    def covers(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], pieces: int
    ) -> tuple[float, int, float]:
        """Pieces that may be said of a source, on average; of how many; share of the targets' pieces among them."""
        sayable = within = running = 0
        for source, target in zip(sources, targets, strict=True):
            allowed_V = self.allowed(torch.tensor([list(source)], dtype=torch.long), pieces)[0]
            sayable += int(allowed_V.sum())
            within += int(allowed_V[torch.tensor(list(target), dtype=torch.long)].sum())
            running += len(target)
        return sayable / max(1, len(sources)), pieces, within / max(1, running)

    def save(self, folder: Path) -> None:
        save_file({"always": self.always_A, "partners": self.partners_VN}, folder / NAME)

    @classmethod
    def load(cls, folder: Path) -> Self | None:
        """None where the folder has none."""
        try:
            found = load_file(folder / NAME)
            return cls(found["always"], found["partners"])
        except FileNotFoundError:
            return None
        except (SafetensorError, KeyError) as error:
            raise UserError(f"{folder / NAME}: damaged: {error}") from error
