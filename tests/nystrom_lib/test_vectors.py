"""The vectors written by hand: each tile by itself, and everything once more without them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit

import nystrom_lib as nl
from nystrom_lib import _core
from nystrom_lib._core import pairs, vectors
from nystrom_lib._core.compile import PLAIN
from nystrom_lib._sums import PairSums
from tests.cases import Floats, cloud
from tests.formulas import KERNELS, NARROW, sensible_step
from tests.nystrom_lib.test_import_rule import imported

KINDS = (np.float64, np.float32)


def framed(rows: int, columns: int, kind: type, right: int = 3) -> tuple[Any, Any]:
    """A frame of −1 around an array: the frame, and the rows that may be written to (as long as the frame is wide)."""
    frame = np.full((rows + 2, columns + right), -1.0, kind)
    return frame, frame[1:-1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "m, n", [(1, 1), (1, 64), (7, 9), (8, 8), (9, 8), (15, 17), (16, 16), (17, 31), (33, 64), (64, 50)]
)
def test_transpose(m: int, n: int, kind: type) -> None:
    """Catches a square of vectors that overlaps the one before it wrongly, or writes beyond its rows."""
    A = np.random.default_rng(m).normal(size=(m, n + 2)).astype(kind)
    frame, B = framed(n, m, kind)
    pairs.transpose(A, m, n, B)
    assert np.array_equal(B[:, :m], A[:, :n].T)
    assert np.all(frame[:, m:] == -1) and np.all(frame[[0, -1]] == -1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 7, 8, 9, 15, 16, 17, 25, 31, 32, 33, 50, 63, 64])
@pytest.mark.parametrize("m", [1, 3, 4, 5, 64])
def test_gather(m: int, n: int, kind: type) -> None:
    """Catches a last vector whose overlap is added twice, or rows left over after whole phases."""
    rng = np.random.default_rng([m, n])
    t, XA = rng.integers(-9, 9, (m, n)).astype(kind), rng.integers(-9, 9, (m + 2, 6)).astype(kind)
    frame, G = framed(6, n, kind)
    G[:, :n] = 5
    pairs.gather(t.ravel(), m, n, XA, 1, G)
    assert np.array_equal(G[:, :n], 5 + XA[1 : m + 1].T @ t)  # small whole numbers: no rounding
    assert np.all(frame[:, n:] == -1) and np.all(frame[[0, -1]] == -1)


@pytest.mark.parametrize("radial", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 7, 8, 9, 16, 17, 33, 64])
@pytest.mark.parametrize("m", [1, 3, 4, 5, 7, 64])
def test_pair_scalars(m: int, n: int, kind: type, radial: bool) -> None:
    """Catches vectors of rows or columns that overlap wrongly, or write beyond their place in the block."""
    rng = np.random.default_rng([m, n])
    A, XT = rng.integers(-9, 9, (m + 1, 5)).astype(kind), rng.integers(-9, 9, (4, n + 3)).astype(kind)
    t = np.full(5 + m * (n + 2), -1.0, kind)
    pairs.exact_scalars(radial, t, 5, n + 2, A, 1, m, XT, 2, n, 4)
    a, s = A[1:, None, :4], XT[:, 2 : n + 2].T[None]
    found = t[5:].reshape(m, n + 2)
    assert np.array_equal(found[:, :n], np.sum((a - s) ** 2 if radial else a * s, axis=2))
    assert np.all(found[:, n:] == -1) and np.all(t[:5] == -1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [8, 17, 31, 50, 56])
def test_registers_of_another_width_add_in_the_same_order(n: int, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches results that depend in their last bits on the processor's registers: both widths, whatever is here."""
    if n < vectors.BYTES // np.dtype(kind).itemsize:
        return
    rng = np.random.default_rng(n)
    t, XA = rng.normal(size=(37, n)).astype(kind), rng.normal(size=(37, 6)).astype(kind)
    sums = []
    for register in (32, 64):
        monkeypatch.setattr(vectors, "REGISTER", register)

        @njit
        def gather(t: Any, XA: Any, G: Any) -> None:
            m, n = t.shape
            width = XA.shape[1]
            vectors.gather(t, vectors.address(t), n, vectors.address(XA), width, m, width, vectors.address(G), n)

        sums.append(np.zeros((6, n), kind))
        gather(t, XA, sums[-1])
    assert np.array_equal(*sums)
    assert sums[0] == pytest.approx(XA.T @ t, rel=1e-3, abs=1e-3)


# In a process of its own: what it looks for ends the process.
GUARDED = """
import ctypes, mmap
import numpy as np
from nystrom_lib._core import pairs

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

def guarded(array, at_end):
    page, size = mmap.PAGESIZE, -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + 2 * page)
    raw = np.frombuffer(memory, np.uint8)
    for guard in (0, size + page):
        assert libc.mprotect(raw.ctypes.data + guard, page, 0) == 0
    start = page + (size - array.nbytes if at_end else 0)
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy

sizes = (1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33)
for kind in (np.float64, np.float32):
    for at_end in (True, False):
        for m in sizes:
            for n in sizes:
                A, X, XT = (guarded(np.ones(shape, kind), at_end) for shape in ((m, n), (m, 3), (3, n)))
                t, G = guarded(np.ones(m * n, kind), at_end), guarded(np.ones((3, n), kind), at_end)
                pairs.transpose(A, m, n, guarded(np.ones((n, m), kind), at_end))
                pairs.exact_scalars(True, t, 0, n, X, 0, m, XT, 0, n, 3)
                pairs.exact_scalars(False, t, 0, n, X, 0, m, XT, 0, n, 3)
                pairs.gather(t, m, n, X, 0, G)
                assert np.all(G == 1 + 3 * m)
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="pages are protected by mprotect")
def test_nothing_beyond_an_array_is_touched(root: Path) -> None:
    """Catches a vector that reaches beyond its array: each lies flush with a page that may not be read.

    A read is not seen otherwise, for the lanes too many are left out of the result.
    """
    run = subprocess.run([sys.executable, "-c", GUARDED], cwd=root, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr


def test_vectors_have_lanes_for_their_elements() -> None:
    """Catches direct tests above that no longer reach a second vector."""
    assert vectors.BYTES // 8 == 8 and vectors.BYTES // 4 == 16 and vectors.ROWS == 4
    assert vectors.BYTES % vectors.REGISTER == 0


# --- the plain loops beside them ------------------------------------------------------------------------------------

#: Fewer landmarks than lanes, a last vector or tile that is not full, several tiles and groups; distances both ways.
EDGES = [
    (1, 3, 2), (7, 5, 1), (8, 4, 3), (9, 97, 16), (17, 49, 17), (63, 48, 8), (65, 500, 2), (129, 97, 50), (449, 65, 3),
]  # fmt: skip


@nl.threads(1)
def everything() -> dict[str, Floats]:
    """What the tiles go into, for several kernels and sizes: one thread is enough, the tiles are the same."""
    found: dict[str, Any] = {}
    for name, kernel in KERNELS.items():
        for n, N, d in EDGES:
            X, S = cloud(d, N, n)
            key, batches = f"{name} {n} {N} {d} ", np.random.default_rng(n).integers(0, N, (3, 21))
            how: dict[str, Any] = {"step": sensible_step(kernel, X, S), "iterations": 3, "batches": batches}
            for i, value in enumerate(PairSums(kernel, X, S).totals_and_left()):
                found[f"{key}sum {i}"] = value
            found[key + "Frobenius norm"] = nl.squared_frobenius_norm(kernel, X)
            found[key + "matrix"] = kernel.matrix(S, X)
            found[key + "gradient"] = nl.radial_skd_gradient(kernel, X, S)
            found[key + "Eq. (6)"] = nl.one_sample_gradient(kernel, X, S, batches[0])
            found[key + "Eq. (7)"] = nl.two_sample_gradient(kernel, X, S, batches[0], batches[1])
            found[key + "descent"] = nl.stochastic_gradient_descent(kernel, X, S, **how).sample
        for n, N, d in ((17, 257, 8), (65, 256, 16)):
            X, S = cloud(d, N, n)
            found[f"{name} {n} trace gradient"] = nl.TraceError(NARROW[name](d), X).gradient(S)
            errors = nl.nystrom_errors(NARROW[name](d), X, S, precision="double")
            found[f"{name} {n} errors"] = (errors.trace, errors.frobenius, errors.spectral)
    return {key: np.asarray(value) for key, value in found.items()}


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="NYSTROM_PLAIN_LOOPS is set: there is nothing to compare the plain loops with")
def test_plain_loops_do_what_the_vectors_do(root: Path, tmp_path: Path) -> None:
    """Catches vectors that a new LLVM compiles to something else, and plain loops that nobody has run for years."""
    code = "from tests.nystrom_lib import test_vectors as t; import numpy; "
    code += f"numpy.savez({str(tmp_path / 'plain.npz')!r}, **t.everything())"
    # optimised little: compiled sooner, and further from what the vectors become; kept apart from what is not
    little = {"NUMBA_OPT": "1", "NUMBA_CACHE_DIR": str(root / ".cache" / "numba-little")}
    environment = {**os.environ, "NYSTROM_PLAIN_LOOPS": "1", **little}
    run = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    ours = everything()
    with np.load(tmp_path / "plain.npz") as plain:
        assert set(plain) == set(ours)
        off = {key: float(np.max(np.abs(plain[key] - value))) for key, value in ours.items()}
    # Terms of a gradient cancel two or three digits; Lanczos stops at ten.
    allowed = {"gradient": 1e-11, "(6)": 1e-11, "(7)": 1e-11, "errors": 1e-9}
    limit = {key: allowed.get(key.split()[-1], 1e-12) * np.max(np.abs(value)) for key, value in ours.items()}
    assert {key: value for key, value in off.items() if not value <= limit[key]} == {}
    assert any(off.values()), "the plain loops were not used: sums in another order differ in their last bits"


def test_private_modules_of_numba_are_written_down(root: Path) -> None:
    """Catches a door into numba's inside that nobody will look for when a new version closes it."""
    used = {name for path in (root / "nystrom_lib").rglob("*.py") for name in imported(path, root)}
    private = {name for name in used if name.startswith(("numba.core", "numba.misc", "numba.np", "numba.parfors"))}
    assert private and all(f"``{name}``" in (_core.__doc__ or "") for name in private)
