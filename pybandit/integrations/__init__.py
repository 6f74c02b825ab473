"""Adapters for tools that run evaluations: Optuna, GEPA and DSPy.

Each module is imported by its own name, because it needs the package that it is named after. The
hook for Inspect is `pybandit.evaluation.RaceStopping`.
"""
