"""The fuzzers of Python by name; each takes bytes, and raises where something is wrong."""

from fuzz import states

TARGETS = {
    "policies": states.policies, "refitting": states.refitting, "races": states.races,
    "sequences": states.sequences, "tables": states.tables,
}
