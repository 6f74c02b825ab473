"""Everything that this room uses of `studies`."""

import tempfile

from pybandit.studies import Study
from pybandit.studies._export import export
from pybandit.studies._group import together
from pybandit.studies._plain import as_json, best_of, number
from pybandit.studies._report_facts import facts_of
from pybandit.studies._report_style import STYLE
from pybandit.studies.plates import Plates
from pybandit.studies.report import _content, _title_of, page_text

__all__ = ["STYLE", "Study", "batch_of", "file_of_wells", "head_of", "largest_batch",
           "recommended", "report_of", "status_of", "page_text", "tell_counts", "together"]


def head_of(study):
    """Return the digest of a study, which is one row of its file."""
    store = study._store
    return store.run(lambda: store.head().digest.hex(), write=False)


def largest_batch(study):
    """Return the number of results of the largest batch."""
    return study._store.run(study._store.largest_batch, write=False)


def status_of(study):
    return study._read(lambda _: as_json(study.status(), study))


def recommended(study):
    best = study.recommend()
    return {"best": best_of(best), "unmeasured": best.unmeasured.tolist()}


def batch_of(study, batch_id):
    found = study.batch(batch_id)
    return {"batch_id": found.id, "names": found.names, "status": found.status,
            "values": [number(value) for value in found.values.tolist()],
            "states": found.states.tolist()}


def tell_counts(study, **fields):
    """Record counts, and return how many were new or known, and warnings."""
    given = {"key": None, "cumulative": False, "repeated": False} | fields
    done, doubts = study._tell_counts(**given, who=None, rng=None)
    return done.to_dict() | {"warnings": doubts}


def file_of_wells(study):
    """Return all wells or counts as CSV, in an open temporary file."""
    file = tempfile.TemporaryFile()
    try:
        # not to the connection: a slow reader would hold up the study's log
        export(study, Plates.of(study.settings),
               lambda text: file.write(text.encode("utf-8", "surrogatepass")))
    except BaseException:
        file.close()
        raise
    return file


def report_of(study):
    """Return title, content and digest of the report."""
    facts = facts_of(study)
    title = _title_of(facts)
    return title, _content(facts, title), facts.status.head
