"""Run the library's tests as if on other processors, and beside busy processes: ``make processors``.

``python tests/processors.py haswell ...`` runs the passes named, without names all of them.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AVX2, AVX512 = {"avx2", "bmi2", "fma"}, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
#: The processor flags that a pass needs, its environment, and how many busy processes run beside it.
PASSES: dict[str, tuple[set[str], dict[str, str], int]] = {
    "haswell": (AVX2, {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""}, 0),
    "x86-64-v4": (AVX512, {"NUMBA_CPU_NAME": "x86-64-v4", "NUMBA_CPU_FEATURES": ""}, 0),
    "OpenBLAS-Haswell": (AVX2, {"OPENBLAS_CORETYPE": "Haswell"}, 0),
    "OpenBLAS-SkylakeX": (AVX512, {"OPENBLAS_CORETYPE": "SkylakeX"}, 0),
    "OpenBLAS-Zen": (AVX2, {"OPENBLAS_CORETYPE": "Zen"}, 0),
    "busy": (set(), {}, 2),
}


def flags() -> set[str]:
    """The features of this processor, none where they are not known."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return next((set(line.split()) for line in lines if line.startswith("flags")), set())


def run(name: str) -> bool:
    """Whether the tests pass; a pass that this machine cannot execute is skipped."""
    needed, settings, busy = PASSES[name]
    missing = needed - flags()
    if missing:
        print(f"processors: {name} is skipped, for this processor has no {', '.join(sorted(missing))}.", flush=True)
        return True
    print(f"processors: {name}", flush=True)
    environment = os.environ | settings
    if "NUMBA_CPU_NAME" in settings:
        environment["NUMBA_CACHE_DIR"] = str(ROOT / ".cache" / f"numba-{name}")
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    try:
        command = [sys.executable, "-m", "pytest", "-q", "tests/nystrom_lib"]
        return subprocess.run(command, cwd=ROOT, env=environment).returncode == 0
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    failed = [name for name in sys.argv[1:] or PASSES if not run(name)]
    sys.exit(f"processors: the tests fail on {', '.join(failed)}" if failed else 0)
