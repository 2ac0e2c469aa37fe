"""The configuration of an experiment as in Section 4: everything that its numbers depend on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import nystrom_lib as nl

from .. import wording
from ..errors import ConfigurationError
from ..settings import Plain, Settings, canonical_json, setting
from .components import DATA_SOURCES, DESCENTS, INITIAL_SAMPLES, KERNELS, DataSource, Descent, InitialSample, Uniform

#: Part of every fingerprint. It changes if the meaning of a configuration changes, not if a setting is added: that is
#: declared ``newer``, so that results stored without it are still found.
FORMAT = 1

NORMS = tuple(wording.NORMS)


@dataclass(frozen=True)
class Record(Settings):
    """What to keep of some repetitions besides their numbers."""

    repetitions: tuple[int, ...] = setting((), at_least=0)
    every: int = setting(0, at_least=0)  #: steps between two values of R that are kept; the last one is kept as well
    path: bool = False  #: keep the landmarks at the same steps, too

    def check(self) -> None:
        """Each repetition once, in order: equal records must have equal fingerprints."""
        if list(self.repetitions) != sorted(set(self.repetitions)):
            given = list(self.repetitions)
            raise ConfigurationError("repetitions", f"is {given}; give each once, in increasing order.")
        if bool(self.repetitions) != bool(self.every) or (self.path and not self.every):
            raise ConfigurationError("", "needs both repetitions and every, or neither, and then no path.")


@dataclass(frozen=True)
class Experiment(Settings):
    """A configuration: typed, range-checked, unchangeable."""

    data: DataSource = setting(slot=DATA_SOURCES)  #: the multiset D
    kernel: nl.Kernel = setting(slot=KERNELS)
    n: int = setting(at_least=1, at_most=10**6)  #: the number of landmark points
    descent: Descent = setting(slot=DESCENTS)
    m: int = setting(1, at_least=1, at_most=10**6)  #: the number of repetitions
    seed: int = setting(0, at_least=0, at_most=2**63 - 1)  #: every draw of repetition j follows from this seed and j
    initial: InitialSample = setting(Uniform(), slot=INITIAL_SAMPLES)
    norms: tuple[str, ...] = setting(NORMS, choices=NORMS, repeats=True)  #: in which K − K̂(S) is measured
    factors: bool = True  #: divide by the best rank-n error, Eq. (8); it costs O(N³) in the last two norms
    constant: bool = True  #: add ‖K‖_F² to R, Eq. (3); it costs O(N²), once
    record: Record = field(default=Record())

    def check(self) -> None:
        """Norms in one order and each once; only repetitions that exist are recorded."""
        if list(self.norms) != [norm for norm in NORMS if norm in self.norms]:
            given, order = list(self.norms), ", ".join(NORMS)
            raise ConfigurationError("norms", f"is {given}; give each once, in the order {order}.")
        if any(j >= self.m for j in self.record.repetitions):
            asked = list(self.record.repetitions)
            raise ConfigurationError("record.repetitions", f"is {asked}; all must be below m = {self.m}.")

    @property
    def fingerprint(self) -> str:
        """The same for equal configurations, different for different ones (sha256, 64 hexadecimal digits)."""
        return _sha256(self.to_plain())

    @property
    def series(self) -> str:
        """The same for configurations that differ in m alone: repetition j is the same in all of them."""
        plain = self.to_plain()
        del plain["m"]
        return _sha256(plain)


def _sha256(plain: Plain) -> str:
    text = f"nystrom-experiment/{FORMAT}\n{canonical_json(plain)}"
    return hashlib.sha256(text.encode("ascii")).hexdigest()
