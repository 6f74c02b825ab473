"""The fuzzers of Python by name; each takes bytes, and raises where something is wrong."""

from fuzz import files, states

TARGETS = {
    "policies": states.policies, "refitting": states.refitting, "races": states.races,
    "sequences": states.sequences, "tables": states.tables,
    "scores": files.scores, "arms": files.arms, "plates": files.plates, "codec": files.codec,
    "studies": files.studies, "journals": files.journals, "forged": files.forged,
    "stores": files.stores, "blocks": files.blocks,
}
