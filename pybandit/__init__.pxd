"""What `cimport pybandit` gives: the structs of the C headers and the kernels to call on them.

Compile with ``include_dirs=[pybandit.get_include()]``; there is nothing to link. Functions have
their C names without ``pb_``; those that a header defines inline keep it.
"""

from pybandit._shared._csrc cimport (
    PB_CALLBACK, PB_GROW, PB_NOT_FINITE, PB_NO_SOLUTION, PB_OK, PB_RANGE, pb_bitgen,
    pb_bitgen_below, pb_bitgen_open, pb_heap, pb_read_once, pb_status,
)
from pybandit.betting._csrc cimport (
    PB_CONFIDENCE_ASYMPTOTIC, PB_CONFIDENCE_BERNSTEIN, PB_CONFIDENCE_BETS,
    PB_CONFIDENCE_BETTING, PB_CONFIDENCE_HOEFFDING, PB_MIX_EBMIX, PB_MIX_PLUG_IN, PB_MIX_PRODUCT,
    PB_MOST_BETS, pb_bets, pb_bets_memory, pb_betting, pb_confidence, pb_confidence_method,
    pb_items, pb_mixture, pb_pairs, pb_threshold, pb_top_k,
)
from pybandit.embedding cimport (
    accept_decide, accept_init, accept_memory, accept_run, b_normal_error, b_normal_memory,
    b_normal_solve, betting_add, betting_begin, betting_memory, bitgen_gumbel_many,
    bounds_bernstein_serfling, bounds_bernstein_serfling_terms, bounds_normal,
    bounds_normal_tail, bounds_normal_tail_inverse, confidence_add, confidence_agrees,
    confidence_init, control_linear_change, control_matrix, control_quadratic_change,
    control_read, heap_build, heap_replace_root, kl, kl_lower, kl_round, kl_upper,
    kl_upper_tail, lil_bonus, lil_ucb_begin, lil_ucb_continue, lil_ucb_run, pairwise_read,
    pairwise_totals, populations_next, populations_run, quadratic_read, quadratic_totals,
    race_begin, race_run, ranking_sort, round_robin_add, round_robin_begin, round_robin_keep,
    round_robin_next, round_robin_pulled, round_robin_pulls, sampler_draw, sampler_init,
    sampler_memory, scan_above, scan_index, scan_largest, scan_least, scan_position, scan_sum,
    scan_two, schedule_memory, schedule_normal, subsample_init, subsample_memory,
    subsample_next, subsample_restart, threshold_add, threshold_begin, top_k_add, top_k_begin,
    top_k_leaders,
)
from pybandit.policies._csrc cimport (
    pb_batch, pb_batch_count, pb_batch_one, pb_ranked, pb_round_robin, pb_two,
)
from pybandit.racing._csrc cimport (
    PB_ONE_SIDED, PB_RACE_CALL_ROWS, PB_SUBSAMPLE_BLOCKS, PB_SUBSAMPLE_GROUPS,
    PB_SUBSAMPLE_KEYED,
    PB_SUBSAMPLE_PERMUTATION, PB_SUBSAMPLE_REJECTION, PB_TWO_SIDED, PB_UNION, pb_accept,
    pb_column, pb_control, pb_control_linear, pb_convention, pb_factor_function, pb_factors,
    pb_lil, pb_lil_ucb, pb_pairwise, pb_pairwise_memory, pb_populations, pb_quadratic, pb_race,
    pb_sampler, pb_schedule, pb_subsample, pb_subsample_kind,
)
