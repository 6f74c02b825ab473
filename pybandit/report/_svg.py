"""Scales, axes and text of figures in SVG; the page's style sheet sets the colours."""

import math
from html import escape

from pybandit._shared.html import number

WIDTH = 400


def svg(height, label, body):
    """Return a drawing of the common width."""
    return (f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(label)}">'
            f'{"".join(body)}</svg>')


def figure(drawing, caption, kind=""):
    """Return a drawing with a caption; HTML."""
    return f'<figure class="{kind}">{drawing}<figcaption>{caption}</figcaption></figure>'


def text(x, y, content, anchor="start", kind=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">'
            f'{escape(content)}</text>')


def line(x1, y1, x2, y2, kind):
    return f'<path class="{kind}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'


def short(name, most=16):
    """Return a name shortened to at most `most` characters."""
    name = " ".join(name.split())
    return name if len(name) <= most else name[:most - 1] + "…"


class Scale:
    """Maps values to coordinates, linearly or logarithmically."""

    def __init__(self, low, high, start, end, log=False):
        self.log = log
        if not low < high:
            # put a single value in the middle
            room = 0.5 if log else abs(low) / 2 or 1.0
            low, high = (low * (1 - room), low * (1 + room)) if log else (low - room, high + room)
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value):
        low, high, value = (math.log(one) if self.log else one / 4
                            for one in (self.low, self.high, value))
        return self.start + (self.end - self.start) * ((value - low) / (high - low))

    def ticks(self, most=5):
        """Return a few round values in the range."""
        if self.log:
            steps = (1, 2, 5) if self.high < 1000 * self.low else (1,)
            ticks = [m * 10.0 ** i for i in range(int(math.log10(self.high)) + 1) for m in steps]
            return [one for one in ticks if self.low <= one <= self.high]
        raw = (self.high / most - self.low / most) or 1.0
        if not math.isfinite(raw) or raw < 1e-300:
            return [self.low]
        power = 10.0 ** math.floor(math.log10(raw))
        step = next((m * power for m in (1, 2, 5) if m * power >= raw), 10 * power)
        first = math.ceil(self.low / step - 1e-9)
        ticks = [(first + i) * step for i in range(2 * most)]
        return [one for one in ticks if one <= self.high + 1e-9 * step]

    def whole_ticks(self, most=5):
        """Return the ticks that are integers."""
        return [one for one in self.ticks(most) if one == round(one)]


def x_axis(scale, y, top, ticks, title, names=number):
    """Return vertical grid lines, the `names` of the ticks below them, and a title."""
    out = []
    for tick in ticks:
        x = scale(tick)
        out.append(line(x, top, x, y, "grid"))
        out.append(text(x, y + 13, names(tick), "middle", "tick"))
    out.append(text((scale.start + scale.end) / 2, y + 28, title, "middle", "tick"))
    return out


def y_axis(scale, left, right, ticks, title, names=number):
    """Return horizontal grid lines, the `names` of the ticks to their left, and a title above."""
    out = []
    for tick in ticks:
        y = scale(tick)
        out.append(line(left, y, right, y, "grid"))
        out.append(text(left - 5, y + 3.5, names(tick), "end", "tick"))
    out.append(text(4, min(scale.start, scale.end) - 10, title, "start", "tick"))
    return out


def polyline(points, kind):
    """Return a line through points; None makes a gap."""
    path, pen = [], "M"
    for point in points:
        if point is None:
            pen = "M"
            continue
        path.append(f"{pen}{point[0]:.1f} {point[1]:.1f}")
        pen = "L"
    return f'<path class="{kind}" d="{"".join(path)}"/>' if path else ""
