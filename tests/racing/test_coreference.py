"""Coreference example: distribution of its sampler, and its B-cubed F1."""

import itertools

import numpy as np
import pytest
from scipy.stats import chisquare

from papers import NO_PAPERS, load

pytestmark = NO_PAPERS


@pytest.fixture(scope="module")
def example():
    return load("chen2016", "figure_3")


def sampler(example, labels, racing=False, seed=1):
    """Return a sampler in the state `labels`."""
    labels = np.asarray(labels)
    gibbs = example["Gibbs"](labels.size, racing, np.random.default_rng(seed))
    gibbs.labels, gibbs.sizes = labels.copy(), np.bincount(labels, minlength=labels.size)
    return gibbs


def partitions(n):
    """Return all partitions of n mentions, as labels in order of first appearance."""
    return [p for p in itertools.product(range(n), repeat=n)
            if all(label <= max(p[:k], default=-1) + 1 for k, label in enumerate(p))]


def canonical(labels):
    seen = {}
    return tuple(seen.setdefault(label, len(seen)) for label in labels.tolist())


def test_b_cubed_equals_values_by_hand(example):
    """The two examples of Bagga & Baldwin 1998 have precision 76 % and 58 %, recall 100 %."""
    truth = np.repeat([0, 1, 2], [5, 2, 5])
    everyone = np.ones(12, bool)
    for answer, precision in (([0, 1, 1], 16 / 21), ([0, 1, 0], 7 / 12)):
        found = np.repeat(answer, [5, 2, 5])
        assert example["b_cubed"](found, truth, everyone) == pytest.approx(
            2 * precision / (1 + precision))
    # one cluster split 2 to 1: precision 1, recall 4/9 + 1/9
    found = np.array([7, 7, 5])
    assert example["b_cubed"](found, truth[:3], everyone[:3]) == pytest.approx(5 / 7)
    # the last mention alone has recall 1/3
    assert example["b_cubed"](found, truth[:3], np.arange(3) == 2) == pytest.approx(1 / 2)


def test_sweeps_keep_the_joint_distribution(example):
    """A sweep leaves p invariant, where p is proportional to exp(sum of f over pairs i < j).

    The joint distribution as printed, over ordered pairs, has every factor twice.
    """
    n, n_draws, rng = 4, 4000, np.random.default_rng(2)
    factors = np.triu(rng.normal(0.3, 1.0, (n, n)), 1)
    factors += factors.T
    states = partitions(n)
    assert len(states) == 15
    totals = [sum(factors[i, j] for i, j in itertools.combinations(range(n), 2) if p[i] == p[j])
              for p in states]
    law = np.exp(totals) / np.exp(totals).sum()
    counts = dict.fromkeys(states, 0)
    for k in rng.choice(len(states), n_draws, p=law):
        gibbs = sampler(example, states[k], seed=rng)
        for mention in range(n):
            gibbs.visit(mention, factors[mention], 1.0)
        counts[canonical(gibbs.labels)] += 1
    assert chisquare(list(counts.values()), n_draws * law).pvalue > 1e-6
    printed = law**2 / (law**2).sum()
    assert chisquare(list(counts.values()), n_draws * printed).pvalue < 1e-6


@pytest.mark.parametrize("racing", [False, True])
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_a_visit_draws_from_the_conditional_distribution(example, racing, temperature):
    """A visit chooses among clusters of 40, 12, 2 and 1 other mentions, and a new one."""
    labels, n_draws = np.repeat([3, 0, 2, 9], [41, 12, 2, 1]), 3000
    rng = np.random.default_rng(3)
    factors = rng.normal(0.0, 0.2, labels.size)
    factors[0] = 0.0
    others = np.bincount(labels[1:], factors[1:], 10)
    places = [3, 0, 2, 9, 1]  # label 1 is the first without mentions
    law = np.exp(others[places] / temperature)
    law /= law.sum()
    counts = np.zeros(10)
    gibbs = sampler(example, labels, racing, rng)
    for _ in range(n_draws):
        gibbs.visit(0, factors, temperature)
        counts[gibbs.labels[0]] += 1
        if gibbs.labels[0] != 3:
            gibbs.sizes[[gibbs.labels[0], 3]] += [-1, 1]
            gibbs.labels[0] = 3
    np.testing.assert_array_equal(gibbs.sizes, np.bincount(labels, minlength=labels.size))
    assert counts.sum() == counts[places].sum() == n_draws
    if racing:
        distance = np.abs(counts[places] / n_draws - law).sum() / 2
        noise = np.sqrt(law * (1 - law) / n_draws).sum() / 2
        assert distance < example["DELTA"] + 5 * noise
        assert gibbs.n_errors / n_draws < 0.07  # 0.05 plus five standard deviations
    else:
        assert chisquare(counts[places], n_draws * law).pvalue > 1e-6


def test_a_visit_reads_few_factors_of_large_clusters(example):
    """A visit reads three factors of each large cluster in a clear case, all of a small one."""
    labels = np.repeat([0, 1, 2], [100, 101, 2])
    factors = np.where(labels == 1, 2.0, -2.0) + np.linspace(-0.1, 0.1, labels.size)
    for racing, paid in ((False, labels.size - 1), (True, 3 + 3 + 2)):
        gibbs = sampler(example, labels, racing)
        gibbs.visit(150, factors, 0.1)
        assert gibbs.labels[150] == 1 and gibbs.n_evaluations == paid and gibbs.n_errors == 0


def test_racing_small_clusters_changes_nothing(example):
    """Clusters too small for a race give the same draws and evaluations."""
    found = []
    for racing in (False, True):
        gibbs = example["Gibbs"](9, racing, np.random.default_rng(5))
        for mention in range(3):
            gibbs.visit(mention, np.where(np.arange(9) == mention, 0.0, -5.0), 1.0)
        found.append((gibbs.labels.tolist(), gibbs.n_evaluations))
    assert found[0] == found[1] and found[0][1] == 3 * 8


def test_factors_of_a_table_and_of_rows_agree(example, tmp_path):
    pytest.importorskip("sklearn")
    texts, truth = example["invent"](20, 30, np.random.default_rng(4))
    assert len(texts) == truth.size and np.bincount(truth)[[0, 1, 9]].tolist() == [30, 14, 2]
    path = tmp_path / "citations.tsv"
    path.write_text("authors\ttitle\tcluster\tid\n" + "".join(
        f"\t{text}\t{cluster}\t{k}\n" for k, (text, cluster) in enumerate(zip(texts, truth,
                                                                             strict=True))))
    read, clusters = example["load"](path)
    assert [text.strip() for text in read] == [text.strip() for text in texts]
    assert example["b_cubed"](clusters, truth, truth >= 0) == 1.0
    factors = example["Factors"](texts, truth, np.random.default_rng(4))
    rows = np.array([factors.of(k) for k in range(truth.size)])
    factors.table = None
    np.testing.assert_allclose([factors.of(k) for k in range(truth.size)], rows, atol=1e-5)
    np.testing.assert_allclose(rows, rows.T, atol=1e-5)
    assert not rows.diagonal().any() and factors.weight > 0 > factors.bias
    # only half of the clusters are used to fit weight and bias
    assert np.unique(truth[factors.known]).size == 10
