"""The same descent steps in JAX, by automatic differentiation and with a gradient written by hand.

This file runs by itself, in whichever interpreter has JAX, and is driven line by line: a request is one line of JSON on
the standard input, its answer one line on the standard output. Its only argument is the number of cores to keep to, set
before JAX counts them. Nothing of the project is imported, so that the interpreter needs NumPy and JAX only.

The one-sample estimator of Eq. (6) is the exact derivative of −T̂₁² / ‖K_S‖_F², and the gradient of Eq. (5) is the same
with all of the data as the batch: so JAX needs that one scalar only.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

#: A descent from a sample, over batches of shape (steps, b), or over all of the data where they are None.
Descent = Callable[[Any, Any, int], Any]
LARGEST_BROADCAST = 4_000_000  #: numbers of an (n, b, d) array of differences that is worth trying


def skd_descents(data: np.ndarray[Any, Any], rho: float, gamma: float, n: int, b: int) -> dict[str, Descent]:
    """Descents on R, all compiled with ``jit``: a call for each step, or a compiled loop over the steps."""
    import jax  # type: ignore[import-not-found,unused-ignore]
    import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

    X = jnp.asarray(data)
    N, d = X.shape

    def by_product(A: Any, B: Any) -> Any:
        return (A * A).sum(1)[:, None] + (B * B).sum(1)[None, :] - 2.0 * (A @ B.T)

    def by_difference(A: Any, B: Any) -> Any:
        return ((A[:, None, :] - B[None, :, :]) ** 2).sum(2)

    def make(distances: Any) -> tuple[Descent, Descent]:
        def criterion(S: Any, points: Any) -> Any:
            t1 = N / points.shape[0] * jnp.exp(-2.0 * rho * distances(S, points)).sum()
            return -(t1**2) / jnp.exp(-2.0 * rho * distances(S, S)).sum()

        slope = jax.grad(criterion)

        def step(S: Any, batch: Any) -> Any:
            return S - gamma * slope(S, X if batch is None else X[batch])

        def loop(S: Any, batches: Any, steps: int) -> Any:
            body = lambda t, value: step(value, None if batches is None else batches[t])  # noqa: E731
            return jax.lax.fori_loop(0, steps, body, S)

        one, many = jax.jit(step), jax.jit(loop, static_argnums=2)

        def called(S: Any, batches: Any, steps: int) -> Any:
            for t in range(steps):
                S = one(S, None if batches is None else batches[t])
            return S

        return called, many

    distances = {"products": by_product}
    if n * max(n, b) * d <= LARGEST_BROADCAST:
        distances["differences"] = by_difference
    descents: dict[str, Descent] = {}
    for name, function in distances.items():
        descents[f"a call for each step, {name}"], descents[f"a compiled loop, {name}"] = make(function)
    return descents


def trace_descents(data: np.ndarray[Any, Any], rho: float, gamma: float, n: int, b: int) -> dict[str, Descent]:
    """Descents on the trace error from batches: its gradient by ``grad`` and written by hand, in compiled loops."""
    import jax  # type: ignore[import-not-found,unused-ignore]
    import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
    from jax.scipy.linalg import cho_solve, solve_triangular  # type: ignore[import-not-found,unused-ignore]

    X, scale = jnp.asarray(data), data.shape[0] / b

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
        return lambda S, batches, steps: loop(S, batches[:steps])

    return {"autograd": looped(jax.grad(criterion)), "gradient written by hand": looped(by_hand)}


class Opponent:
    """One problem: the implementations of the descent, and the fastest of them."""

    def __init__(self, request: dict[str, Any]) -> None:
        import jax  # type: ignore[import-not-found,unused-ignore]
        import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

        jax.config.update("jax_enable_x64", True)
        arrays = np.load(request["arrays"])
        data = arrays["data"]
        self.sample = jnp.asarray(arrays["sample"])
        self.batches = jnp.asarray(arrays["batches"]) if "batches" in arrays else None
        self.steps = int(request["steps"])
        n, b = len(self.sample), len(data) if self.batches is None else self.batches.shape[1]
        make = trace_descents if request["objective"] == "trace" else skd_descents
        methods = make(data, float(request["rho"]), float(request["gamma"]), n, b)
        for method in methods.values():
            self.timed(method)  # compiled here, so that no time below includes compilation
        self.times = {name: min(self.timed(method) for _ in range(3)) for name, method in methods.items()}
        self.fastest = methods[min(self.times, key=lambda name: self.times[name])]

    def timed(self, method: Descent) -> float:
        """Seconds for one step."""
        begin = time.perf_counter()
        np.asarray(method(self.sample, self.batches, self.steps))
        return (time.perf_counter() - begin) / self.steps


def version() -> str:
    """The version of JAX, or the empty string where it is not installed."""
    try:
        import jax  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return ""
    return str(jax.__version__)


def main() -> None:
    """Answer requests until the input ends."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[1])])
    opponent: Opponent | None = None
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {}
        if request["do"] == "version":
            answer = {"version": version()}
        elif request["do"] == "prepare":
            opponent = Opponent(request)
            answer = {"seconds": opponent.times}
        elif opponent is not None:
            answer = {"seconds": opponent.timed(opponent.fastest)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
