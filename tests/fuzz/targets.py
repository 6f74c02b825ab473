"""The Python fuzzers by name. Each takes bytes, and raises if it finds a defect."""

from fuzz import databases, dialects, files, neighbours, sheets, states, tellers

TARGETS = {
    "policies": states.policies, "refitting": states.refitting, "races": states.races,
    "count_races": states.counts, "sequences": states.sequences, "tables": states.tables,
    "scores": files.scores, "arms": files.arms, "plates": files.plates,
    "dialects": dialects.dialects, "codec": files.codec,
    "counts": sheets.counts, "values": sheets.values, "stocks": sheets.stocks,
    "sheets": sheets.sheets, "picklists": sheets.picklists, "cells": sheets.cells,
    "studies": databases.studies, "journals": databases.journals, "forged": databases.forged,
    "stores": databases.stores, "tellers": tellers.tellers, "blocks": files.blocks,
    "neighbours": neighbours.neighbours, "names": neighbours.names,
    "zarrs": files.zarrs, "comparisons": files.comparisons,
}
