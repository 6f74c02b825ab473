"""Fits of a model search: single fits through scikit-learn, and the table of results."""

import warnings

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning

# key of scikit-learn's dict of a fit -> name in cv_results_
COLUMNS = {"fit_time": "fit_time", "score_time": "score_time", "test_scores": "test_score",
           "train_scores": "train_score"}


class Splits:
    """Cross-validator with given splits."""

    def __init__(self, splits):
        self.splits = splits

    def get_n_splits(self, X=None, y=None, **params):
        return len(self.splits)

    def split(self, X=None, y=None, **params):
        return iter(self.splits)


class OnePull:
    """Cross-validator that draws the splits of `cv` once, and claims to have a single split.

    All pulls of a split therefore use the same rows.
    """

    def __init__(self, cv):
        self.cv = cv
        self.splits = []
        if hasattr(cv, "get_metadata_routing"):
            self.get_metadata_routing = cv.get_metadata_routing

    def get_n_splits(self, X=None, y=None, **params):
        self.splits = list(self.cv.split(X, y, **params))
        return 1

    def split(self, X=None, y=None, **params):
        raise NotImplementedError("split() is not available here: the search passes each fit its "
                                  "split")


class Fits:
    """Function that fits candidates on splits, and keeps scikit-learn's results of each.

    Attributes
    ----------
    entries : dict
        (arm, split) -> scikit-learn's dict of times and scores.
    n_failed : int
    errors : dict
        Its keys are the tracebacks of failed fits.
    results : dict
        Becomes ``cv_results_``.
    """

    def __init__(self, evaluate_candidates, candidates, splits, budget, *, error_score, verbose,
                 return_train_score):
        self.evaluate = evaluate_candidates
        self.candidates = candidates
        self.splits = splits
        self.budget = budget
        self.verbose = verbose
        self.error_score = error_score
        self.entries, self.errors, self.results = {}, {}, {}
        self.columns = {name: column for name, column in COLUMNS.items()
                        if return_train_score or name != "train_scores"}
        self.n_failed = self.taken = 0

    def __getstate__(self):
        return {}  # worker processes receive it with the search, but do not use it

    def take(self, out):
        """Keep the new entries; `evaluate_candidates` passes all entries so far."""
        self.new, self.taken = out[self.taken:], len(out)
        return self.results

    def __call__(self, arms, splits):
        """Return scores of arms on splits, NaN for failed fits; fit arms of a split in parallel."""
        scores = np.empty(arms.size)
        for split in dict.fromkeys(splits.tolist()):
            chosen = np.flatnonzero(splits == split)
            for i, entry in zip(chosen, self._fit(arms[chosen], split), strict=True):
                score = entry["test_scores"]
                if isinstance(score, dict):
                    raise ValueError("scoring must return one number, which the policy maximises; "
                                     f"got {score!r}")
                self.entries[int(arms[i]), split] = entry
                scores[i] = score if np.isfinite(score) else np.nan
        if self.verbose:
            self._print(arms, splits, scores)
        return scores

    def _fit(self, arms, split):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FitFailedWarning)  # raise_or_warn warns once
                self.evaluate([self.candidates[arm] for arm in arms],
                              cv=Splits([self.splits[split]]))
        except ValueError as error:
            # scikit-learn raises if all fits of a call failed; fits of other calls may succeed
            if self.error_score == "raise" or "fits failed" not in str(error):
                raise
            self.n_failed += arms.size
            for text in str(error).split("fits failed with the following error:\n")[1:]:
                self.errors[text.partition("\n" + 80 * "-")[0]] = None
            lost = dict(fit_time=np.nan, score_time=np.nan, test_scores=self.error_score,
                        train_scores=self.error_score)
            return [lost] * arms.size
        for entry in self.new:
            if entry["fit_error"] is not None:
                self.n_failed += 1
                self.errors[entry["fit_error"]] = None
        return self.new

    def _print(self, arms, splits, scores):
        best = max(self.entries.items(), key=lambda item: np.nan_to_num(
            item[1]["test_scores"], nan=-np.inf))
        print(f"[BanditSearchCV] {len(self.entries)} of {self.budget} fits; candidate {arms[-1]} "
              f"on split {splits[-1]}: {scores[-1]:.4g}; highest so far: candidate {best[0][0]}, "
              f"{best[1]['test_scores']:.4g}", flush=True)

    def raise_or_warn(self):
        """Raise if all fits failed and warn if some did, with the messages of scikit-learn."""
        failed, fits = self.n_failed, len(self.entries)
        details = "\n".join(self.errors)
        if failed and failed == fits:
            raise ValueError(f"\nAll the {fits} fits failed.\nIt is very likely that your model "
                             "is misconfigured.\nYou can try to debug the error by setting "
                             f"error_score='raise'.\n\nBelow are more details about the "
                             f"failures:\n{details}")
        if failed:
            warnings.warn(f"\n{failed} fits failed out of a total of {fits}.\nThe score on these "
                          "train-test partitions for these parameters will be set to "
                          f"{self.error_score}.\n\nBelow are more details about the failures:\n"
                          f"{details}", FitFailedWarning, stacklevel=4)


def full_results(format_results, candidates, arms, fits, n_splits, asker):
    """Return ``cv_results_`` of all candidates: NaN if not fitted, means over fitted splits.

    `arms` has the arm of each candidate. `format_results` is scikit-learn's method, which
    requires an entry for each candidate and split.
    """
    blank = dict.fromkeys(fits.columns, np.nan)
    entries = [fits.entries.get((arm, split), blank) for arm in arms.tolist()
               for split in range(n_splits)]
    out = [{name: entry[name] for name in blank} for entry in entries]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about NaN
        results = format_results(candidates, n_splits, out)
    shape = len(candidates), n_splits
    for name, column in fits.columns.items():
        table = np.array([entry[name] for entry in out], dtype=np.float64).reshape(shape)
        results[f"mean_{column}"], results[f"std_{column}"], seen = _moments(table)
        if name == "test_scores":
            results["n_splits"] = seen
    fitted = np.array([(arm, split) in fits.entries for arm in arms.tolist()
                       for split in range(n_splits)]).reshape(shape).sum(axis=1)
    results["n_lost"] = fitted - results["n_splits"]
    means = results["mean_test_score"]
    results["rank_test_score"] = rankdata(-np.nan_to_num(means, nan=-np.inf),
                                          method="min").astype(np.int32)
    for name, values in asker.predicted().items():
        results[name] = values[arms]
    return results


def _moments(table):
    """Return mean, standard deviation and number of the entries of each row that are not NaN."""
    seen = ~np.isnan(table)
    n = seen.sum(axis=1)
    with np.errstate(invalid="ignore"):
        means = np.where(seen, table, 0.0).sum(axis=1) / n
        squares = np.where(seen, (table - means[:, None]) ** 2, 0.0).sum(axis=1) / n
    return means, np.sqrt(squares), n
