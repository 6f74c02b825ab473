"""Hints for unknown keywords."""

import inspect
import pickle

import pytest

from pybandit._shared.keywords import hinted


class Group:
    def __init__(self, *, retry=0):
        self.retry = retry


@hinted(group=Group)
def called(first, *, noise_std=1.0, group=None):
    """Return the arguments."""
    return first, noise_std, group


@hinted()
class Made:
    def __init__(self, *, budget):
        self.budget = budget


@hinted()
def takes_any(**options):
    return options


def test_arguments_and_signature_are_unchanged():
    assert called(1, noise_std=2.0, group=3) == (1, 2.0, 3)
    assert list(inspect.signature(called).parameters) == ["first", "noise_std", "group"]
    assert called.__doc__ == "Return the arguments."
    assert pickle.loads(pickle.dumps(Made(budget=3))).budget == 3
    assert takes_any(anything=1) == {"anything": 1}


@pytest.mark.parametrize("call, words", [
    (lambda: called(1, noise_sdt=2), r"called\(\) got .* 'noise_sdt'. Did you mean 'noise_std'\?"),
    (lambda: called(1, sigma=2), r"'sigma'. Did you mean 'noise_std'\?"),
    (lambda: called(1, retry=2), r"'retry': pass group=Group\(retry=\.\.\.\)"),
    (lambda: called(1, retries=2), r"'retries': pass group=Group\(retry=\.\.\.\)"),
    (lambda: called(1, seed=2), r"'seed'$"),  # no hint at rng, which `called` does not have
    (lambda: Made(bugdet=2), r"Made\(\) got .* 'bugdet'. Did you mean 'budget'\?"),
    (lambda: Made(budget=2, x=1), r"'x'$")])
def test_error_suggests_the_right_keyword(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_errors_of_the_function_itself_are_unchanged():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
        called(noise_std=2.0)
