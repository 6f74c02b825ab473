"""Control a browser: Chromium's protocol over pipes."""

import base64
import contextlib
import json
import os
import pathlib
import subprocess
import time

from studies import browser

PATIENCE = 60.0


class Browser:
    """Headless Chromium with one page and its own user profile."""

    def __init__(self, folder):
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()
        # the protocol uses the descriptors 3 and 4, whatever numbers the pipes have here
        shell = f'exec "$@" 3<&{there_in} 4>&{there_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", browser.program(), "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}",
             "--remote-debugging-pipe", "about:blank"],
            pass_fds=(there_in, there_out), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(there_in)
        os.close(there_out)
        self._in, self._out = os.fdopen(here_in, "rb"), os.fdopen(here_out, "wb")
        self._number, self._session, self._rest = 0, None, b""
        self.console, self.requested = [], []
        target = self._do("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._do("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for name in "Page.enable", "Runtime.enable", "Log.enable", "Network.enable":
            self._do(name)

    def _do(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self):
        while b"\0" not in self._rest:
            part = os.read(self._in.fileno(), 1 << 16)
            assert part, "the browser has ended"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        if message.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
            self.console.append(message["params"])
        if message.get("method") == "Network.requestWillBeSent":
            self.requested.append(message["params"]["request"]["url"])
        return message

    def size(self, width, height, phone=False):
        """Set the size of the window, or of a phone, in pixels."""
        self._do("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=2 if phone else 1, mobile=phone)

    def colours(self, scheme):
        """Set the preferred colour scheme, light or dark."""
        self._do("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        """Return a screenshot as PNG."""
        found = self._do("Page.captureScreenshot", format="png")
        pathlib.Path(path).write_bytes(base64.b64decode(found["data"]))

    def go(self, url):
        self._do("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def value(self, expression):
        """Return the value of a JavaScript expression."""
        found = self._do("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, expression):
        """Wait until an expression is true; it has no value while a page is loading."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(AssertionError):
                if self.value(expression):
                    return
            time.sleep(0.05)
        raise AssertionError(f"never: {expression}; {self.value('document.body.innerText')[:500]}")

    def close(self):
        with contextlib.suppress(AssertionError, OSError):
            self._do("Browser.close")
        self._in.close()
        with contextlib.suppress(OSError):
            self._out.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
