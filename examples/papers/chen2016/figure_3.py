"""Figure 3 of Chen & Ghahramani 2016: coreference by annealed Gibbs sampling, Sec. 5.3.

    python examples/papers/chen2016/figure_3.py [--quick] [--runs N] [--sweeps N]
        [--data TSV] [--save PNG]

A mention is a citation here, and an author in the paper (DBLP and Rexa, not public).
Mentions i < j of one cluster have the factor f(i, j) = weight * similarity + bias, and the
probability of all labels is proportional to exp of the sum of these factors. The
conditional of one mention's cluster is proportional to exp of the sum over its members,
with 0 for a new cluster. The sweeps cool from temperature 1 to 0.1. Exact Gibbs evaluates
a mention's factors with all others. Racing Gibbs races the clusters, each a separate
population (Appendix C.3), with the same random visits. Both read clusters of up to three
mentions completely.

Similarity is the cosine of TF-IDF vectors of character trigrams of authors and title.
Weight and bias come from logistic regression on the pairs of mentions of a random half of
the true clusters; the F1 is that of the mentions of the other half.

Without --data the citations are simulated: 215 papers whose numbers of citations follow a
power law with at most 1,829 (the sizes in the paper). Runs differ: in three runs on them
racing ends at .931 +- .014 where exact Gibbs ends at .946 +- .004, because one run of three
ends at .904 beside .950. One run shows no more than that, so the script prints the final F1
of each. On McCallum's Cora citations (--data, seven runs) both end level.
"""

import numpy as np
from setting import COREFERENCE_DELTA as DELTA
from setting import COREFERENCE_FIRST_LOOK as FIRST_LOOK
from setting import Figure, near

import pybandit as pb
from pybandit._shared import drawing
from pybandit._shared.optional import require

PAIRED_MENTIONS, PARTS = 1500, 10
KEPT_MENTIONS = 3000  # with more mentions, similarities are computed on demand
HOT, COLD = 1.0, 0.1  # temperatures of the first and the last sweep
SHARES = (0.8, 0.9, 0.95, 0.99)  # of the final F1
FORMAT = "tab-separated with a header: authors, title, name of the true cluster"


def load(path):
    """Return the texts of the citations and the numbers of their true clusters."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][1:]
    _, truth = np.unique([row[2] for row in rows], return_inverse=True)
    return [f"{row[0]} {row[1]}" for row in rows], truth


class Writers:
    """Simulates papers and citations with errors."""

    def __init__(self, rng):
        self.rng = rng
        parts = [[c + v for c in "bdfgklmnprstvz" for v in "aeiou"], ["", "n", "r", "s", "l"]]
        self.words = ["".join(rng.choice(part) for _ in range(rng.integers(1, 4))
                              for part in parts) for _ in range(1500)]

    def word(self):
        """Return a random word; the k-th is 1 / k as frequent as the first."""
        return self.words[int(len(self.words) ** self.rng.random()) - 1]

    def papers(self, n):
        """Return lists of authors (first name, surname) and of title words.

        About three papers share a subject.
        """
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
        """Return the text of one citation of a paper."""
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
    """Return texts and true clusters; the k-th cluster has largest / k^1.1 mentions."""
    writers, sizes = Writers(rng), largest / np.arange(1, n_papers + 1) ** 1.1
    truth = np.repeat(np.arange(n_papers), np.maximum(1, np.rint(sizes)).astype(int))
    papers = writers.papers(n_papers)
    return [writers.quote(*papers[k]) for k in truth], truth


class Factors:
    """Factors f(i, j) of all pairs; `known` marks the mentions used to fit weight and bias."""

    def __init__(self, texts, truth, rng):
        text = require("sklearn.feature_extraction.text", "sklearn")
        grams = text.TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), dtype=np.float32)
        self.rows = grams.fit_transform(texts)
        self.columns = self.rows.T.tocsr()
        n_clusters = truth.max() + 1
        self.known = np.isin(truth, rng.permutation(n_clusters)[:n_clusters // 2])
        self.weight, self.bias = self._fit(truth, rng)
        small = len(texts) <= KEPT_MENTIONS
        self.table = (self.rows @ self.columns).toarray() if small else None

    def _fit(self, truth, rng):
        """Fit a logistic regression on all pairs of at most PAIRED_MENTIONS mentions."""
        some = rng.permutation(np.flatnonzero(self.known))[:PAIRED_MENTIONS]
        first, second = np.triu_indices(some.size, 1)
        similarity = (self.rows[some] @ self.columns[:, some]).toarray()[first, second]
        model = require("sklearn.linear_model", "sklearn").LogisticRegression()
        model.fit(similarity[:, None], truth[some][first] == truth[some][second])
        return float(model.coef_[0, 0]), float(model.intercept_[0])

    def of(self, mention):
        """Return the factors of a mention with all others, shape (mentions,); 0 with itself.

        All are computed or stored, since one sparse product is fast. The samplers are compared
        by the number of factors they use.
        """
        similar = (self.rows[mention] @ self.columns).toarray()[0] if self.table is None \
            else self.table[mention]
        found = similar * self.weight + self.bias
        found[mention] = 0.0
        return found


class Gibbs:
    """Gibbs sampler of the labels of all mentions; at first each is its own cluster."""

    def __init__(self, n_mentions, racing, rng):
        self.labels = np.arange(n_mentions)
        self.sizes = np.ones(n_mentions, np.int64)
        self.racing, self.rng = racing, rng
        self.n_evaluations = self.n_errors = 0

    def visit(self, mention, factors, temperature):
        """Draw a mention's cluster given all others, from its `factors` with each mention."""
        self.sizes[self.labels[mention]] -= 1
        self.labels[mention] = -1
        clusters = np.append(np.flatnonzero(self.sizes), self.sizes.argmin())  # the last one is new
        sums = np.bincount(self.labels + 1, factors, self.sizes.size + 1)[1:][clusters]
        perturbed = temperature * self.rng.gumbel(size=clusters.size)
        best = chosen = int((sums + perturbed).argmax())
        if self.racing:
            chosen = self._race(clusters, sums, perturbed, factors)
            self.n_errors += chosen != best
        else:
            self.n_evaluations += self.labels.size - 1
        self.labels[mention] = clusters[chosen]
        self.sizes[clusters[chosen]] += 1

    def _race(self, clusters, sums, perturbed, factors):
        """Return the winner among `clusters`; uses `sums` only for small clusters.

        Small clusters are known after the first look, so the best of them is one arm without
        factors. Fewer arms then share delta, and nothing else changes.
        """
        sizes = self.sizes[clusters]
        small, large = np.flatnonzero(sizes <= FIRST_LOOK), np.flatnonzero(sizes > FIRST_LOOK)
        self.n_evaluations += int(sizes[small].sum())
        known = sums[small] + perturbed[small]
        leader = int(known.argmax())
        if not large.size:
            return int(small[leader])
        values = factors[np.argsort(self.labels.astype(np.int16), kind="stable")]  # radix
        ends = 1 + np.cumsum(self.sizes)[clusters]
        populations = [values[ends[k] - sizes[k]:ends[k]] for k in large]
        result = pb.racing.race_populations([np.empty(0), *populations],
                                            np.append(known[leader], perturbed[large]),
                                            bound="normal",
                                            delta=DELTA, first_look=FIRST_LOOK, rng=self.rng)
        self.n_evaluations += result.n_evaluations
        return int(large[result.best - 1] if result.best else small[leader])


def b_cubed(labels, truth, counted):
    """Return the harmonic mean of B-cubed precision and recall over the `counted` mentions."""
    pairs = labels * (truth.max() + 1) + truth
    _, which, both = np.unique(pairs, return_inverse=True, return_counts=True)
    both = both[which]
    precision = (both / np.bincount(labels)[labels])[counted].mean()
    recall = (both / np.bincount(truth)[truth])[counted].mean()
    return 2 * precision * recall / (precision + recall)


def anneal(factors, truth, racing, n_sweeps, rng):
    """Return the trace of one run, with a record after each tenth of a sweep."""
    gibbs, trace = Gibbs(truth.size, racing, rng), []
    for temperature in np.geomspace(HOT, COLD, n_sweeps):
        for part in np.array_split(rng.permutation(truth.size), PARTS):
            for mention in part:
                gibbs.visit(mention, factors.of(mention), temperature)
            trace.append((gibbs.n_evaluations, b_cubed(gibbs.labels, truth, ~factors.known),
                          gibbs.n_errors, np.count_nonzero(gibbs.sizes), gibbs.sizes.max()))
    return np.rec.fromrecords(trace, names="evaluations, f1, errors, clusters, largest")


def mean_and_error(values):
    """Return a mean and its standard error as text."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.4f} ± {error:.4f}"


def reached(trace, f1):
    """Return the evaluations at which the F1 first reached `f1`; inf if it never did."""
    where = np.flatnonzero(trace.f1 >= f1)
    return trace.evaluations[where[0]] if where.size else np.inf


def print_sweeps(exact, racing, n_mentions):
    """Print F1 and evaluations of both samplers, sweep by sweep."""
    ends = slice(PARTS - 1, None, PARTS)
    paid = [np.diff([t.evaluations[ends] for t in traces], axis=1, prepend=0)
            for traces in (exact, racing)]
    wrong = np.diff([t.errors[ends] for t in racing], axis=1, prepend=0).mean(axis=0)
    print(f"{'sweep':>5}  {'F1, exact':<17}  {'F1, racing':<17}  evaluations, M    share  "
          "wrong by 1,000")
    for k, (mine, theirs) in enumerate(zip(paid[1].mean(axis=0), paid[0].mean(axis=0),
                                           strict=True)):
        f1 = [mean_and_error([t.f1[ends][k] for t in traces]) for traces in (exact, racing)]
        print(f"{k + 1:>5}  {f1[0]:<17}  {f1[1]:<17}  {theirs / 1e6:<7.3g} {mine / 1e6:<7.3g} "
              f"{drawing.percent(mine / theirs):>7}  {1000 * wrong[k] / n_mentions:.2g}")


def print_costs(exact, racing):
    """Print median evaluations until shares of the lower final F1, and the last clusters."""
    final = min(np.mean([t.f1[-1] for t in traces]) for traces in (exact, racing))
    print()
    for f1 in final * np.array(SHARES):
        theirs, mine = (np.median([reached(t, f1) for t in traces]) / 1e6
                        for traces in (exact, racing))
        times = f"{theirs / mine:.2f} times" if theirs + mine < np.inf else "not in most runs"
        print(f"F1 of {f1:.3f}: {theirs:<6.3g} M exact, {mine:<6.3g} M racing, {times}")
    clusters, largest = (np.array([t[name][-PARTS:] for t in racing])
                         for name in ("clusters", "largest"))
    print(f"last sweep of racing: {clusters.min()} to {clusters.max()} clusters, of 1 to "
          f"{largest.max():,} mentions")


def print_runs(exact, racing):
    """Print the final F1 of each run."""
    for name, traces in (("exact", exact), ("racing", racing)):
        print(f"final F1 of each run, {name:<7}" + " ".join(f"{t.f1[-1]:.3f}" for t in traces))


def claim(figure, exact, racing, n_mentions):
    """Compare with the statements of Sec. 5.3."""
    last = slice(-PARTS - 1, None, PARTS)
    saved = np.mean([np.diff(t.evaluations[last]) for t in exact]) \
        / np.mean([np.diff(t.evaluations[last]) for t in racing])
    figure.claim("Racing evaluates about five times fewer factors near convergence", "5 times",
                 f"{saved:.1f} times", saved > 1, near(saved, 5, 0.3))
    f1 = 0.99 * min(np.mean([t.f1[-1] for t in traces]) for traces in (exact, racing))
    theirs, mine = (np.median([reached(t, f1) for t in traces]) for traces in (exact, racing))
    times = theirs / mine if mine < np.inf else 0.0
    figure.claim("and converges about three times faster", "3 times",
                 f"{times:.1f} times, to 99 % of the F1", times > 1, near(times, 3, 0.25))
    final = [np.array([t.f1[-1] for t in traces]) for traces in (exact, racing)]
    apart = final[1] - final[0]
    spread = apart.std(ddof=1) / apart.size**0.5 if apart.size > 1 else np.nan
    figure.claim("F1 is almost identical, which suggests negligible bias", "the same",
                 f"exact {mean_and_error(final[0])}, racing {mean_and_error(final[1])}, lowest "
                 f"run {final[1].min():.3f}, difference {apart.mean():+.4f} ± {spread:.4f}",
                 abs(apart.mean()) < 0.01)
    wrong = np.mean([t.errors[-1] / (n_mentions * t.size / PARTS) for t in racing])
    figure.claim("The empirical error is about .046, within delta = .05", ".046",
                 f"{wrong:.4f}", wrong <= DELTA, near(wrong, 0.046, 0.3))


def draw(exact, racing):
    """Plot F1 by evaluations and by sweeps, and the share of the factors read."""
    figure, axes = drawing.new_figure(9.0, 2.9, 1, 3)
    sweeps = (1 + np.arange(exact[0].size)) / PARTS
    for name, traces, colour in (("exact", exact, drawing.EXACT),
                                 ("racing", racing, drawing.RACING)):
        for k, trace in enumerate(traces):
            label = name if k == 0 else None
            style = dict(color=colour, lw=1, alpha=0.7, label=label)
            axes[0, 0].plot(trace.evaluations / 1e6, trace.f1, **style)
            axes[0, 1].plot(sweeps, trace.f1, **style)
    shares = [np.diff(mine.evaluations, prepend=0) / np.diff(theirs.evaluations, prepend=0)
              for mine, theirs in zip(racing, exact, strict=True)]
    axes[0, 2].plot(sweeps, np.mean(shares, axis=0), color=drawing.RACING)
    axes[0, 0].set(xscale="log", xlabel="factor evaluations, millions", ylabel="B-cubed F1")
    axes[0, 1].set(xlabel="sweeps", ylabel="B-cubed F1")
    axes[0, 2].set(xlabel="sweeps", ylabel="racing's share of evaluations", ylim=(0, 1.05))
    axes[0, 0].legend(frameon=False, fontsize=8)
    for axis in axes[0]:
        axis.spines[["top", "right"]].set_visible(False)
    return figure


def add(parser):
    parser.add_argument("--sweeps", type=int, help="default 6, with --quick 2")


def main(argv=None):
    figure = Figure(__doc__, runs=(7, 2), data=FORMAT, add=add, arguments=argv)
    n_sweeps = figure.options.sweeps or (2 if figure.quick else 6)
    rng = np.random.default_rng(figure.seed)
    size = (40, 60) if figure.quick else (215, 1829)
    texts, truth = load(figure.data) if figure.data else invent(*size, rng)
    factors = Factors(texts, truth, rng)
    print(f"{truth.size:,} mentions, {truth.max() + 1} true clusters, the largest of "
          f"{np.bincount(truth).max():,}; factor {factors.weight:.3g} similarity "
          f"{factors.bias:+.3g}; F1 of {np.count_nonzero(~factors.known):,} mentions; "
          f"{figure.runs} runs\n")
    seeds = np.random.SeedSequence(figure.seed).spawn(figure.runs)
    exact, racing = ([anneal(factors, truth, race, n_sweeps, np.random.default_rng(seed))
                      for seed in seeds] for race in (False, True))
    print_sweeps(exact, racing, truth.size)
    print_costs(exact, racing)
    print_runs(exact, racing)
    claim(figure, exact, racing, truth.size)
    figure.end(lambda: draw(exact, racing))


if __name__ == "__main__":
    main()
