"""Two handles write to one study of counts: the study holds exactly the acknowledged counts.

The bytes choose the calls: single ones and transactions, invalid, repeated or contradictory ones,
a full disk, and handles that are reopened. Both handles are compared with a dict of acknowledged
counts.
"""

import functools
import shutil
import warnings

import pybandit as pb
from fuzz.databases import fresh
from fuzz.files import folder
from fuzz.source import Choices
from pybandit.errors import StudyError
from pybandit.studies._group import together, whole
from pybandit.webtests import WebTest

ARMS = ["home", "price", "video"]
MAKERS = [lambda: pb.CountRace(3), lambda: pb.policies.UCB1(3),
          lambda: pb.policies.ThompsonSampling(3, rng=1),
          lambda: pb.BettingRace(3, None, value_range=(0, 1), rng=1)]
KEYS = [None, "0", "1", "2", "Monday", "monday", "Monday ", "ä", "\x00", "event", "None"]


@functools.cache
def new_study(number):
    """Return the path of a study without results."""
    path = str(folder() / f"new_study{number}.db")
    WebTest.create(path, MAKERS[number](), arms=ARMS).close()
    return path


def quietly(study, counts, key):
    """Record counts without warnings about repeated and growing ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return study.tell_counts(counts, key=key, rng=1, repeated=True)


class Writers:
    """One or two handles of a study, and the acknowledged counts by key and arm, in order."""

    def __init__(self, bits):
        number, self.recorded = bits.below(len(MAKERS)), {}
        if bits.below(8) == 0:
            self.studies = [WebTest.create(":memory:", MAKERS[number](), arms=ARMS)]
        else:
            self.path = shutil.copy(new_study(number), fresh("tellers.db"))
            self.studies = [WebTest.open(self.path), WebTest.open(self.path)]

    def call(self, bits, study):
        """Return a function that records random counts, its key, and the counts."""
        arms = study.names[:1 + bits.below(4)]
        counts = {}
        for arm in arms:
            trials = bits.below(4)
            counts[arm] = trials, min(trials, bits.below(3))
        key = bits.of(KEYS)
        if self.recorded and bits.below(4) == 0:  # repeat a recorded call
            key = bits.of(list(self.recorded))
            counts = dict(self.recorded[key])
        if bits.below(16) == 1:
            counts["nobody"] = 1, 1
        return lambda: quietly(study, counts, key), key and key.strip(), counts

    def check_result(self, recorded, key, counts, result):
        """Check the result of a call, and note acknowledged counts."""
        key = str(len(recorded)) if key is None else key
        if isinstance(result, Exception):
            assert isinstance(result, ValueError), repr(result)
            assert "nobody" in counts or key in recorded, (key, result)
            is_same = same(recorded.get(key), counts)
            assert "nobody" in counts or "key must be given" in str(result) or not is_same
        elif result.n_new:
            assert key not in recorded and result.n_new == len(counts)
            recorded[key] = counts
        else:
            assert same(recorded[key], counts) and result.n_known == len(counts)

    def tell(self, bits, study):
        call, key, counts = self.call(bits, study)
        self.check_result(self.recorded, key, counts, caught(call))

    def tell_group(self, bits, study):
        """Make calls in one transaction: each succeeds or fails alone, or all together."""
        calls = [self.call(bits, study) for _ in range(2 + bits.below(2))]
        functions = [call for call, *_ in calls]
        recorded = dict(self.recorded)
        if bits.below(2):
            results = together(study.study, functions)
            for (_, key, counts), result in zip(calls, results, strict=True):
                self.check_result(recorded, key, counts, result)
        else:
            results = caught(lambda: whole(study.study, functions))
            if isinstance(results, ValueError):
                return
            for (_, key, counts), result in zip(calls, results, strict=True):
                self.check_result(recorded, key, counts, result)
        self.recorded = recorded

    def tell_on_full_disk(self, bits, study):
        """Record a batch completely or not at all while the file cannot grow."""
        db = study.study._store.db
        ((before,),) = db.execute("PRAGMA max_page_count")
        db.execute("PRAGMA max_page_count = 1")  # the file cannot get more pages
        call, key, counts = self.call(bits, study)
        try:
            result = caught(call)
        finally:
            db.execute(f"PRAGMA max_page_count = {before}")
        if not isinstance(result, StudyError):
            self.check_result(self.recorded, key, counts, result)

    def arm(self, bits, study):
        """Add or retire an arm."""
        if not isinstance(study.policy, pb.CountRace):
            return
        if bits.below(2):
            if len(study.names) < 6:
                study.add_arm(f"arm {len(study.names)}")
        else:
            caught(lambda: study.retire(bits.of(study.names), "it is old"))

    def reopen(self, bits, study):
        """Close a handle and open the study again."""
        if len(self.studies) > 1:
            study.close()
            self.studies[self.studies.index(study)] = WebTest.open(self.path)

    def check(self, bits, study):
        """Check that the study holds exactly the acknowledged counts."""
        table, found = study.counts(), {}
        for key, name, trials, total in zip(table["key"], table["name"], table["trials"],
                                            table["sum"], strict=True):
            found.setdefault(key, {})[name] = int(trials), total
        for key, counts in self.recorded.items():
            assert same(found.get(key, {}), counts), (key, counts, found)
        assert found.keys() <= self.recorded.keys()
        kinds = [event.kind for event in study.log()]
        assert kinds.count("counts") == len(self.recorded) and study.status().n_events == len(kinds)


def same(one, other):
    """Return True if counts are equal; an arm that is missing has none."""
    if one is None:
        return False
    left, right = ({name: (pair[0], float(pair[1])) for name, pair in counts.items() if pair[0]}
                   for counts in (one, other))
    return left == right


def caught(call):
    """Return the result of a call, or the error of pybandit that it raises."""
    try:
        return call()
    except (ValueError, StudyError) as error:
        return error


def tellers(content):
    """Make calls by both handles, and compare them at the end."""
    bits = Choices(content)
    writers = Writers(bits)
    does = [writers.tell, writers.tell, writers.tell, writers.tell_group, writers.tell_group,
            writers.tell_on_full_disk, writers.arm, writers.reopen, writers.check]
    for _ in range(1 + bits.below(bits.of([3, 3, 3, 20]))):
        bits.of(does)(bits, bits.of(writers.studies))
    states = []
    assert writers.studies[0].verify().n_batches == len(writers.recorded)
    for study in writers.studies:
        writers.check(bits, study)
        states.append(repr(study.policy.get_state()))
        study.close()
    assert len(set(states)) == 1
