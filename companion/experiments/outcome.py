"""What one repetition leaves behind."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: The two samples that a repetition measures: S⁽⁰⁾ and S⁽ᵀ⁾. A number's name is "quantity.stage".
STAGES = ("initial", "optimised")

#: Quantities that say how long something took: the only ones that may differ when a repetition is done again.
TIMINGS = frozenset({"seconds"})


@dataclass(frozen=True)
class Outcome:
    """The numbers of a repetition by name, such as ``"R.initial"``, and the arrays kept with them.

    A number that does not exist (the criteria of a descent that diverged) is absent; NaN means the same.
    """

    numbers: Mapping[str, float]
    arrays: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # -0.0 and 0.0 are one number to every file format we use.
        numbers = {name: float(value) + 0.0 for name, value in self.numbers.items() if not math.isnan(value)}
        arrays = {name: np.ascontiguousarray(array, dtype="<f8") for name, array in self.arrays.items()}
        object.__setattr__(self, "numbers", numbers)
        object.__setattr__(self, "arrays", arrays)

    def to_plain(self) -> dict[str, Any]:
        """Dictionaries, lists and numbers only."""
        return {"numbers": dict(self.numbers), "arrays": {name: array.tolist() for name, array in self.arrays.items()}}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Outcome:
        """Read what :meth:`to_plain` gives."""
        return cls(plain["numbers"], {name: np.array(values) for name, values in plain["arrays"].items()})

    def checksum(self, *, timings: bool = True) -> str:
        """sha256 over names, shapes and bits; without the timings, equal for equal results."""
        digest = hashlib.sha256()
        for name in sorted(self.numbers):
            if timings or name.partition(".")[0] not in TIMINGS:
                digest.update(f"{name}=".encode() + struct.pack("<d", self.numbers[name]))
        for name in sorted(self.arrays):
            digest.update(f"{name}{self.arrays[name].shape}=".encode() + self.arrays[name].tobytes())
        return digest.hexdigest()
