"""All plots have distinct curves, texts that do not overlap, and one Axes."""

import importlib.util
import itertools
import subprocess
import sys

import numpy as np
import pytest

import pybandit as pb

from compiler import ROOT

pyplot = pytest.importorskip("matplotlib.pyplot")
EXAMPLE = ROOT / "examples" / "plots" / "every_plot.py"
pytestmark = pytest.mark.skipif(not EXAMPLE.exists(), reason="no examples beside the tests")


def example():
    """Return the example as a module."""
    spec = importlib.util.spec_from_file_location("every_plot", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PLOTS = example().PLOTS if EXAMPLE.exists() else {}
each = pytest.mark.parametrize("name", PLOTS)


def texts_of(ax):
    """Return the texts of an Axes that are drawn, with their extents in pixels."""
    from matplotlib.text import Text

    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    every = [ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
    for axis, view in (ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim()):
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        every += [tick.label1 for tick in ticks if min(view) <= tick.get_loc() <= max(view)]
    if ax.get_legend():
        every += ax.get_legend().get_texts()
    # of an annotation, take the extent without its arrow
    return [(one.get_text(), Text.get_window_extent(one, renderer)) for one in every
            if one.get_visible() and one.get_text()]


def overlaps(one, other, slack=1.5):
    """Return True if two boxes share more than `slack` pixels in both directions."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return width > slack and height > slack


@each
def test_a_plot_makes_one_axes_of_a_pyplot_figure(name):
    ax = PLOTS[name](None)
    assert ax.figure is pyplot.gcf() and ax.figure.axes == [ax]


@each
def test_a_plot_draws_on_the_axes_given(name):
    from matplotlib.figure import Figure

    own = Figure().subplots()
    before = pyplot.get_fignums()
    assert PLOTS[name](own) is own and pyplot.get_fignums() == before
    assert own.has_data()


@each
def test_texts_do_not_overlap_and_are_inside(name):
    ax = PLOTS[name](None)
    texts = texts_of(ax)
    clashes = [(a, b) for (a, one), (b, other) in itertools.combinations(texts, 2)
               if overlaps(one, other)]
    assert len(texts) > 5 and not clashes
    width, height = ax.figure.canvas.get_width_height()
    outside = [text for text, box in texts
               if box.x0 < -2 or box.y0 < -2 or box.x1 > width + 2 or box.y1 > height + 2]
    assert not outside


@pytest.mark.parametrize("name, n_curves", [
    ("best_of", 12), ("best_of, not decided", 12), ("compare, few policies", 3),
    ("compare, many policies", 12)])
def test_curves_differ_in_colour_or_style(name, n_curves):
    ax = PLOTS[name](None)
    curves = [line for line in ax.lines
              if not line.get_label().startswith("_") and len(line.get_xdata()) > 1]
    looks = {(str(line.get_color()), line.get_linestyle()) for line in curves}
    assert len(looks) == len(curves) == n_curves


def test_forty_lines_differ_and_more_are_grey_but_for_ten():
    from pybandit._shared.drawing import line_styles

    looks = [tuple(style.values()) for style in line_styles(40)]
    assert len(set(looks)) == 40
    looks = [tuple(style.values()) for style in line_styles(41)]
    assert len(set(looks[:10])) == 10 and len(set(looks[10:])) == 1


def test_every_model_is_named():
    rng = np.random.default_rng(0)
    scores = rng.random((500, 60)) < np.linspace(0.3, 0.9, 60)
    ax = pb.best_of(scores, value_range=(0, 1), rng=1).plot()
    assert len({text.get_text() for text in ax.texts}) == 60
    texts = [(text, box) for text, box in texts_of(ax) if text.startswith("model")]
    assert len(texts) == 60
    assert not any(overlaps(one[1], other[1]) for one, other in itertools.combinations(texts, 2))


def test_first_items_take_a_small_part_of_the_width():
    rng = np.random.default_rng(0)
    scores = rng.random((5000, 8)) < np.linspace(0.5, 0.8, 8)
    result = pb.best_of(scores, value_range=(0, 1), rng=1)
    low, high = result.plot().get_xlim()
    assert low >= result.pulls.min() // 2 > 1 and high >= result.pulls.max()


def test_bars_of_probabilities_are_never_below_zero():
    bandit = pb.environments.BernoulliBandit([0.9, 0.1])
    never_wrong = pb.compare({"uniform": lambda e: pb.policies.Uniform(2, budget=200)}, bandit,
                             20, rng=1)
    ax = never_wrong.plot()
    ends = np.concatenate([bars.get_segments() for bars in ax.collections])
    assert never_wrong["uniform"].error_probability == 0 and ends[..., 0].min() == 0
    assert ends[..., 0].max() > 0.1  # Wilson's interval for 0 successes of 20


def test_axes_given_do_not_import_pyplot():
    code = """
import sys, numpy as np, pybandit as pb
from matplotlib.figure import Figure
scores = np.random.default_rng(0).random((500, 3)) * [.5, .7, .9]
pb.best_of(scores, value_range=(0, 1), rng=1).plot(Figure().subplots())
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
