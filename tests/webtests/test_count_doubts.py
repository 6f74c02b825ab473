"""Suspicious counts: repeated days, running totals, rates, and visits not split by the shares."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import binom

import pybandit as pb
from pybandit.webtests import WebTest
from pybandit.webtests._dates import date_key, day_first_in
from pybandit.webtests._split import log_mismatch, log_mixture

NAMES = ["home", "price"]


def study_of(n_arms=2, **options):
    return WebTest.create(":memory:", pb.CountRace(n_arms, **options),
                        [*NAMES, "video", "form"][:n_arms])


def tell(study, *rows, **options):
    return study.tell_counts(dict(zip(study.names, rows, strict=False)), **options)


@pytest.mark.parametrize(("texts", "key"), [
    (["2025-01-03", "2025/1/3", "2025.01.03", "20250103", "3.1.2025", "03.01.25", "3 Jan 2025",
      "Jan 3, 2025", "Friday, 3 January 2025", "3-Jan-25", "2025年1月3日", " 2025-01-03 ",
      "2025-01-03 00:00:00", "2025-01-03T00:00"], "2025-01-03"),
    (["2025-01-03 14:00", "2025-01-03T14:00:00", "2025010314", "2025-01-03 2 pm",
      "3 Jan 2025 14:00", "2025-01-03T14"], "2025-01-03T14:00"),
    (["2025-01-03T13:00Z", "2025-01-03T14:00+01:00", "2025-01-03 08:00:00-0500",
      "2025-01-03 13:00 UTC"], "2025-01-03T13:00Z"),
    (["13/01/2025", "01/13/2025", "13-1-2025"], "2025-01-13"), (["04/04/2025"], "2025-04-04"),
    (["2025-W3", "2025W03", "2025-w03"], "2025-W03"),
    (["export (1).csv"], "export (1).csv"), (["3 apples 2025"], "3 apples 2025"), (["7"], "7"),
    (["1.5"], "1.5"), (["2025-01"], "2025-01"), (["a  b"], "a  b")])
def test_day_has_one_key(texts, key):
    assert {date_key(text) for text in texts} == {key} and date_key(key) == key


def test_ambiguous_days_are_rejected():
    assert date_key("03/01/2025", True) == "2025-01-03"
    assert date_key("03/01/2025", False) == "2025-03-01"
    for text, words in [("03/01/2025", "2025-01-03 or 2025-03-01"), ("25-01-03", "four digits"),
                        ("2025-02-30", "exist"), ("31.02.2025", "exist")]:
        with pytest.raises(ValueError, match=words):
            date_key(text)
    assert day_first_in(["01/02/2025", "13/02/2025"]) is True
    assert day_first_in(["01/02/2025", "2/28/2025"]) is False
    assert day_first_in(["01/02/2025", "2025-02-28", "Monday"]) is None
    with pytest.raises(ValueError, match="'13/02/2025' and '02/13/2025'"):
        day_first_in(["13/02/2025", "02/13/2025"])


def test_day_is_recorded_once_in_any_format():
    study = study_of()
    tell(study, (1012, 41), (994, 48), key="3 Jan 2025")
    assert tell(study, (1012, 41), (994, 48), key="2025-01-03T00:00:00").n_known == 2
    assert list(study.counts()["key"]) == ["2025-01-03"] * 2
    with pytest.raises(ValueError, match="a key that looks like a date.*2025-01-03 or 2025-03-01"):
        tell(study, (1012, 41), (994, 48), key="03/01/2025")


def test_equal_counts_under_two_keys_are_rejected():
    study = study_of(3)
    rows = (1012, 41), (994, 48), (1003, 83)
    tell(study, *rows, key="export.csv")
    with pytest.raises(ValueError, match=r"once; got 'export \(1\).csv'.*'export.csv'"):
        tell(study, *rows, key="export (1).csv")
    # in another order, and with an arm that was added later
    study.add_arm("form")
    turned = dict(reversed(list(zip(study.names, rows, strict=False))))
    with pytest.raises(ValueError, match="recorded once"):
        study.tell_counts(turned | {"form": (0, 0)}, key="again")
    assert study.tell_counts(turned, key="again", repeated=True).n_new == 3
    assert study.verify().n_batches == 2


def test_few_equal_visits_give_a_warning():
    """They are recorded with a warning; hours without a visit give no warning."""
    study = study_of()
    tell(study, (5, 0), (4, 1), key="1")
    with pytest.warns(UserWarning, match="'2' was recorded, but its counts are those of '1'"):
        assert tell(study, (5, 0), (4, 1), key="2").n_new == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for key in "345":
            tell(study, (0, 0), (0, 0), key=key)
    assert study.status().n_batches == 5


def test_corrected_batch_is_compared_with_present_counts():
    study = study_of()
    tell(study, (1012, 41), (994, 48), key="a")
    study.amend_counts("a", {"home": (1010, 40)}, reason="robots")
    tell(study, (1012, 41), (994, 48), key="b")
    with pytest.raises(ValueError, match="recorded once"):
        tell(study, (1010, 40), (994, 48), key="c")


def test_running_totals_are_detected_and_converted():
    days = np.array([[[1010, 51], [990, 60]], [[0, 0], [0, 0]], [[1003, 48], [1021, 55]],
                     [[980, 47], [1005, 63]], [[1000, 55], [999, 51]]])
    study, plain, twin = study_of(), study_of(), study_of()
    for number, totals in enumerate(days.cumsum(axis=0).tolist()):
        key = f"2025-01-0{number + 1}"
        assert tell(study, *totals, key=key, cumulative=True).n_new == 2
        assert tell(study, *totals, key=key, cumulative=True).n_known == 2
        tell(twin, *days[number].tolist(), key=key)
        if number >= 3:
            with pytest.warns(UserWarning, match="running totals.*cumulative=True"):
                tell(plain, *totals, key=key)
        elif number != 1:
            tell(plain, *totals, key=key)
    assert study.policy.capital.tolist() == twin.policy.capital.tolist()
    assert study.counts()["trials"].tolist() == twin.counts()["trials"].tolist()
    events = study.status().n_events
    with pytest.raises(ValueError, match="must not fall.*'home', -9 of .993 since"):
        tell(study, (4986, 192), (5000, 300), key="2025-01-06", cumulative=True)
    with pytest.raises(ValueError, match="must not fall"):
        tell(study, (100, 5), (5000, 300), key="2025-01-06", cumulative=True)
    assert study.status().n_events == events


def test_totals_of_a_stopped_arm_are_running_totals():
    study = study_of(3)
    study.retire("video", "broken")
    tell(study, (1000, 50), (990, 60), (700, 30), key="1")
    tell(study, (1500, 70), (1480, 85), (700, 30), key="2")
    with pytest.warns(UserWarning, match="running totals"):
        tell(study, (2000, 90), (1990, 111), (700, 30), key="3")


def test_values_that_fall_are_differences_if_they_may_be_negative():
    """Sums may fall below those of the day before, after returns, if a reward may be below 0."""
    study = study_of(value_range=(-50, 50))
    tell(study, (100, 900.5), (101, 800.25), key="1", cumulative=True)
    tell(study, (203, 880.5), (198, 1600.0), key="2", cumulative=True)
    assert study.counts()["sum"].tolist() == [900.5, 800.25, -20.0, 799.75]


def test_days_are_rarely_taken_for_running_totals():
    warned = 0
    for seed in range(20):
        study, rng = study_of(), np.random.default_rng(seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for day in range(12):
                trials = rng.multinomial(2000, [0.5, 0.5])
                rows = zip(trials.tolist(), rng.binomial(trials, 0.1).tolist(), strict=True)
                tell(study, *rows, key=f"{day}")
        warned += len(caught)
    assert warned <= 10  # out of 200


@pytest.mark.parametrize("make",
                         [lambda: pb.CountRace(2), lambda: pb.policies.ThompsonSampling(2, rng=1)])
def test_rates_reported_as_counts_give_a_warning(make):
    policy = make()
    with pytest.warns(UserWarning, match=r"not rates.*0.05 for 1,000 trials of arm 0.*about 50"):
        policy.tell_counts([1000, 1000], [0.05, 0.06])
    study = WebTest.create(":memory:", make(), NAMES)
    with pytest.warns(UserWarning, match="not rates.*arm 'home'"):
        tell(study, (1000, 0.05), (1000, 0.06), key="a")
    study.verify()  # does not warn again
    policy = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for sums in ([1, 0], [0, 0], [1.0, 30.5], [5, 6]):
            policy.tell_counts([1000, 1000], sums)
        policy.tell_counts([2, 3], [0.5, 0.75])
    graded = pb.CountRace(2, value_range=(0, 30))
    graded.tell_counts([1000, 1000], [12.5, 0])


def test_mixtures_equal_the_reference_numbers():
    half, thirds = np.full(2, 0.5), np.full(3, 1 / 3)
    assert abs(log_mixture(np.array([5100, 4900]), half, 1000.0) - 0.619272424294) < 1e-11
    assert abs(log_mixture(np.array([3400, 3300, 3100]), thirds, 100.0) - 2.506644948044) < 1e-11
    assert abs(log_mismatch(np.array([5100, 4900]), half) - 0.073427819) < 1e-9


def test_mixture_has_mean_one():
    """Summed over all counts of seven visits."""
    shares = np.array([0.3, 0.7])
    total = sum(binom.pmf(k, 7, 0.3) * math.exp(log_mismatch(np.array([k, 7 - k]), shares))
                for k in range(8))
    assert abs(total - 1.0) < 1e-9


def split(study, shares, days, n=10_000, seed=1, key=""):
    """Record days; return the first day with a warning, or None."""
    rng = np.random.default_rng(seed)
    for day in range(days):
        trials = rng.multinomial(n, shares)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tell(study, *zip(trials.tolist(), rng.binomial(trials, 0.1).tolist(), strict=True),
                 key=f"{key}{day}", repeated=True)
        if any("not split by the shares" in str(one.message) for one in caught):
            return day
    return None


def test_wrong_split_is_detected():
    study = study_of()
    day = split(study, [0.505, 0.495], 40)
    check = study.status().split
    assert day is not None and check.mismatch and check.p_value <= 0.01
    assert check.names == NAMES and check.shares.tolist() == [0.5, 0.5]
    assert check.trials.tolist() == study.policy.pulls.tolist()
    for seed in range(5):
        assert split(study_of(), [0.5, 0.5], 30, seed=seed) is None
    given = WebTest.create(":memory:", pb.CountRace(2), NAMES, shares=[9, 1])
    assert given.split(1000).tolist() == [900, 100]
    assert split(given, [0.9, 0.1], 10) is None and not given.status().split.mismatch
    assert split(WebTest.create(":memory:", pb.CountRace(2), NAMES, shares=[9, 1]),
                 [0.88, 0.12], 10) is not None
    assert WebTest.create(":memory:", pb.policies.UCB1(2), NAMES).status().split is None


def test_dropped_or_added_arm_starts_a_new_mixture(tmp_path):
    """Further visits of that arm do not count; the p-value covers all parts."""
    path = tmp_path / "study.db"
    with WebTest.create(path, pb.CountRace(3), [*NAMES, "video"]) as study:
        assert split(study, [1 / 3] * 3, 3, key="a") is None
        study.retire("video", "broken")
        assert split(study, [0.4, 0.4, 0.2], 2, key="b") is None
        assert split(study, [0.5, 0.5, 0.0], 2, key="c") is None
        check = study.status().split
        assert check.names == NAMES and 36_000 < check.trials.sum() < 37_000
        study.add_arm("form")
        # it was present for a part of its first day
        assert split(study, [0.45, 0.45, 0.0, 0.1], 1, key="d") is None
        assert split(study, [1 / 3, 1 / 3, 0.0, 1 / 3], 3, key="e") is None
        assert study.status().split.names == [*NAMES, "form"]
    with WebTest.open(path) as study:
        study.verify()
        before = study.status().split.p_value
        assert split(study, [0.36, 0.32, 0.0, 0.32], 3, key="f") is not None
        assert study.status().split.p_value < before
        study.amend_counts("a0", {"home": (3300, 330)}, reason="robots")
        study.verify()


def test_invalid_shares_are_rejected():
    for shares, words in [([1, 0], "above 0"), ([1, 2, 3], "shape"), ([1, math.inf], "above 0")]:
        with pytest.raises(ValueError, match=f"shares must.*{words}"):
            WebTest.create(":memory:", pb.CountRace(2), NAMES, shares=shares)
