"""Which of many classifiers is best on the digits, and how few scores show it?

    python examples/evaluation/model_leaderboard.py [--orders N] [--table NPZ] [--quick] [--out PNG]

Some fifty scikit-learn classifiers predict the 1,797 digits in five-fold
cross-validation. The score of a model on a digit is 1 - Brier / 2 of its
probabilities (1: certain and right, 0: certain and wrong); a model without
probabilities counts as certain. The scores form a table, rows by models. Then each
bound races for the best column, over random orders of the rows. The output has the
share of the table that it reads, and how often it names another model than the whole
table does. The race of the last line may also stop at a model that is at most 0.01
below the best; its difference to the line "betting" is the cost of near ties.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

import pybandit as pb
from pybandit._shared.drawing import DATA, EXACT, RACING, new_figure, save, tidy

DELTA, TOLERANCE = 0.05, 0.01
BOUNDS = {
    "normal": pb.racing.NormalBound(delta=DELTA),
    "student": pb.racing.StudentBound(delta=DELTA),
    "ebs": pb.racing.EBSBound(delta=DELTA, value_range=1.0),
    "betting": pb.racing.BettingBound(delta=DELTA, value_range=(0, 1)),
    "betting, ebmix": pb.racing.BettingBound(delta=DELTA, value_range=(0, 1),
                                             bets=pb.betting.Bets("ebmix")),
    "betting, hybrid": pb.racing.BettingBound(delta=DELTA, value_range=(0, 1),
                                              bets=pb.betting.Bets("product", hybrid=True)),
}
# Shares read of another table, of 58 models by 797 items; ebs and normal use marginal standard
# deviations.
REFERENCE = {"ebs": 0.389, "normal": 0.065, "betting": 0.035}


def models():
    """Return classifiers by name, of several families, from poor to good."""
    return {**simple_models(), **linear_models(), **grown_models(), **smooth_models()}


def simple_models():
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

    found = {
        "most frequent class": DummyClassifier(),
        "random class": DummyClassifier(strategy="uniform", random_state=0),
        "nearest centroid": NearestCentroid(),
        "Gaussian Bayes": GaussianNB(),
        "Gaussian Bayes, smoothed": GaussianNB(var_smoothing=0.1),
        "Bernoulli Bayes": BernoulliNB(binarize=0.5),
        "multinomial Bayes": MultinomialNB(),
        "complement Bayes": ComplementNB(),
    }
    for k in (1, 2, 3, 5, 10, 30, 100):
        found[f"{k} neighbours"] = KNeighborsClassifier(k)
    for k in (5, 10):
        found[f"{k} neighbours, weighted"] = KNeighborsClassifier(k, weights="distance")
    return found


def linear_models():
    from sklearn.discriminant_analysis import (
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )
    from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    found = {
        "linear discriminant": LinearDiscriminantAnalysis(),
        "linear discriminant, shrunk": LinearDiscriminantAnalysis("lsqr", shrinkage=0.1),
        "quadratic discriminant, 0.01": QuadraticDiscriminantAnalysis(reg_param=0.01),
        "quadratic discriminant, 0.3": QuadraticDiscriminantAnalysis(reg_param=0.3),
        "ridge": RidgeClassifier(),
        "ridge, squared pixels": make_pipeline(PolynomialFeatures(), RidgeClassifier(30.0)),
        "perceptron": Perceptron(random_state=0),
        "linear SVM, stochastic": SGDClassifier(random_state=0),
    }
    for c in (0.001, 0.01, 0.1, 1.0, 10.0):
        found[f"logistic, C = {c:g}"] = LogisticRegression(C=c, max_iter=200)
    return found


def grown_models():
    from sklearn.ensemble import (
        AdaBoostClassifier,
        BaggingClassifier,
        ExtraTreesClassifier,
        RandomForestClassifier,
    )
    from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

    found = {
        "extra tree": ExtraTreeClassifier(random_state=0),
        "boosted stumps": AdaBoostClassifier(n_estimators=30, random_state=0),
        "10 bagged trees": BaggingClassifier(random_state=0),
    }
    for depth in (1, 3, 6, None):
        found[f"tree, depth {depth}"] = DecisionTreeClassifier(max_depth=depth, random_state=0)
    for n in (3, 10, 30, 100):
        found[f"forest of {n}"] = RandomForestClassifier(n, random_state=0)
        found[f"extra forest of {n}"] = ExtraTreesClassifier(n, random_state=0)
    return found


def smooth_models():
    from sklearn.decomposition import PCA
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.semi_supervised import LabelSpreading
    from sklearn.svm import SVC

    found = {
        "SVM, linear": SVC(kernel="linear"),
        "SVM, cubic": SVC(kernel="poly"),
        "SVM, sigmoid": SVC(kernel="sigmoid"),
        "label spreading": LabelSpreading(gamma=2.0, max_iter=100),
    }
    for c, gamma in ((0.1, 0.1), (1.0, 0.1), (10.0, 0.3), (10.0, 5.0)):
        found[f"SVM, C = {c:g}, gamma = {gamma:g}"] = SVC(C=c, gamma=gamma)
    for n in (2, 10, 30):
        found[f"SVM, {n} components"] = make_pipeline(PCA(n, random_state=0), SVC())
    for width in (4, 16, 64):
        found[f"network of {width}"] = MLPClassifier(width, max_iter=60, random_state=0)
    return found


def score_table(classifiers, n_rows=None):
    """Return scores in [0, 1] of cross-validated predictions, shape (rows, models)."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import cross_val_predict

    pixels, digits = load_digits(return_X_y=True)
    pixels, digits = pixels[:n_rows] / 16.0, digits[:n_rows]
    truth = np.eye(10)[digits]
    table = np.empty((digits.size, len(classifiers)))
    for column, model in zip(table.T, classifiers.values(), strict=True):
        certain = not hasattr(model, "predict_proba")
        with warnings.catch_warnings():  # some do not converge: poor models are welcome
            warnings.simplefilter("ignore")
            predicted = cross_val_predict(model, pixels, digits, cv=5,
                                          method="predict" if certain else "predict_proba")
        probabilities = np.eye(10)[predicted] if certain else predicted
        column[:] = 1.0 - ((probabilities - truth) ** 2).sum(axis=1) / 2.0
    return np.clip(table, 0.0, 1.0)  # removes rounding errors


def load_table(path):
    """Return names and scores, from `path` if it exists; else compute and save them."""
    if path and Path(path).exists():
        with np.load(path) as saved:
            return saved["names"], saved["scores"]
    classifiers = models()
    names, scores = np.array(list(classifiers)), score_table(classifiers)
    if path:
        np.savez_compressed(path, names=names, scores=scores)
    return names, scores


def measure(scores, bound, n_orders, seed):
    """Return the shares of the table read in `n_orders` races, and the number of errors."""
    best, shares, errors = scores.mean(axis=0).argmax(), [], 0
    for order in range(n_orders):
        result = pb.race(scores, bound=bound, looks=pb.racing.Looks(max_fraction=1.0),
                         rng=np.random.default_rng((seed, order)))
        shares.append(result.n_evaluations / scores.size)
        errors += result.best != best
    return np.array(shares), errors


def tell_all(scores, epsilon, seed):
    """Play one race by bets with ask and tell, and return it."""
    race = pb.BettingRace(scores.shape[1], scores.shape[0], value_range=(0, 1), delta=DELTA,
                          epsilon=epsilon, rng=np.random.default_rng(seed))
    while not race.done:
        arms, items = race.ask()
        race.tell(arms, items, scores[items, arms])
    return race


def measure_tolerant(scores, n_orders, seed):
    """Do the same as `measure`, where a model within TOLERANCE of the best is not an error."""
    means = scores.mean(axis=0)
    races = [tell_all(scores, TOLERANCE, (seed, order)) for order in range(n_orders)]
    chosen = np.array([int(race.recommend()[0]) for race in races])
    return (np.array([race.n_pulls / scores.size for race in races]),
            int((means[chosen] < means.max() - TOLERANCE).sum()))


def run(names, scores, n_orders, seed):
    """Print the leaderboard and the table of bounds; return the latter's rows."""
    means = scores.mean(axis=0)
    print(f"{scores.shape[0]:,} rows x {means.size} models; the first and the last:\n")
    ranked = np.argsort(-means, kind="stable")
    for i in [*ranked[:5], *ranked[-3:]]:
        print(f"  {means[i]:.4f}  {names[i]}")
    gap = np.subtract.outer(scores[:, ranked[0]], scores[:, ranked[1]]).diagonal()
    print(f"\nfirst and second differ by {gap.mean():.4f} on average, deviation {gap.std():.3f}\n")
    print(f"{'bound':<17}{'read':>8}{'middle 80%':>16}{'wrong':>11}{'another table':>16}")
    table = []
    for name, bound in BOUNDS.items():
        table.append(line(name, *measure(scores, bound, n_orders, seed)))
    table.append(line(f"betting, to {TOLERANCE:g}", *measure_tolerant(scores, n_orders, seed)))
    return table


def line(name, shares, errors):
    """Print one row of the table and return it."""
    low, high = np.quantile(shares, [0.1, 0.9])
    known = f"[{REFERENCE[name]:.1%}]" if name in REFERENCE else ""
    print(f"{name:<17}{shares.mean():>8.1%}{f'{low:.1%} to {high:.1%}':>16}"
          f"{f'{errors} of {shares.size}':>11}{known:>16}".rstrip(), flush=True)
    return {"bound": name, "share": shares.mean(), "low": low, "high": high, "errors": errors,
            "orders": shares.size}


def leaderboard_figure(table, means, rows_read, n_rows):
    """Plot the share of a table that each bound reads, and the rows read of each model.

    Parameters
    ----------
    table : list of dict
        Keys ``bound``, ``share``, ``low``, ``high`` (quantiles of the share), ``errors``,
        ``orders``.
    means : ndarray of float, shape (D,)
        Mean score of each model over all rows.
    rows_read : ndarray of int, shape (D,)
        Rows each model was read on in one race.
    n_rows : int
        Number of rows of the table.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = new_figure(10.0, 3.6, 1, 2)
    bars, dots = axes[0]
    where = np.arange(len(table))[::-1]
    share, low, high = (100 * np.array([row[key] for row in table])
                        for key in ("share", "low", "high"))
    colours = [RACING if row["bound"].startswith("betting") else EXACT for row in table]
    bars.barh(where, share, 0.6, color=colours,
              xerr=[np.maximum(share - low, 0.0), np.maximum(high - share, 0.0)],
              error_kw={"lw": 0.8, "ecolor": DATA})
    for y, row, end in zip(where, table, np.maximum(share, high), strict=True):
        bars.annotate(f"{100 * row['share']:.3g} %, {row['errors']} of {row['orders']} wrong",
                      (end, y), (4, 0), textcoords="offset points", va="center", fontsize=8)
    bars.set_yticks(where, [row["bound"] for row in table])
    bars.set_xlim(0.0, 1.7 * high.max())
    bars.set_xticks(np.arange(0, 101, 20))
    bars.set_title("of the table read, % (line: middle 80 %)", fontsize=10, loc="left")
    order = np.argsort(-means)
    dots.plot(np.arange(1, means.size + 1), rows_read[order], "o", ms=4, color=RACING)
    dots.axhline(n_rows, color=EXACT, lw=0.8, ls=":")
    dots.set_yscale("log")
    dots.set_xlabel("rank of the model", fontsize=9)
    dots.set_title(f"rows read until dropped, of {n_rows:,}; betting, one race", fontsize=10,
                   loc="left")
    tidy(bars)
    tidy(dots)
    return figure


def main(argv=None):
    parser = argparse.ArgumentParser(description="A race for the best of many classifiers.")
    parser.add_argument("--orders", type=int, default=200, help="random orders (%(default)s)")
    parser.add_argument("--table", metavar="NPZ", help="file to save the scores in, or to reuse")
    parser.add_argument("--quick", action="store_true", help="simple models, 600 rows, 5 orders")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="model_leaderboard.png", metavar="PNG",
                        help="plot (default %(default)s)")
    arguments = parser.parse_args(argv)
    start = time.perf_counter()
    if arguments.quick:
        classifiers = simple_models()
        names, scores = np.array(list(classifiers)), score_table(classifiers, 600)
    else:
        names, scores = load_table(arguments.table)
    print(f"table of scores: {time.perf_counter() - start:.0f} s")
    table = run(names, scores, 5 if arguments.quick else arguments.orders, arguments.seed)
    figure = leaderboard_figure(table, scores.mean(axis=0),
                                tell_all(scores, 0.0, arguments.seed).pulls, len(scores))
    save(figure, arguments.out)
    print(f"\n{time.perf_counter() - start:.0f} s; plot: {arguments.out}")


if __name__ == "__main__":
    main()
