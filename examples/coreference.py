"""Which citations name the same paper: annealed Gibbs sampling, exact against racing.

    python examples/coreference.py [--data TSV] [--runs N] [--sweeps N] [--quick] [--out PNG]

Chen and Ghahramani 2016, section 5.3 and appendix C.3, after Singh et al. 2012. A mention
here is a citation, where the paper's are authors. Mentions i < j of one cluster have the
factor f(i, j) = weight * similarity + bias; the law of all labels is exp of their sum, and
that of one mention's cluster is exp of the sum over its members, 0 for a new cluster. Ten
sweeps cool it from temperature 1 to 0.1. Exact Gibbs evaluates a mention's factors with all
others; racing Gibbs races the clusters, each a population of its own, under the same law
of visits. Clusters of up to three mentions are read at once by both.

Similarity: cosine of the character trigrams of authors and title together (fields are often
split at the wrong place), by frequency times inverse document frequency. Weight and bias:
logistic regression on the pairs of mentions of a random half of the true clusters, so that
a factor is log odds. The F1 is that of the mentions of the other half.

--data: tab separated, a header, then authors, title and name of the true cluster, as in
McCallum's Cora set. Without it the citations are invented: 215 papers whose numbers of
citations follow a power law, 1,829 and fewer (the paper's marks), with initials, typing
errors, lost words and split fields, by authors who write several papers on one subject.
"""

import argparse
import time

import numpy as np

import pybandit as pb
from pybandit import plotting
from pybandit._optional import require

DELTA, FIRST_LOOK, PAIRED_MENTIONS, PARTS = 0.05, 3, 1500, 10
HOT, COLD = 1.0, 0.1  # temperatures of the first sweep and the last
SHARES = (0.8, 0.9, 0.95, 0.99)  # of the final F1


def load(path):
    """Texts of the citations, and their true clusters from 0."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][1:]
    _, truth = np.unique([row[2] for row in rows], return_inverse=True)
    return [f"{row[0]} {row[1]}" for row in rows], truth


class Writers:
    """Invents papers and misquotes them."""

    def __init__(self, rng):
        self.rng = rng
        parts = [[c + v for c in "bdfgklmnprstvz" for v in "aeiou"], ["", "n", "r", "s", "l"]]
        self.words = ["".join(rng.choice(part) for _ in range(rng.integers(1, 4))
                              for part in parts) for _ in range(1500)]

    def word(self):
        """A word; the k-th is 1 / k as frequent as the first."""
        return self.words[int(len(self.words) ** self.rng.random()) - 1]

    def papers(self, n):
        """Lists of authors (first name, surname) and of title words, three or so a subject."""
        found = []
        while len(found) < n:
            team = [(self.rng.choice(self.words), self.rng.choice(self.words)) for _ in range(5)]
            subject = [self.word() for _ in range(4)]
            for _ in range(self.rng.integers(1, 6)):
                authors = [team[k] for k in self.rng.permutation(5)[:self.rng.integers(1, 5)]]
                own = [self.word() for _ in range(self.rng.integers(2, 7))]
                title = subject[:self.rng.integers(1, 4)] + own
                found.append((authors, [title[k] for k in self.rng.permutation(len(title))]))
        return found[:n]

    def quote(self, authors, title):
        """The text of one citation of a paper."""
        draw = self.rng.random
        style, names = self.rng.integers(3), authors
        if len(authors) > 2 and draw() < 0.15:
            names = [authors[0], ("", "et al")]
        text = ", ".join((f"{first} {last}", f"{first[:1]}. {last}", f"{last}, {first[:1]}.")[style]
                         for first, last in names)
        kept = [word[:4] + "." if draw() < 0.06 else word for word in title if draw() > 0.06]
        if draw() < 0.1:
            kept += ["in", self.word(), self.word()]
        letters = [c for c in f"{text} {' '.join(kept)}" if draw() > 0.01]
        for k in np.flatnonzero(self.rng.random(len(letters)) < 0.01):
            letters[k] = self.rng.choice(list("aeiounrst"))
        return "".join(letters)


def invent(n_papers, largest, rng):
    """Texts and true clusters, the k-th with largest / k^1.1 mentions."""
    writers, sizes = Writers(rng), largest / np.arange(1, n_papers + 1) ** 1.1
    truth = np.repeat(np.arange(n_papers), np.maximum(1, np.rint(sizes)).astype(int))
    papers = writers.papers(n_papers)
    return [writers.quote(*papers[k]) for k in truth], truth


class Factors:
    """f(i, j) of all pairs; `known` tells the mentions that weight and bias were fitted on."""

    def __init__(self, texts, truth, rng):
        text = require("sklearn.feature_extraction.text", "sklearn")
        grams = text.TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), dtype=np.float32)
        self.rows = grams.fit_transform(texts)
        self.columns = self.rows.T.tocsr()
        n_clusters = truth.max() + 1
        self.known = np.isin(truth, rng.permutation(n_clusters)[:n_clusters // 2])
        self.weight, self.bias = self._fit(truth, rng)

    def _fit(self, truth, rng):
        """Logistic regression on all pairs of at most so many mentions."""
        some = rng.permutation(np.flatnonzero(self.known))[:PAIRED_MENTIONS]
        first, second = np.triu_indices(some.size, 1)
        similarity = (self.rows[some] @ self.columns[:, some]).toarray()[first, second]
        model = require("sklearn.linear_model", "sklearn").LogisticRegression()
        model.fit(similarity[:, None], truth[some][first] == truth[some][second])
        return float(model.coef_[0, 0]), float(model.intercept_[0])

    def of(self, mention):
        """Factors of a mention with all others, shape (mentions,); itself has 0.

        The sparse product computes all of them faster than some; what the samplers are
        compared by is how many they look at.
        """
        found = (self.rows[mention] @ self.columns).toarray()[0] * self.weight + self.bias
        found[mention] = 0.0
        return found


class Gibbs:
    """Labels of all mentions, at first each its own cluster, and what was paid for them."""

    def __init__(self, n_mentions, racing, rng):
        self.labels = np.arange(n_mentions)
        self.sizes = np.ones(n_mentions, np.int64)
        self.racing, self.rng = racing, rng
        self.n_evaluations = self.n_errors = 0

    def visit(self, mention, factors, temperature):
        """Draw the mention's cluster given all others; `factors` of it with each mention."""
        self.sizes[self.labels[mention]] -= 1
        self.labels[mention] = -1
        clusters = np.append(np.flatnonzero(self.sizes), self.sizes.argmin())  # and a new one
        sums = np.bincount(self.labels + 1, factors, self.sizes.size + 1)[1:][clusters]
        offsets = temperature * self.rng.gumbel(size=clusters.size)
        best = chosen = int((sums + offsets).argmax())
        if self.racing:
            chosen = self._race(clusters, sums, offsets, factors)
            self.n_errors += chosen != best
        else:
            self.n_evaluations += self.labels.size - 1
        self.labels[mention] = clusters[chosen]
        self.sizes[clusters[chosen]] += 1

    def _race(self, clusters, sums, offsets, factors):
        """The winner among `clusters`; of `sums` only those of small clusters are used.

        These are known after the first look, so the best of them is one arm, without
        factors of its own: fewer arms share delta, and nothing else changes.
        """
        sizes = self.sizes[clusters]
        small, large = np.flatnonzero(sizes <= FIRST_LOOK), np.flatnonzero(sizes > FIRST_LOOK)
        self.n_evaluations += int(sizes[small].sum())
        known = sums[small] + offsets[small]
        leader = int(known.argmax())
        if not large.size:
            return int(small[leader])
        values = factors[np.argsort(self.labels.astype(np.int16), kind="stable")]  # radix
        ends = 1 + np.cumsum(self.sizes)[clusters]
        populations = [values[ends[k] - sizes[k]:ends[k]] for k in large]
        result = pb.race_populations([np.empty(0), *populations],
                                     np.append(known[leader], offsets[large]), delta=DELTA,
                                     first_look=FIRST_LOOK, rng=self.rng)
        self.n_evaluations += result.n_evaluations
        return int(large[result.winner - 1] if result.winner else small[leader])


def b_cubed(labels, truth, counted):
    """Harmonic mean of B-cubed precision and recall, means over the `counted` mentions."""
    pairs = labels * (truth.max() + 1) + truth
    _, which, both = np.unique(pairs, return_inverse=True, return_counts=True)
    both = both[which]
    precision = (both / np.bincount(labels)[labels])[counted].mean()
    recall = (both / np.bincount(truth)[truth])[counted].mean()
    return 2 * precision * recall / (precision + recall)


def anneal(factors, truth, racing, n_sweeps, rng):
    """One run: its evaluations and F1 after each tenth of a sweep, and the sampler."""
    gibbs, trace = Gibbs(truth.size, racing, rng), []
    for temperature in np.geomspace(HOT, COLD, n_sweeps):
        for part in np.array_split(rng.permutation(truth.size), PARTS):
            for mention in part:
                gibbs.visit(mention, factors.of(mention), temperature)
            trace.append((gibbs.n_evaluations, b_cubed(gibbs.labels, truth, ~factors.known),
                          gibbs.n_errors))
    return np.array(trace), gibbs


