"""Divide the tests between `make test` and `make test-more`.

The first part must stay a command that people run: at most five minutes on two processors from a
built tree. The second part has whole files, and tests marked `more`: programs that are killed,
hostile files, browsers, other builds, and long statistics. `.ci/run` runs both parts.
"""

# Folders and files below tests/.
MORE = (
    "betting/test_betting_states.py",
    "betting/test_budget.py",
    "betting/test_counts.py",
    "betting/test_early.py",
    "betting/test_interrupts.py",
    "cli/test_screen_kills.py",
    "cli/test_screen_round_trips.py",
    "cli/test_strangers.py",
    "embedding/",
    "evaluation/test_calls.py",
    "evaluation/test_claims.py",
    "evaluation/test_executors.py",
    "evaluation/test_guarantee.py",
    "evaluation/test_hard_ends.py",
    "evaluation/test_lost_calls.py",
    "evaluation/test_no_answer.py",
    "evaluation/test_store.py",
    "fuzz/",
    "hostile/",
    "hostile_arrays/",
    "mcmc/test_autodiff.py",
    "mcmc/test_chains.py",
    "model_selection/test_search.py",
    "montecarlo/test_allocation.py",
    "policies/test_confidence.py",
    "policies/test_interrupts.py",
    "policies/test_silent.py",
    "racing/test_betting_bound.py",
    "racing/test_callback_signatures.py",
    "racing/test_callbacks.py",
    "racing/test_coreference.py",
    "racing/test_race_law.py",
    "racing/test_signals.py",
    "serving/test_http.py",
    "serving/test_limits.py",
    "serving/test_live_page.py",
    "serving/test_malformed.py",
    "serving/test_serve.py",
    "serving/test_serving_kills.py",
    "simulation/test_numba.py",
    "site/",
    "soak/",
    "studies/test_damage.py",
    "studies/test_interrupts.py",
    "studies/test_kills.py",
    "studies/test_lost_log.py",
    "tables/test_scratch.py",
    "tables/test_shuffle.py",
    "test_blas_bits.py",
    "test_blocks.py",
    "test_examples.py",
    "test_low_memory.py",
    "test_notebooks.py",
    "test_packaging.py",
    "test_plots.py",
    "test_portability.py",
    "typed/",
    "webtests/test_counts.py",
    "webtests/test_report_counts.py",
)


def is_more(path):
    """Return True if a file, named below tests/, is left to the second part."""
    return any(path == one or one.endswith("/") and path.startswith(one) for one in MORE)
