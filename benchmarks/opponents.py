"""The same descent step by automatic differentiation, in JAX and in PyTorch.

This file runs by itself, in whichever interpreter has JAX or PyTorch, and is driven line by line: a
request is one line of JSON on the standard input, its answer one line on the standard output. Its only
argument is the number of cores to keep to, set before a framework counts them. Nothing of the project is
imported, so that the other interpreter needs NumPy and the framework only.

The one-sample estimator of Eq. (6) is the exact derivative of −T̂₁² / ‖K_S‖_F², and the gradient of
Eq. (5) is the same with the whole data as the batch, so a framework only needs that one scalar.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

# A descent from a sample, over batches of shape (steps, b), or over the whole data where they are None.
Descent = Callable[[Any, Any, int], Any]
# Above this many numbers, an (n, b, d) array of differences is not worth trying.
LARGEST_BROADCAST = 4_000_000


def jax_descents(data: np.ndarray[Any, Any], rho: float, gamma: float, sizes: tuple[int, int]) -> dict[str, Descent]:
    """The ways to write the descent in JAX, all compiled with ``jit``, in double precision."""
    import jax  # type: ignore[import-not-found,unused-ignore]
    import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

    jax.config.update("jax_enable_x64", True)
    X = jnp.asarray(data)
    N, d = X.shape
    n, b = sizes

    def by_product(A: Any, B: Any) -> Any:
        return (A * A).sum(1)[:, None] + (B * B).sum(1)[None, :] - 2.0 * (A @ B.T)

    def by_difference(A: Any, B: Any) -> Any:
        return ((A[:, None, :] - B[None, :, :]) ** 2).sum(2)

    def make(distances: Any) -> tuple[Any, Any]:
        def criterion(S: Any, points: Any) -> Any:
            t1 = N / points.shape[0] * jnp.exp(-2.0 * rho * distances(S, points)).sum()
            return -(t1**2) / jnp.exp(-2.0 * rho * distances(S, S)).sum()

        slope = jax.grad(criterion)

        def step(S: Any, batch: Any) -> Any:
            return S - gamma * slope(S, X if batch is None else X[batch])

        def loop(S: Any, batches: Any, steps: int) -> Any:
            def body(t: Any, value: Any) -> Any:
                return step(value, None if batches is None else batches[t])

            return jax.lax.fori_loop(0, steps, body, S)

        return jax.jit(step), jax.jit(loop, static_argnums=2)

    def called(step: Any) -> Descent:
        def descent(S: Any, batches: Any, steps: int) -> Any:
            S = jnp.asarray(S)
            for t in range(steps):
                S = step(S, None if batches is None else batches[t])
            return np.asarray(S)

        return descent

    def looped(loop: Any) -> Descent:
        def descent(S: Any, batches: Any, steps: int) -> Any:
            return np.asarray(loop(jnp.asarray(S), None if batches is None else jnp.asarray(batches), steps))

        return descent

    ways = {"products": by_product}
    if n * max(n, b) * d <= LARGEST_BROADCAST:
        ways["differences"] = by_difference
    descents: dict[str, Descent] = {}
    for name, distances in ways.items():
        step, loop = make(distances)
        descents[f"a call for each step, {name}"] = called(step)
        descents[f"a compiled loop, {name}"] = looped(loop)
    return descents


def jax_trace_descents(
    data: np.ndarray[Any, Any], rho: float, gamma: float, sizes: tuple[int, int]
) -> dict[str, Descent]:
    """Descents on the trace error from batches: its gradient by ``grad`` and written by hand, in compiled loops."""
    import jax  # type: ignore[import-not-found,unused-ignore]
    import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
    from jax.scipy.linalg import cho_solve, solve_triangular  # type: ignore[import-not-found,unused-ignore]

    jax.config.update("jax_enable_x64", True)
    X = jnp.asarray(data)
    n, b = sizes
    scale = data.shape[0] / b

    def kernel(A: Any, B: Any) -> Any:
        return jnp.exp(-rho * ((A * A).sum(1)[:, None] + (B * B).sum(1)[None, :] - 2.0 * (A @ B.T)))

    def matrices(S: Any, B: Any) -> tuple[Any, Any, Any]:
        W = kernel(S, S) + 1e-10 * jnp.eye(n)
        return W, jnp.linalg.cholesky(W), kernel(S, B)

    def criterion(S: Any, B: Any) -> Any:
        _, L, C = matrices(S, B)
        return -scale * (solve_triangular(L, C, lower=True) ** 2).sum()

    def by_hand(S: Any, B: Any) -> Any:
        W, L, C = matrices(S, B)
        A = cho_solve((L, True), C)
        return -4.0 * rho * scale * ((A * C) @ B - ((A @ A.T) * W) @ S)

    def looped(slope: Any) -> Descent:
        def body(S: Any, batch: Any) -> tuple[Any, None]:
            G = slope(S, X[batch])
            return S - gamma * G / jnp.sqrt((G * G).sum(1, keepdims=True)), None

        loop = jax.jit(lambda S, batches: jax.lax.scan(body, S, batches)[0])
        return lambda S, batches, steps: np.asarray(loop(jnp.asarray(S), jnp.asarray(batches[:steps])))

    return {"autograd": looped(jax.grad(criterion)), "gradient written by hand": looped(by_hand)}


def torch_descents(
    data: np.ndarray[Any, Any], rho: float, gamma: float, sizes: tuple[int, int], threads: int
) -> dict[str, Descent]:
    """The descent with PyTorch's autograd, in double precision."""
    import torch  # type: ignore[import-not-found,unused-ignore]

    torch.set_num_threads(threads)
    X = torch.from_numpy(data)
    N = X.shape[0]

    def distances(A: Any, B: Any) -> Any:
        return (A * A).sum(1)[:, None] + (B * B).sum(1)[None, :] - 2.0 * (A @ B.T)

    def descent(sample: Any, batches: Any, steps: int) -> Any:
        S = torch.tensor(sample, requires_grad=True)
        index = None if batches is None else torch.from_numpy(batches)
        for t in range(steps):
            points = X if index is None else X[index[t]]
            t1 = N / points.shape[0] * torch.exp(-2.0 * rho * distances(S, points)).sum()
            criterion = -(t1**2) / torch.exp(-2.0 * rho * distances(S, S)).sum()
            (slope,) = torch.autograd.grad(criterion, S)
            with torch.no_grad():
                S -= gamma * slope
        return S.detach().numpy()

    return {"eager autograd, products": descent}


class Opponent:
    """One framework on one problem: every way it can be written, then the fastest of them."""

    def __init__(self, request: dict[str, Any]) -> None:
        arrays = np.load(request["arrays"])
        self.sample = arrays["sample"]
        self.batches = arrays["batches"] if "batches" in arrays else None
        self.steps = int(request["steps"])
        data = arrays["data"]
        n = self.sample.shape[0]
        b = data.shape[0] if self.batches is None else self.batches.shape[1]
        rho, gamma = float(request["rho"]), float(request["gamma"])
        if request.get("objective") == "trace":
            ways = jax_trace_descents(data, rho, gamma, (n, b))
        elif request["framework"] == "jax":
            ways = jax_descents(data, rho, gamma, (n, b))
        else:
            ways = torch_descents(data, rho, gamma, (n, b), int(request["threads"]))
        for way in ways.values():
            self.run(way)  # compiled here, so that no timing holds compilation
        self.times = {name: min(self.timed(way) for _ in range(3)) for name, way in ways.items()}
        self.name = min(self.times, key=lambda name: self.times[name])
        self.way = ways[self.name]

    def run(self, way: Descent) -> np.ndarray[Any, Any]:
        return np.asarray(way(self.sample, self.batches, self.steps))

    def timed(self, way: Descent) -> float:
        begin = time.perf_counter()
        self.run(way)
        return (time.perf_counter() - begin) / self.steps


def version(framework: str) -> str:
    """The version of the framework, or the empty string where it is not installed."""
    try:
        module = __import__(framework)
    except ImportError:
        return ""
    return str(module.__version__)


def keep_to_cores(count: int) -> None:
    """Use the first `count` of the cores we may use, where the system can be told so."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def main() -> None:
    keep_to_cores(int(sys.argv[1]))
    opponent: Opponent | None = None
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any]
        if request["do"] == "version":
            answer = {"version": version(request["framework"])}
        elif request["do"] == "prepare":
            opponent = Opponent(request)
            answer = {"ways": opponent.times, "way": opponent.name}
        elif opponent is None:
            answer = {"error": "nothing was prepared"}
        else:
            answer = {"seconds": opponent.timed(opponent.way)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
