"""Any file of a study, opened as what it is: a study, a screen or a web test."""

from pybandit.lab import Screen
from pybandit.lab import _export as lab_export
from pybandit.lab import report as lab_report
from pybandit.lab.plates import Plates
from pybandit.studies import Study, kind_of
from pybandit.webtests import WebTest
from pybandit.webtests import _export as webtest_export
from pybandit.webtests import report as webtest_report

CLASSES = {"study": Study, "screen": Screen, "webtest": WebTest}


def open_any(path, *, who=None, without_log=False):
    """Open a file; return a `Study`, a `Screen` or a `WebTest`."""
    kind = kind_of(path, without_log)
    if kind not in CLASSES:
        raise ValueError(f"{path} is of a kind that this pybandit does not know: {kind!r}")
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
        return lambda write, batch=None: webtest_export.export(found, write)
    study = study_of(found)
    return lambda write, batch=None: lab_export.export(study, Plates.of(study.settings), write,
                                                       batch)


def method_of(found, name):
    """Return a method of what `open_any` returned; ValueError if files of its kind have none."""
    method = getattr(found, name, None)
    if method is None:
        name = name.strip("_")
        if isinstance(found, WebTest):
            raise ValueError(f"a web test is told counts, by tell_counts and amend_counts; got "
                             f"{name}")
        raise ValueError(f"a study is told results of batches, by tell and amend; got {name}")
    return method
