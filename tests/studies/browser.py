"""Headless Chromium, for tests of rendered pages."""

import html
import re
import shutil
import subprocess
from contextlib import suppress
from functools import cache

PROGRAMS = "chromium", "chromium-browser", "google-chrome"
DARK = "--blink-settings=preferredColorScheme=0"
POLICY = r'<meta http-equiv="Content-Security-Policy"[^>]*>'


@cache
def program():
    """Return the path of a browser that starts, or None."""
    for path in filter(None, map(shutil.which, PROGRAMS)):
        # on some systems the command only prints where to get the browser
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run([path, "--version"], capture_output=True, timeout=60, check=True)
            return path
    return None


def run(page, *options):
    """Run Chromium on a page; return its stdout and the lines of its console."""
    # containers have no user namespaces, and often a small /dev/shm
    done = subprocess.run(
        [program(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--hide-scrollbars", f"--user-data-dir={page.parent / 'profile'}",
         "--enable-logging=stderr", *options, page.as_uri()],
        capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=120,
        check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def dom(page, *options):
    """Return the document after loading, and the lines of the console."""
    return run(page, "--dump-dom", *options)


def screenshot(page, width, height, *options):
    """Save a screenshot of the page."""
    from PIL import Image

    file = page.with_suffix(".png")
    run(page, f"--screenshot={file}", f"--window-size={width},{height}", *options)
    with Image.open(file) as image:
        return image.convert("RGB")


def framed(page, *widths):
    """Write a file that shows a page in frames, because no window is as narrow as a phone.

    Its title is JSON with the width of each frame, the width of its content, and its title.
    """
    text = html.escape(re.sub(POLICY, "", page.read_text("utf-8")))
    frames = [f'<iframe width="{width}" height="900" srcdoc="{text}"></iframe>'
              for width in widths]
    file = page.with_name(f"{page.stem}_framed.html")
    file.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><title></title><style>iframe{border:0}</style>'
        + "".join(frames) +
        "<script>onload = () => { document.title = JSON.stringify(Array.from(document"
        ".querySelectorAll('iframe'), ({contentDocument: page}) => [page.documentElement"
        ".clientWidth, page.documentElement.scrollWidth, page.title])); }</script>",
        encoding="utf-8")
    return file
