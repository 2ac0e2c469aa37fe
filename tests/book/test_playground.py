"""The playground in a browser: what it computes against the library, and what a hand can do with it.

The page stands alone here, without the rest of the book: only the last test needs that built.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from companion.book import playground
from companion.checkout import BOOK

from . import browser as chromium
from .browser import Tab

needs_browser = pytest.mark.skipif(chromium.find() is None, reason="there is no Chromium or Chrome on this machine")

DATA = nl.datasets.bigaussian().X
START = nl.uniform_sample(DATA, 50, seed=456)
#: Landmarks so close together that the pivots of K_S are lost.
CLOSE = 0.01 * np.random.default_rng(5).standard_normal((20, 2))

PAGE = """<!doctype html>
<html lang="en" data-theme="light"><head><title>The playground alone</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>* {{ box-sizing: border-box }} html[data-theme=dark] {{ background: #121212; color: #eee }}</style></head>
<body><main class="bd-article">{content}</main></body></html>
"""


# -- its data --------------------------------------------------------------------------------------------------


def stored() -> dict[str, Any]:
    text = playground.SCRIPT.read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text.partition("const playgroundData = ")[2].rstrip().rstrip(";"))
    return content


def test_points_and_start_are_the_library_s_bit_for_bit() -> None:
    content = stored()
    points = np.frombuffer(base64.b64decode(content["points"]), "<f8").reshape(-1, 2)
    assert np.array_equal(points, DATA)
    assert content["order"] == playground.order()
    assert np.array_equal(DATA[content["order"][:50]], START)
    assert len(set(content["order"])) == playground.MOST_LANDMARKS


@pytest.mark.parametrize(("rho", "n"), [(16.0, 50), (1.0, 20)])
def test_the_best_possible_errors_are_the_library_s(rho: float, n: int) -> None:
    content = stored()["best"]
    assert [float(name) for name in content] == list(playground.RHOS)
    assert {len(errors) for errors in content.values()} == {playground.MOST_LANDMARKS}
    best = nl.best_rank_errors(nl.Gaussian(rho=rho), DATA, n, "trace").trace
    assert content[f"{rho:g}"][n - 1] == pytest.approx(best, rel=1e-8)


# -- the page --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with the playground and nothing else."""
    folder = tmp_path_factory.mktemp("playground")
    blocks = re.findall(r"```\{raw\} html\n(.*?)```", (BOOK / "playground.md").read_text(encoding="utf-8"), re.DOTALL)
    shutil.copytree(BOOK / "_assets", folder / "_static")
    page = folder / "playground.html"
    page.write_text(PAGE.format(content="".join(blocks)), encoding="utf-8")
    return page.as_uri()


@pytest.fixture
def page(tab: Tab, alone: str) -> Tab:
    tab.prefer("light")
    tab.open(alone)
    tab.wait_for("document.querySelector('.playground[data-ready]')")
    tab.run("window.playground = document.querySelector('.playground'); true")
    return tab


def state(page: Tab, name: str) -> Any:
    return page.run(f"playground.state.{name}")


def sample(page: Tab) -> np.ndarray:
    return np.array(page.run("Array.from(playground.state.sample)")).reshape(-1, 2)


def message(page: Tab) -> str:
    return str(page.run("document.querySelector('.pg-message').textContent"))


def steps(page: Tab, count: int) -> None:
    page.run(f"for (let i = 0; i < {count}; i++) document.querySelector('.pg-step').click()")


def mark(page: Tab, number: int) -> tuple[float, float]:
    """Where a landmark is on the screen, once it is drawn."""
    page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    page.run("document.querySelector('.pg-plane').scrollIntoView({block: 'start', behavior: 'instant'})")
    x, y = page.run(
        f"(() => {{ const box = document.querySelectorAll('.pg-landmark .pg-dot')[{number}].getBoundingClientRect();"
        " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    return x, y


def lonely(page: Tab) -> int:
    """A landmark that no other one covers on the screen."""
    S = sample(page)
    distances = np.linalg.norm(S[:, None] - S[None], axis=2) + 9 * np.eye(len(S))
    return int(distances.min(axis=1).argmax())


def computed(page: Tab, call: str, points: np.ndarray) -> Any:
    """A function of nystrom.js, of the data and the given landmarks."""
    return page.run(
        f"(() => {{ const D = Float64Array.from({DATA.ravel().tolist()});"
        f" const S = Float64Array.from({points.ravel().tolist()}); return {call}; }})()"
    )


@needs_browser
def test_the_address_sets_the_state(tab: Tab, alone: str) -> None:
    """Catches a link of a chapter that opens the playground in another state, and a value that the controls lack."""
    tab.open(f"{alone}?n=30&rho=1&start=clustered&target=trace&gamma=1e-3")
    tab.wait_for("document.querySelector('.playground[data-ready]')")
    tab.run("window.playground = document.querySelector('.playground'); true")
    assert [state(tab, name) for name in ("n", "rho", "start", "target")] == [30, 1, "clustered", "trace"]
    assert state(tab, "gamma.trace") == 1e-3 and len(sample(tab)) == 30
    assert tab.run("document.querySelector('[name=pg-target][value=trace]').checked")
    tab.open(f"{alone}?n=1000&rho=3&start=anywhere&gamma=7")
    tab.wait_for("document.querySelector('.playground[data-ready]')")
    tab.run("window.playground = document.querySelector('.playground'); true")
    assert [state(tab, name) for name in ("n", "rho", "start", "gamma.R")] == [50, 16, "random", 1e-6]


# -- what it computes ------------------------------------------------------------------------------------------


@needs_browser
@pytest.mark.parametrize("rho", [1.0, 16.0])
def test_criteria_and_gradients_are_the_library_s(page: Tab, rho: float) -> None:
    kernel, S = nl.Gaussian(rho=rho), START[:15] + 0.01
    objective, error = nl.RadialSKD(kernel, DATA), nl.TraceError(kernel, DATA)
    found = computed(
        page,
        f"[nystrom.radialSKD(D, S, {rho}, nystrom.squaredNorm(D, {rho})).value, nystrom.traceError(D, S, {rho}).value,"
        f" Array.from(nystrom.radialSKD(D, S, {rho}, 0).gradient), Array.from(nystrom.traceGradient(D, S, {rho})),"
        f" nystrom.traceError(D, S, {rho}).residuals.reduce((a, b) => a + b)]",
        S,
    )
    R, trace, slope, trace_slope, residuals = found
    assert R == pytest.approx(objective.value(S), rel=1e-10)
    assert trace == pytest.approx(error.value(S), rel=1e-9) == residuals
    for ours, theirs in ((slope, objective.gradient(S)), (trace_slope, error.gradient(S))):
        assert np.abs(np.reshape(ours, (-1, 2)) - theirs).max() < 1e-9 * np.abs(theirs).max()


@needs_browser
def test_the_readme_s_descent_step_by_step(page: Tab) -> None:
    kernel = nl.Gaussian(rho=16.0)
    constant = nl.RadialSKD(kernel, DATA).constant
    run = nl.gradient_descent(kernel, DATA, START, step=1e-6, iterations=400, record_every=50, keep_path=True)
    assert np.array_equal(sample(page), START)
    for at, (value, S) in enumerate(zip(run.values, run.path, strict=True)):  # type: ignore[arg-type]
        steps(page, 50 if at else 0)
        now = page.run("playground.state.history.at(-1)")
        assert now["t"] == 50 * at
        assert now["R"] == pytest.approx(value + (constant if run.values[0] < 0 else 0.0), rel=1e-9)
        assert now["trace"] == pytest.approx(nl.nystrom_errors(kernel, DATA, S, "trace").trace, rel=1e-9)
    assert np.abs(sample(page) - run.sample).max() < 1e-9
    assert page.errors == []


@needs_browser
def test_where_double_precision_ends_no_digits_are_shown(page: Tab) -> None:
    kernel = nl.Gaussian(rho=1.0)
    assert computed(page, "nystrom.traceError(D, S, 1).lost", CLOSE) is True
    assert nl.nystrom_errors(kernel, DATA, CLOSE, "trace").precision == "extended"
    # the gradient, with a ridge, still shows the way, and is the library's
    slope = np.reshape(computed(page, "Array.from(nystrom.traceGradient(D, S, 1))", CLOSE), (-1, 2))
    theirs = nl.TraceError(kernel, DATA).gradient(CLOSE)
    assert np.abs(slope - theirs).max() < 1e-3 * np.abs(theirs).max()
    page.run(f"playground.state.sample.set({CLOSE.ravel().tolist()})")
    steps(page, 12)  # the first of them made R rise, which is said for ten steps
    page.wait_for("document.querySelector('[data-of=trace] output').textContent.includes('beyond double precision')")
    assert not re.search(r"\d", page.run("document.querySelector('[data-of=trace] .pg-value').textContent"))
    assert "too close to each other" in message(page)


# -- by hand ---------------------------------------------------------------------------------------------------


def errors_are_those_of_the_sample(page: Tab) -> bool:
    kernel, S, now = nl.Gaussian(rho=16.0), sample(page), page.run("playground.state.history.at(-1)")
    return bool(
        now["trace"] == pytest.approx(nl.nystrom_errors(kernel, DATA, S, "trace").trace, rel=1e-9)
        and now["R"] == pytest.approx(nl.RadialSKD(kernel, DATA).value(S), rel=1e-9)
    )


@needs_browser
def test_the_mouse_moves_adds_and_removes(page: Tab) -> None:
    k, before = lonely(page), sample(page)
    x, y = mark(page, k)
    page.mouse((x, y), (x + 20, y), (x + 30, y - 12))
    moved = sample(page) - before
    side = page.run("document.querySelector('.pg-plane').clientWidth")
    assert moved[k] == pytest.approx([30 / side * 2.24, 12 / side * 2.24], abs=0.01)
    assert not np.delete(moved, k, axis=0).any() and errors_are_those_of_the_sample(page)
    box = page.run("document.querySelector('.pg-plane').getBoundingClientRect().toJSON()")
    x, y = mark(page, k)
    page.mouse((x, y), (x, y - 20), (box["right"] + 30, y - 20))
    assert len(sample(page)) == 49 and message(page) == "Removed a landmark; 49 are left."
    page.mouse((box["left"] + 4, box["top"] + 4))
    assert len(sample(page)) == 50 and errors_are_those_of_the_sample(page)
    x, y = mark(page, 49)
    for clicks in (1, 2):
        page.mouse((x, y), clicks=clicks)
    assert len(sample(page)) == 49


@needs_browser
def test_the_keyboard_alone(page: Tab) -> None:
    for _ in range(3):  # past links, if any, to the picture
        page.press("Tab", "Tab", 9)
        if page.run("document.activeElement.matches('.pg-landmarks')"):
            break
    before = sample(page)
    page.press("n", "KeyN", 78)
    page.press("ArrowRight", "ArrowRight", 39)
    page.press("ArrowUp", "ArrowUp", 38)
    assert sample(page)[1] == pytest.approx(before[1] + [0.02, 0.02])
    assert message(page).startswith("Landmark 2 is at (") and errors_are_those_of_the_sample(page)
    page.press("+", "Equal", 187)
    assert state(page, "n") == 51 and state(page, "chosen") == 50
    page.press("Delete", "Delete", 46)
    assert state(page, "n") == 50
    page.press("s", "KeyS", 83)
    assert state(page, "steps") == 1
    page.press(" ", "Space", 32)
    page.wait_for("playground.state.steps > 3")
    page.press(" ", "Space", 32)
    assert state(page, "playing") is False
    page.wait_for("document.querySelector('.pg-landmarks').getAttribute('aria-label').includes('50 landmarks')")
