"""The kernels of csrc for compiled code: resolved at import, nothing to link.

Contracts: the headers pybandit/<room>/*.h, under the same names with pb_ before them.
"""

from libc.stdint cimport int64_t, uint32_t

from pybandit._shared._csrc cimport pb_bitgen, pb_heap, pb_status
from pybandit.betting._csrc cimport (
    pb_bets, pb_betting, pb_confidence, pb_confidence_method, pb_threshold, pb_top_k,
)
from pybandit.policies._csrc cimport pb_batch, pb_ranked, pb_round_robin, pb_two
from pybandit.racing._csrc cimport (
    pb_accept, pb_convention, pb_factors, pb_lil, pb_lil_ucb, pb_pairwise, pb_populations,
    pb_quadratic, pb_race, pb_sampler, pb_schedule, pb_subsample, pb_subsample_kind,
)

# pybandit/racing/schedule.h
cdef int64_t schedule_memory(int64_t n_factors, int64_t first_look,
                             double max_fraction) noexcept nogil
cdef pb_status schedule_normal(double delta, pb_convention convention, int64_t n_factors,
                               int64_t n_states, int64_t first_look, double max_fraction,
                               void *memory, pb_schedule *schedule) noexcept nogil

# pybandit/racing/sampler.h
cdef int64_t sampler_memory(const pb_factors *factors, const pb_schedule *schedule,
                            pb_subsample_kind kind) noexcept nogil
cdef void sampler_init(pb_sampler *sampler, const pb_factors *factors, const pb_schedule *schedule,
                       const double *log_prior, pb_subsample_kind kind, void *memory) noexcept nogil
cdef pb_status sampler_draw(pb_sampler *sampler, pb_bitgen *bitgen, int64_t *state) noexcept nogil

# pybandit/racing/race.h
cdef void race_begin(pb_race *race, pb_bitgen *bitgen) noexcept nogil
cdef pb_status race_run(pb_race *race, pb_bitgen *bitgen) noexcept nogil

# pybandit/racing/accept.h
cdef int64_t accept_memory(const pb_factors *factors, pb_subsample_kind kind) noexcept nogil
cdef void accept_init(pb_accept *accept, const pb_factors *factors, const pb_schedule *schedule,
                      pb_subsample_kind kind, void *memory) noexcept nogil
cdef pb_status accept_run(pb_accept *accept, double log_threshold, pb_bitgen *bitgen) noexcept nogil
cdef pb_status accept_decide(pb_accept *accept, double log_threshold, pb_bitgen *bitgen,
                             int64_t *accepted, int64_t *n_evaluations) noexcept nogil

# pybandit/racing/lil_ucb.h
cdef double lil_bonus(const pb_lil *lil, double pulls) noexcept nogil
cdef pb_status lil_ucb_run(pb_lil_ucb *race, pb_bitgen *bitgen) noexcept nogil
cdef pb_status lil_ucb_begin(pb_lil_ucb *race, pb_bitgen *bitgen) noexcept nogil
cdef pb_status lil_ucb_continue(pb_lil_ucb *race, pb_bitgen *bitgen, int64_t n) noexcept nogil

# pybandit/racing/populations.h
cdef int64_t populations_next(int64_t size, int64_t first_look, int64_t n_read) noexcept nogil
cdef pb_status populations_run(pb_populations *race, pb_bitgen *bitgen) noexcept nogil

# pybandit/racing/control.h
cdef int control_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                      int64_t n_states, double *out, void *user_data) noexcept nogil
cdef int control_matrix(const int64_t *factors, int64_t n_factors, const int64_t *states,
                        int64_t n_states, double *out, void *data) noexcept nogil
cdef int control_linear_change(const int64_t *factors, int64_t n_factors, const int64_t *states,
                               int64_t n_states, double *out, void *data) noexcept nogil
cdef double control_quadratic_change(int64_t n_parameters, const double *gradient,
                                     const double *hessian, const double *center,
                                     const double *points) noexcept nogil

# pybandit/racing/pairwise.h
cdef int pairwise_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                       int64_t n_states, double *out, void *user_data) noexcept nogil
cdef int64_t pairwise_totals(const pb_pairwise *pairwise, int64_t n_factors, double *work,
                             double *totals) noexcept nogil

# pybandit/racing/quadratic.h
cdef int quadratic_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                        int64_t n_states, double *out, void *user_data) noexcept nogil
cdef void quadratic_totals(const pb_quadratic *quadratic, int64_t n_factors,
                           double *totals) noexcept nogil

# pybandit/racing/b_normal.h
cdef int64_t b_normal_memory(const double *fractions, int64_t n_looks) noexcept nogil
cdef double b_normal_error(double boundary, const double *fractions, int64_t n_looks,
                           pb_convention convention, double *workspace) noexcept nogil
cdef pb_status b_normal_solve(double delta, const double *fractions, int64_t n_looks,
                              pb_convention convention, double *workspace,
                              double *boundary) noexcept nogil

# pybandit/racing/subsample.h
cdef int64_t subsample_memory(pb_subsample_kind kind, int64_t size, int64_t run) noexcept nogil
cdef void subsample_init(pb_subsample *subsample, pb_subsample_kind kind, int64_t size, int64_t run,
                         uint32_t *memory) noexcept nogil
cdef void subsample_restart(pb_subsample *subsample, pb_bitgen *bitgen) noexcept nogil
cdef void subsample_next(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n,
                         int64_t *out) noexcept nogil

# pybandit/betting/betting.h
cdef int64_t betting_memory(const pb_bets *bets, int64_t n_arms, int hybrid) noexcept nogil
cdef void betting_begin(pb_betting *betting) noexcept nogil
cdef pb_status betting_add(pb_betting *betting, const double *const *rows,
                           int64_t n_rows) noexcept nogil

# pybandit/betting/top_k.h
cdef void top_k_begin(pb_top_k *top) noexcept nogil
cdef pb_status top_k_add(pb_top_k *top, const double *const *rows, int64_t n_rows) noexcept nogil
cdef void top_k_leaders(const pb_top_k *top, unsigned char *flags) noexcept nogil

# pybandit/betting/threshold.h
cdef void threshold_begin(pb_threshold *t) noexcept nogil
cdef pb_status threshold_add(pb_threshold *t, const double *const *rows,
                             int64_t n_rows) noexcept nogil

# pybandit/betting/confidence.h
cdef void confidence_init(pb_confidence *confidence, pb_confidence_method method, double population,
                          double alpha, const double *bets, int64_t n_bets,
                          int bounded) noexcept nogil
cdef void confidence_add(pb_confidence *confidence, const double *values, int64_t n, double *lower,
                         double *upper) noexcept nogil
cdef int confidence_agrees(const pb_confidence *confidence, const double *values) noexcept nogil

# pybandit/policies/protocol/round_robin.h
cdef void round_robin_begin(pb_round_robin *ring, int64_t n_arms) noexcept nogil
cdef pb_batch round_robin_next(const pb_round_robin *ring, int64_t size,
                               int64_t repeats) noexcept nogil
cdef void round_robin_pulled(pb_round_robin *ring, int64_t n_pulls) noexcept nogil
cdef int64_t round_robin_pulls(const pb_round_robin *ring, int64_t arm) noexcept nogil
cdef void round_robin_add(pb_round_robin *ring, int64_t arm) noexcept nogil
cdef void round_robin_keep(pb_round_robin *ring, const unsigned char *flags) noexcept nogil

# pybandit/policies/protocol/scan.h
cdef double scan_largest(const double *values, int64_t n) noexcept nogil
cdef double scan_least(const double *values, int64_t n) noexcept nogil
cdef double scan_sum(const double *values, int64_t n) noexcept nogil
cdef pb_two scan_two(const double *values, int64_t n) noexcept nogil
cdef int64_t scan_position(const double *values, int64_t n, double value,
                           int64_t other) noexcept nogil
cdef int64_t scan_above(const double *values, int64_t n, int64_t start, double level) noexcept nogil
cdef int64_t scan_index(const double *centres, const double *roots, const double *slopes,
                        double factor, double top, int64_t n, double *indices) noexcept nogil

# pybandit/policies/protocol/kl.h
cdef double kl(double p, double q) noexcept nogil
cdef double kl_upper(double mean, double level) noexcept nogil
cdef double kl_lower(double mean, double level) noexcept nogil
cdef double kl_upper_tail(double mean, double level) noexcept nogil
cdef double kl_round(double t) noexcept nogil

# pybandit/policies/protocol/ranking.h
cdef void ranking_sort(const int64_t *arms, int64_t n, const double *means, pb_ranked *out,
                       pb_ranked *memory) noexcept nogil

# pybandit/_shared/bitgen.h
cdef void bitgen_gumbel_many(pb_bitgen *bitgen, int64_t n, double *out) noexcept nogil

# pybandit/_shared/bounds.h
cdef double bounds_normal(double n, double population, double std, double boundary) noexcept nogil
cdef void bounds_bernstein_serfling_terms(double n, double population, double delta, double *scale,
                                          double *slack) noexcept nogil
cdef double bounds_bernstein_serfling(double n, double population, double std, double value_range,
                                      double delta) noexcept nogil
cdef double bounds_normal_tail(double z) noexcept nogil
cdef double bounds_normal_tail_inverse(double p) noexcept nogil

# pybandit/_shared/heap.h
cdef void heap_build(pb_heap *heap) noexcept nogil
cdef void heap_replace_root(pb_heap *heap, double key) noexcept nogil
