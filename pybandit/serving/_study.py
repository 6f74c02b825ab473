"""Open files of studies, screens and web tests, and read them for requests."""

import tempfile

from pybandit.lab import Screen
from pybandit.lab import _export as lab_export
from pybandit.lab import report as lab_report
from pybandit.lab.plates import Plates
from pybandit.report._style import STYLE
from pybandit.studies import Study, kind_of
from pybandit.studies import _group as group
from pybandit.studies._plain import as_json, best_of, number
from pybandit.webtests import WebTest
from pybandit.webtests import _recorded_counts as count_log
from pybandit.webtests import report as webtest_report

__all__ = ["STYLE", "batch_of", "export_of", "file_of_results", "head_of", "largest_batch",
           "method_of", "open_any", "recommended", "report_of", "status_of", "study_of",
           "tell_counts", "together"]

CLASSES = {"study": Study, "screen": Screen, "webtest": WebTest}


def open_any(path, *, who=None, without_log=False):
    """Open a file, and return a `Study`, a `Screen` or a `WebTest`."""
    kind = kind_of(path, without_log)
    if kind not in CLASSES:
        raise ValueError(f"{path} is a file of a kind unknown to this pybandit: {kind!r}")
    return CLASSES[kind].open(path, who=who, without_log=without_log)


def study_of(found):
    """Return the `Study` of what `open_any` returned."""
    return found if isinstance(found, Study) else found.study


def report_of(found):
    """Return the module that writes the report of what `open_any` returned."""
    return webtest_report if isinstance(found, WebTest) else lab_report


def export_of(found):
    """Return ``export(write, batch)`` of what `open_any` returned."""
    if isinstance(found, WebTest):
        return lambda write, batch=None: count_log.export(found, write)
    study = study_of(found)
    return lambda write, batch=None: lab_export.export(study, Plates.of(study.settings), write,
                                                       batch)


def method_of(found, name):
    """Return a method of what `open_any` returned; ValueError if its kind lacks the method."""
    method = getattr(found, name, None)
    if method is None:
        name = name.strip("_")
        if isinstance(found, WebTest):
            raise ValueError(f"a web test takes counts, by tell_counts and amend_counts; got "
                             f"{name}")
        raise ValueError(f"a study takes results of batches, by tell and amend; got {name}")
    return method


def together(found, calls):
    """Make calls that change a file in one transaction: `pybandit.studies._group.together`."""
    return group.together(study_of(found), calls)


def head_of(found):
    """Return the digest of a study, reading one row of its file."""
    store = study_of(found)._store
    return store.run(lambda: store.head().digest.hex(), write=False)


def largest_batch(found):
    """Return the size of the largest batch plus 1; 0 without batches."""
    store = study_of(found)._store
    return store.run(store.largest_batch, write=False)


def status_of(found):
    return study_of(found)._read(lambda _: as_json(found.status(), found))


def recommended(found):
    best = found.recommend()
    return {"best": best_of(best), "unmeasured": best.unmeasured.tolist()}


def batch_of(found, batch_id):
    record = method_of(found, "batch")(batch_id)
    return {"batch_id": record.id, "names": record.names, "status": record.status,
            "values": [number(value) for value in record.values.tolist()],
            "states": record.states.tolist()}


def tell_counts(found, **fields):
    """Record counts, and return how many were new or known, and warnings."""
    given = {"key": None, "cumulative": False, "repeated": False} | fields
    done, doubts = method_of(found, "_tell_counts")(**given, who=None, rng=None)
    return done.to_dict() | {"warnings": doubts}


def file_of_results(found):
    """Return all wells or counts as CSV, in an open temporary file."""
    file = tempfile.TemporaryFile()
    try:
        # written to a file, because a slow client would keep a transaction of the study open
        export_of(found)(lambda text: file.write(text.encode("utf-8", "surrogatepass")))
    except BaseException:
        file.close()
        raise
    return file
