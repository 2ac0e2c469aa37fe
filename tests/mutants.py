"""Break the paper's formulas one at a time; the tests named must fail each time: ``make mutants``.

``python tests/mutants.py 3 5`` tries the mutants of these numbers, without numbers all of them.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Mutant(NamedTuple):
    """A change of one line of the library, and the tests that must notice it."""

    file: str
    old: str
    new: str
    tests: str


MUTANTS = [
    Mutant("radial_skd.py", "return constant - (total * (", "return constant + (total * (", "radial_skd"),
    Mutant("radial_skd.py", "return total / norm if", "return 2.0 * total / norm if", "radial_skd"),
    Mutant("derivatives.py", "2.0 * c * c * over_landmarks - 2.0", "c * c * over_landmarks - 2.0", "derivatives"),
    Mutant("derivatives.py", "- 2.0 * c * over_data", "- c * over_data", "derivatives"),
    Mutant("derivatives.py", "(over_data - 2.0 * total", "(over_data - total", "derivatives"),
    Mutant("derivatives.py", "slope = 4.0 * c * over_landmarks", "slope = 2.0 * c * over_landmarks", "derivatives"),
    Mutant("derivatives.py", "            same += 2.0 * c * c", "            same += 1.0 * c * c", "derivatives"),
    Mutant("derivatives.py", "cross = 2.0 * c * c", "cross = -2.0 * c * c", "derivatives"),
    Mutant("derivatives.py", "dc * slope + curvature", "curvature", "derivatives"),
    Mutant("lipschitz.py", "math.sqrt(self.norm_bound)", "self.norm_bound", "lipschitz"),
    Mutant("lipschitz.py", "(self.N + (2 * self.n - 1) * self.C0)", "(self.N + self.n * self.C0)", "lipschitz"),
    Mutant("lipschitz.py", " + (4 * n - 2) * C0 * C1 * self.M1 + 2 * N * (", " + 2 * N * (", "lipschitz"),
    Mutant("lipschitz.py", "return 2 * C0**2 * self.M2 +", "return C0**2 * self.M2 +", "lipschitz"),
    Mutant("stochastic.py", "self.scale = len(data) / len(picked)", "self.scale = 1.0", "stochastic"),
    Mutant("stochastic.py", "_combine(x.T1, y.T1, x.T1, y)", "_combine(x.T1, x.T1, x.T1, y)", "stochastic"),
    Mutant("stochastic.py", "_combine(e[0].T1, e[1].T1,", "_combine(e[0].T1, e[0].T1,", "stochastic"),
    Mutant("criteria.py", "np.maximum(values[n:], 0.0)", "np.maximum(values[n + 1 :], 0.0)", "criteria"),
    Mutant("criteria.py", "return error / optimum", "return optimum / error", "criteria"),
    Mutant("criteria.py", '"spectral": float(values[n])', '"spectral": float(values[n - 1])', "criteria"),
    Mutant("kernels.py", "2.0 * math.sqrt(self.rho) * math.exp", "math.sqrt(self.rho) * math.exp", "kernels"),
    Mutant("kernels.py", "outer = 4.0 * second * delta", "outer = 2.0 * second * delta", "kernels"),
    Mutant("landmarks/objectives/trace_error.py", "gradient)), gradient", "gradient)), -gradient", "objectives"),
    Mutant("landmarks/objectives/trace_error.py", "scale * (total", "(total", "objectives"),
    Mutant("landmarks/objectives/skd.py", "- scale * over_data)", "- over_data)", "objectives"),
    Mutant("landmarks/objectives/skd.py", "(ratio * over_landmarks -", "(over_landmarks -", "objectives"),
]  # fmt: skip


def killed(mutant: Mutant, copy: Path) -> bool:
    """Whether the tests fail, on a copy of the library in which the line is changed."""
    path = copy / "nystrom_lib" / mutant.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.old) < 1:
        raise SystemExit(f"mutants: {mutant.file} has no line with {mutant.old!r}")
    path.write_text(text.replace(mutant.old, mutant.new, 1), encoding="utf-8")
    try:
        tests = "objectives" if mutant.tests == "objectives" else f"test_{mutant.tests}.py"
        command = [sys.executable, "-m", "pytest", "-x", "-q", f"tests/nystrom_lib/{tests}"]
        return subprocess.run(command, cwd=copy, capture_output=True, timeout=600).returncode == 1
    finally:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("nystrom_lib", "tests"):
            shutil.copytree(ROOT / name, copy / name)  # compiled loops included
        shutil.copy(ROOT / "pyproject.toml", copy)
        for i, mutant in enumerate(MUTANTS):
            if len(sys.argv) == 1 or str(i) in sys.argv[1:]:
                dead = killed(mutant, copy)
                print(f"{i:2} {'killed' if dead else 'ALIVE '} {mutant.file}: {mutant.old.strip()}", flush=True)
                survivors += [] if dead else [i]
    sys.exit(f"mutants: {len(survivors)} survived: {survivors}" if survivors else 0)
