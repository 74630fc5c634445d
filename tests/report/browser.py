"""A headless Chromium, spoken to through two pipes by its DevTools protocol: no further package is needed."""

import base64
import itertools
import json
import os
import selectors
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One page in one browser; `problems` are its errors and warnings so far."""

    def __init__(self) -> None:
        assert CHROMIUM is not None
        self.folder = tempfile.mkdtemp(prefix="pellucid-browser-")
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.numbers = itertools.count(1)
        self.buffer = b""
        to_read, self.to = os.pipe()
        self.origin, to_write = os.pipe()
        flags = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run"
        command = (
            f"exec {CHROMIUM} {flags} --disable-extensions --disable-background-networking --disable-sync "
            f"--remote-debugging-pipe --user-data-dir={self.folder} about:blank 3<&{to_read} 4>&{to_write}"
        )
        self.process = subprocess.Popen(
            ["bash", "-c", command],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_read)
        os.close(to_write)
        self.waiting = selectors.DefaultSelector()
        self.waiting.register(self.origin, selectors.EVENT_READ)
        self.session = None
        page = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> Any:
        """A command, and its answer."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self, seconds: float = 60.0) -> dict[str, Any]:
        limit = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            if not self.waiting.select(max(limit - time.monotonic(), 0.0)):
                raise TimeoutError("the browser does not answer")
            part = os.read(self.origin, 1 << 16)
            if not part:
                raise RuntimeError("the browser is gone")
            self.buffer += part
        raw, _, self.buffer = self.buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        self.note(message)
        return message

    def note(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(arg.get("value", arg.get("description"))) for arg in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, path: Path, width: int = 1280, height: int = 900, *, dark: bool = False) -> None:
        """Load a page and wait until it has drawn itself."""
        self.size(width, height, dark=dark)
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.until("document.readyState === 'complete' && document.documentElement.dataset.ready === 'true'")

    def size(self, width: int, height: int, *, dark: bool = False) -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        value = "dark" if dark else "light"
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def run(self, code: str) -> Any:
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def until(self, code: str, seconds: float = 30.0) -> None:
        """Wait for an expression to be true."""
        limit = time.monotonic() + seconds
        while not self.run(code):
            if time.monotonic() > limit:
                raise TimeoutError(f"{code}; problems: {self.problems}")
            time.sleep(0.02)

    def settle(self) -> None:
        """Two frames later."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def press(self, key: str, code: int, text: str = "") -> None:
        """A key, as a person presses it."""
        for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text)

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """A PNG of the page."""
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        try:
            self.session = None
            self.send("Browser.close")
        except (RuntimeError, TimeoutError, OSError):
            self.process.kill()
        self.process.wait(20)
        os.close(self.to)
        os.close(self.origin)
        shutil.rmtree(self.folder, ignore_errors=True)
