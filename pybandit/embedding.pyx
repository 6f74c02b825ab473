"""The kernels of csrc for compiled code: no Python in them, and nothing to call from Python.

Cython reaches these functions by ``cimport pybandit``, numba by
``numba.extending.get_cython_function_address("pybandit.embedding", name)``.
"""

from libc.stdint cimport int64_t, uint32_t

from pybandit._shared._csrc cimport (
    pb_bitgen, pb_bitgen_gumbel_many, pb_bounds_bernstein_serfling,
    pb_bounds_bernstein_serfling_terms, pb_bounds_normal, pb_bounds_normal_tail,
    pb_bounds_normal_tail_inverse, pb_heap, pb_heap_build, pb_heap_replace_root, pb_status,
)
from pybandit.betting._csrc cimport (
    pb_bets, pb_betting, pb_betting_add, pb_betting_begin, pb_betting_memory, pb_confidence,
    pb_confidence_add, pb_confidence_agrees, pb_confidence_init, pb_confidence_method,
    pb_threshold, pb_threshold_add, pb_threshold_begin, pb_top_k, pb_top_k_add, pb_top_k_begin,
    pb_top_k_leaders,
)
from pybandit.policies._csrc cimport (
    pb_batch, pb_kl, pb_kl_lower, pb_kl_round, pb_kl_upper, pb_kl_upper_tail, pb_ranked,
    pb_ranking_sort, pb_round_robin, pb_round_robin_add, pb_round_robin_begin,
    pb_round_robin_keep, pb_round_robin_next, pb_round_robin_pulled, pb_round_robin_pulls,
    pb_scan_above, pb_scan_index, pb_scan_largest, pb_scan_least, pb_scan_position, pb_scan_sum,
    pb_scan_two, pb_two,
)
from pybandit.racing._csrc cimport (
    pb_accept, pb_accept_decide, pb_accept_init, pb_accept_memory, pb_accept_run,
    pb_b_normal_error, pb_b_normal_memory, pb_b_normal_solve,
    pb_control_linear_change, pb_control_matrix, pb_control_quadratic_change, pb_control_read,
    pb_convention, pb_factors, pb_lil, pb_lil_bonus, pb_lil_ucb, pb_lil_ucb_begin,
    pb_lil_ucb_continue, pb_lil_ucb_run, pb_pairwise, pb_pairwise_read, pb_pairwise_totals,
    pb_populations, pb_populations_next, pb_populations_run, pb_quadratic, pb_quadratic_read,
    pb_quadratic_totals, pb_race, pb_race_begin, pb_race_run, pb_sampler,
    pb_sampler_draw, pb_sampler_init, pb_sampler_memory, pb_schedule, pb_schedule_memory,
    pb_schedule_normal, pb_subsample, pb_subsample_init, pb_subsample_kind, pb_subsample_memory,
    pb_subsample_next, pb_subsample_restart,
)


cdef int64_t schedule_memory(int64_t n_factors, int64_t first_look,
                             double max_fraction) noexcept nogil:
    return pb_schedule_memory(n_factors, first_look, max_fraction)


cdef pb_status schedule_normal(double delta, pb_convention convention, int64_t n_factors,
                               int64_t n_states, int64_t first_look, double max_fraction,
                               void *memory, pb_schedule *schedule) noexcept nogil:
    return pb_schedule_normal(delta, convention, n_factors, n_states, first_look, max_fraction,
                              memory, schedule)


cdef int64_t sampler_memory(const pb_factors *factors, const pb_schedule *schedule,
                            pb_subsample_kind kind) noexcept nogil:
    return pb_sampler_memory(factors, schedule, kind)


cdef void sampler_init(pb_sampler *sampler, const pb_factors *factors, const pb_schedule *schedule,
                       const double *log_prior, pb_subsample_kind kind,
                       void *memory) noexcept nogil:
    pb_sampler_init(sampler, factors, schedule, log_prior, kind, memory)


cdef pb_status sampler_draw(pb_sampler *sampler, pb_bitgen *bitgen, int64_t *state) noexcept nogil:
    return pb_sampler_draw(sampler, bitgen, state)


cdef void race_begin(pb_race *race, pb_bitgen *bitgen) noexcept nogil:
    pb_race_begin(race, bitgen)


cdef pb_status race_run(pb_race *race, pb_bitgen *bitgen) noexcept nogil:
    return pb_race_run(race, bitgen)


cdef int64_t accept_memory(const pb_factors *factors, pb_subsample_kind kind) noexcept nogil:
    return pb_accept_memory(factors, kind)


cdef void accept_init(pb_accept *accept, const pb_factors *factors, const pb_schedule *schedule,
                      pb_subsample_kind kind, void *memory) noexcept nogil:
    pb_accept_init(accept, factors, schedule, kind, memory)


cdef pb_status accept_run(pb_accept *accept, double log_threshold,
                          pb_bitgen *bitgen) noexcept nogil:
    return pb_accept_run(accept, log_threshold, bitgen)


cdef pb_status accept_decide(pb_accept *accept, double log_threshold, pb_bitgen *bitgen,
                             int64_t *accepted, int64_t *n_evaluations) noexcept nogil:
    return pb_accept_decide(accept, log_threshold, bitgen, accepted, n_evaluations)


cdef double lil_bonus(const pb_lil *lil, double pulls) noexcept nogil:
    return pb_lil_bonus(lil, pulls)


cdef pb_status lil_ucb_run(pb_lil_ucb *race, pb_bitgen *bitgen) noexcept nogil:
    return pb_lil_ucb_run(race, bitgen)


cdef pb_status lil_ucb_begin(pb_lil_ucb *race, pb_bitgen *bitgen) noexcept nogil:
    return pb_lil_ucb_begin(race, bitgen)


cdef pb_status lil_ucb_continue(pb_lil_ucb *race, pb_bitgen *bitgen, int64_t n) noexcept nogil:
    return pb_lil_ucb_continue(race, bitgen, n)


cdef int64_t populations_next(int64_t size, int64_t first_look, int64_t n_read) noexcept nogil:
    return pb_populations_next(size, first_look, n_read)


cdef pb_status populations_run(pb_populations *race, pb_bitgen *bitgen) noexcept nogil:
    return pb_populations_run(race, bitgen)


cdef int control_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                      int64_t n_states, double *out, void *user_data) noexcept nogil:
    return pb_control_read(factors, n_factors, states, n_states, out, user_data)


cdef int control_matrix(const int64_t *factors, int64_t n_factors, const int64_t *states,
                        int64_t n_states, double *out, void *data) noexcept nogil:
    return pb_control_matrix(factors, n_factors, states, n_states, out, data)


cdef int control_linear_change(const int64_t *factors, int64_t n_factors, const int64_t *states,
                               int64_t n_states, double *out, void *data) noexcept nogil:
    return pb_control_linear_change(factors, n_factors, states, n_states, out, data)


cdef double control_quadratic_change(int64_t n_parameters, const double *gradient,
                                     const double *hessian, const double *center,
                                     const double *points) noexcept nogil:
    return pb_control_quadratic_change(n_parameters, gradient, hessian, center, points)


cdef int pairwise_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                       int64_t n_states, double *out, void *user_data) noexcept nogil:
    return pb_pairwise_read(factors, n_factors, states, n_states, out, user_data)


cdef int64_t pairwise_totals(const pb_pairwise *pairwise, int64_t n_factors, double *work,
                             double *totals) noexcept nogil:
    return pb_pairwise_totals(pairwise, n_factors, work, totals)


cdef int quadratic_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                        int64_t n_states, double *out, void *user_data) noexcept nogil:
    return pb_quadratic_read(factors, n_factors, states, n_states, out, user_data)


cdef void quadratic_totals(const pb_quadratic *quadratic, int64_t n_factors,
                           double *totals) noexcept nogil:
    pb_quadratic_totals(quadratic, n_factors, totals)


cdef int64_t b_normal_memory(const double *fractions, int64_t n_looks) noexcept nogil:
    return pb_b_normal_memory(fractions, n_looks)


cdef double b_normal_error(double boundary, const double *fractions, int64_t n_looks,
                           pb_convention convention, double *workspace) noexcept nogil:
    return pb_b_normal_error(boundary, fractions, n_looks, convention, workspace)


cdef pb_status b_normal_solve(double delta, const double *fractions, int64_t n_looks,
                              pb_convention convention, double *workspace,
                              double *boundary) noexcept nogil:
    return pb_b_normal_solve(delta, fractions, n_looks, convention, workspace, boundary)


cdef int64_t subsample_memory(pb_subsample_kind kind, int64_t size, int64_t run) noexcept nogil:
    return pb_subsample_memory(kind, size, run)


cdef void subsample_init(pb_subsample *subsample, pb_subsample_kind kind, int64_t size, int64_t run,
                         uint32_t *memory) noexcept nogil:
    pb_subsample_init(subsample, kind, size, run, memory)


cdef void subsample_restart(pb_subsample *subsample, pb_bitgen *bitgen) noexcept nogil:
    pb_subsample_restart(subsample, bitgen)


cdef void subsample_next(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n,
                         int64_t *out) noexcept nogil:
    pb_subsample_next(subsample, bitgen, n, out)


cdef int64_t betting_memory(const pb_bets *bets, int64_t n_arms, int hybrid) noexcept nogil:
    return pb_betting_memory(bets, n_arms, hybrid)


cdef void betting_begin(pb_betting *betting) noexcept nogil:
    pb_betting_begin(betting)


cdef pb_status betting_add(pb_betting *betting, const double *const *rows,
                           int64_t n_rows) noexcept nogil:
    return pb_betting_add(betting, rows, n_rows)


cdef void top_k_begin(pb_top_k *top) noexcept nogil:
    pb_top_k_begin(top)


cdef pb_status top_k_add(pb_top_k *top, const double *const *rows, int64_t n_rows) noexcept nogil:
    return pb_top_k_add(top, rows, n_rows)


cdef void top_k_leaders(const pb_top_k *top, unsigned char *flags) noexcept nogil:
    pb_top_k_leaders(top, flags)


cdef void threshold_begin(pb_threshold *t) noexcept nogil:
    pb_threshold_begin(t)


cdef pb_status threshold_add(pb_threshold *t, const double *const *rows,
                             int64_t n_rows) noexcept nogil:
    return pb_threshold_add(t, rows, n_rows)


cdef void confidence_init(pb_confidence *confidence, pb_confidence_method method, double population,
                          double alpha, const double *bets, int64_t n_bets,
                          int bounded) noexcept nogil:
    pb_confidence_init(confidence, method, population, alpha, bets, n_bets, bounded)


cdef void confidence_add(pb_confidence *confidence, const double *values, int64_t n, double *lower,
                         double *upper) noexcept nogil:
    pb_confidence_add(confidence, values, n, lower, upper)


cdef int confidence_agrees(const pb_confidence *confidence, const double *values) noexcept nogil:
    return pb_confidence_agrees(confidence, values)


cdef void round_robin_begin(pb_round_robin *ring, int64_t n_arms) noexcept nogil:
    pb_round_robin_begin(ring, n_arms)


cdef pb_batch round_robin_next(const pb_round_robin *ring, int64_t size,
                               int64_t repeats) noexcept nogil:
    return pb_round_robin_next(ring, size, repeats)


cdef void round_robin_pulled(pb_round_robin *ring, int64_t n_pulls) noexcept nogil:
    pb_round_robin_pulled(ring, n_pulls)


cdef int64_t round_robin_pulls(const pb_round_robin *ring, int64_t arm) noexcept nogil:
    return pb_round_robin_pulls(ring, arm)


cdef void round_robin_add(pb_round_robin *ring, int64_t arm) noexcept nogil:
    pb_round_robin_add(ring, arm)


cdef void round_robin_keep(pb_round_robin *ring, const unsigned char *flags) noexcept nogil:
    pb_round_robin_keep(ring, flags)


cdef double scan_largest(const double *values, int64_t n) noexcept nogil:
    return pb_scan_largest(values, n)


cdef double scan_least(const double *values, int64_t n) noexcept nogil:
    return pb_scan_least(values, n)


cdef double scan_sum(const double *values, int64_t n) noexcept nogil:
    return pb_scan_sum(values, n)


cdef pb_two scan_two(const double *values, int64_t n) noexcept nogil:
    return pb_scan_two(values, n)


cdef int64_t scan_position(const double *values, int64_t n, double value,
                           int64_t other) noexcept nogil:
    return pb_scan_position(values, n, value, other)


cdef int64_t scan_above(const double *values, int64_t n, int64_t start,
                        double level) noexcept nogil:
    return pb_scan_above(values, n, start, level)


cdef int64_t scan_index(const double *centres, const double *roots, const double *slopes,
                        double factor, double top, int64_t n, double *indices) noexcept nogil:
    return pb_scan_index(centres, roots, slopes, factor, top, n, indices)


cdef double kl(double p, double q) noexcept nogil:
    return pb_kl(p, q)


cdef double kl_upper(double mean, double level) noexcept nogil:
    return pb_kl_upper(mean, level)


cdef double kl_lower(double mean, double level) noexcept nogil:
    return pb_kl_lower(mean, level)


cdef double kl_upper_tail(double mean, double level) noexcept nogil:
    return pb_kl_upper_tail(mean, level)


cdef double kl_round(double t) noexcept nogil:
    return pb_kl_round(t)


cdef void ranking_sort(const int64_t *arms, int64_t n, const double *means, pb_ranked *out,
                       pb_ranked *memory) noexcept nogil:
    pb_ranking_sort(arms, n, means, out, memory)


cdef void bitgen_gumbel_many(pb_bitgen *bitgen, int64_t n, double *out) noexcept nogil:
    pb_bitgen_gumbel_many(bitgen, n, out)


cdef double bounds_normal(double n, double population, double std, double boundary) noexcept nogil:
    return pb_bounds_normal(n, population, std, boundary)


cdef void bounds_bernstein_serfling_terms(double n, double population, double delta, double *scale,
                                          double *slack) noexcept nogil:
    pb_bounds_bernstein_serfling_terms(n, population, delta, scale, slack)


cdef double bounds_bernstein_serfling(double n, double population, double std, double value_range,
                                      double delta) noexcept nogil:
    return pb_bounds_bernstein_serfling(n, population, std, value_range, delta)


cdef double bounds_normal_tail(double z) noexcept nogil:
    return pb_bounds_normal_tail(z)


cdef double bounds_normal_tail_inverse(double p) noexcept nogil:
    return pb_bounds_normal_tail_inverse(p)


cdef void heap_build(pb_heap *heap) noexcept nogil:
    pb_heap_build(heap)


cdef void heap_replace_root(pb_heap *heap, double key) noexcept nogil:
    pb_heap_replace_root(heap, key)
