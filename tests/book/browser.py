"""A headless Chromium, driven through its DevTools protocol over a pipe: nothing but the standard library."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ON_A_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
#: The width of a phone's screen.
PHONE = 390

OPTIONS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--no-first-run",
    "--no-default-browser-check",
    "--mute-audio",
    # Whatever a page asks of another host must fail here as it would on a machine without a network.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)

# Chromium reads commands from descriptor 3 and answers on 4.
_START = "import os, sys; r, w, *args = sys.argv[1:]; os.dup2(int(r), 3); os.dup2(int(w), 4); os.execvp(args[0], args)"


def find() -> str | None:
    """The Chromium or Chrome on this machine, if there is one."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or (str(ON_A_MAC) if ON_A_MAC.exists() else None)


class BrowserError(Exception):
    """The browser did not do what it was asked."""


class Browser:
    """One Chromium, with a profile of its own that is thrown away."""

    def __init__(self, profile: Path) -> None:
        program = find()
        assert program is not None
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        for end in (commands, answers):
            os.set_inheritable(end, True)
        start = [sys.executable, "-c", _START, str(commands), str(answers)]
        self._process = subprocess.Popen(
            [*start, program, *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._last = 0
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self.tabs: dict[str, Tab] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(BrowserError, OSError):
            self.ask("Browser.close", timeout=5.0)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)

    def ask(self, method: str, session: str | None = None, timeout: float = 60.0, **parameters: Any) -> dict[str, Any]:
        """One command and its answer."""
        self._last += 1
        number = self._last
        self._answers[number] = queue.Queue()
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        try:
            answer = self._answers[number].get(timeout=timeout)
        except queue.Empty:
            raise BrowserError(f"No answer to {method} within {timeout} s.") from None
        finally:
            del self._answers[number]
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _listen(self) -> None:
        rest = b""
        while True:
            chunk = os.read(self._read, 2**16)
            if not chunk:
                os.close(self._read)
                return
            *messages, rest = (rest + chunk).split(b"\0")
            for text in messages:
                message = json.loads(text)
                if "id" in message and message["id"] in self._answers:
                    self._answers[message["id"]].put(message)
                elif message.get("sessionId") in self.tabs:
                    self.tabs[message["sessionId"]].notice(message["method"], message["params"])

    def tab(self, width: int = 1280, height: int = 900) -> Tab:
        """A new tab."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = self.tabs[session] = Tab(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log"):
            tab.ask(f"{domain}.enable")
        tab.resize(width, height)
        return tab


class Tab:
    """A page that is open, what it asked for and what it complained about."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser, self._session, self._target = browser, session, target
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._loaded = threading.Event()

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command to this tab."""
        return self._browser.ask(method, self._session, **parameters)

    def close(self) -> None:
        """Nobody looks any more."""
        self._browser.ask("Target.closeTarget", targetId=self._target)
        del self._browser.tabs[self._session]

    def notice(self, method: str, event: dict[str, Any]) -> None:
        """Called for everything that happens in the tab."""
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded.set()
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(part.get("value", part.get("description"))) for part in event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] == "error":
            self.errors.append(f"{event['entry']['text']} {event['entry'].get('url', '')}".strip())

    def resize(self, width: int, height: int = 900, phone: bool = False) -> None:
        """The size of the window, or of a phone's screen."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def prefer(self, scheme: str) -> None:
        """Set the colour scheme of the system, ``light`` or ``dark``."""
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url: str) -> None:
        """Go to a page and wait until it is there, its formulas included."""
        self.requests.clear()
        self.errors.clear()
        self._loaded.clear()
        answer = self.ask("Page.navigate", url=url)
        if answer.get("errorText"):
            raise BrowserError(f"{url}: {answer['errorText']}")
        if not self._loaded.wait(60):
            raise BrowserError(f"{url} did not finish loading.")
        self.settle()

    def settle(self) -> None:
        """Wait for the formulas; once more after a page that sends the reader on to another."""
        self.wait_for("document.readyState === 'complete'")
        self.wait_for("!window.MathJax || (MathJax.startup && MathJax.startup.promise)")
        self.run("(async () => { if (window.MathJax) await MathJax.startup.promise; return true })()")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for."""
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait_for(self, script: str, seconds: float = 30.0) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.run(f"Boolean({script})"):
                    return
            except BrowserError as error:
                if "navigated" not in str(error):  # a page that leads on to another
                    raise
            time.sleep(0.05)
        raise BrowserError(f"This did not become true within {seconds} s: {script}")

    def press(self, key: str, code: str, number: int) -> None:
        """One key, as a keyboard sends it."""
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number)

    def mouse(self, *places: tuple[float, float], clicks: int = 1) -> None:
        """Press at the first place, move over the others, release at the last."""
        (x, y), (to_x, to_y) = places[0], places[-1]
        pressed: dict[str, Any] = {"button": "left", "buttons": 1, "clickCount": clicks}
        self.ask("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **pressed)
        for over_x, over_y in places[1:]:
            self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=over_x, y=over_y, button="left", buttons=1)
        self.ask("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=to_y, **pressed)
