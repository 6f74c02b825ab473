"""The C kernels, declared once for Cython. Contracts are in include/pybandit/*.h."""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef extern from "pybandit/status.h" nogil:
    ctypedef enum pb_status:
        PB_OK
        PB_GROW
        PB_NOT_FINITE
        PB_RANGE
        PB_CALLBACK
        PB_NO_SOLUTION


cdef extern from "pybandit/bitgen.h" nogil:
    ctypedef struct pb_bitgen:
        void *state
        uint64_t (*next_uint64)(void *state) noexcept nogil
        uint32_t (*next_uint32)(void *state) noexcept nogil
        double (*next_double)(void *state) noexcept nogil
        uint64_t (*next_raw)(void *state) noexcept nogil

    void pb_bitgen_gumbel_many(pb_bitgen *bitgen, int64_t n, double *out) noexcept


cdef extern from "pybandit/bounds.h" nogil:
    double pb_bounds_normal(double n, double population, double std, double boundary) noexcept
    void pb_bounds_bernstein_serfling_terms(double n, double population, double delta,
                                            double *scale, double *slack) noexcept
    double pb_bounds_bernstein_serfling(double n, double population, double std,
                                        double value_range, double delta) noexcept
    double pb_bounds_normal_tail(double z) noexcept
    double pb_bounds_normal_tail_inverse(double p) noexcept


cdef extern from "pybandit/b_normal.h" nogil:
    ctypedef enum pb_convention:
        PB_ONE_SIDED
        PB_TWO_SIDED
        PB_UNION

    int64_t pb_b_normal_memory(const double *fractions, int64_t n_looks) noexcept
    double pb_b_normal_error(double boundary, const double *fractions, int64_t n_looks,
                             pb_convention convention, double *workspace) noexcept
    pb_status pb_b_normal_solve(double delta, const double *fractions, int64_t n_looks,
                                pb_convention convention, double *workspace,
                                double *boundary) noexcept


cdef extern from "pybandit/confidence.h" nogil:
    ctypedef enum pb_confidence_method:
        PB_CONFIDENCE_BETTING
        PB_CONFIDENCE_BERNSTEIN
        PB_CONFIDENCE_HOEFFDING
        PB_CONFIDENCE_ASYMPTOTIC

    enum:
        PB_CONFIDENCE_BETS

    ctypedef struct pb_confidence:
        int64_t n_bets
        int64_t count
        double lower
        double upper
        double sum[2]
        double bound[2]
        double candidate[2]
        double capital[2][64]
        double gain[64]
        double clock[64]
        double cost[64]
        double mean
        double square

    void pb_confidence_init(pb_confidence *confidence, pb_confidence_method method,
                            double population, double alpha, const double *bets, int64_t n_bets,
                            int bounded) noexcept
    void pb_confidence_add(pb_confidence *confidence, const double *values, int64_t n,
                           double *lower, double *upper) noexcept


cdef extern from "pybandit/factors.h" nogil:
    ctypedef int (*pb_factor_function)(const int64_t *factors, int64_t n_factors,
                                       const int64_t *states, int64_t n_states,
                                       double *out, void *user_data) noexcept nogil
    ctypedef struct pb_factors:
        int64_t n_factors
        int64_t n_states
        const double *matrix
        pb_factor_function function
        void *user_data


cdef extern from "pybandit/control.h" nogil:
    ctypedef struct pb_control:
        pb_factors factors
        pb_factor_function subtract
        void *data

    ctypedef struct pb_control_linear:
        int64_t n_parameters
        const double *features
        const double *slopes
        const double *curvatures
        const double *center
        const double *points

    int pb_control_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                        int64_t n_states, double *out, void *user_data) noexcept
    int pb_control_matrix(const int64_t *factors, int64_t n_factors, const int64_t *states,
                          int64_t n_states, double *out, void *data) noexcept
    int pb_control_linear_change(const int64_t *factors, int64_t n_factors,
                                 const int64_t *states, int64_t n_states, double *out,
                                 void *data) noexcept
    double pb_control_quadratic_change(int64_t n_parameters, const double *gradient,
                                       const double *hessian, const double *center,
                                       const double *points) noexcept


cdef extern from "pybandit/subsample.h" nogil:
    ctypedef enum pb_subsample_kind:
        PB_SUBSAMPLE_PERMUTATION
        PB_SUBSAMPLE_BLOCKS
        PB_SUBSAMPLE_KEYED
        PB_SUBSAMPLE_REJECTION

    ctypedef struct pb_subsample:
        pb_subsample_kind kind
        int64_t size
        int64_t position
        uint32_t *memory
        int64_t run

    int64_t pb_subsample_memory(pb_subsample_kind kind, int64_t size, int64_t run) noexcept
    void pb_subsample_init(pb_subsample *subsample, pb_subsample_kind kind, int64_t size,
                           int64_t run, uint32_t *permutation) noexcept
    void pb_subsample_restart(pb_subsample *subsample, pb_bitgen *bitgen) noexcept
    void pb_subsample_next(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n,
                           int64_t *out) noexcept


cdef extern from "pybandit/moments.h" nogil:
    ctypedef struct pb_moments:
        int64_t count

    void pb_moments_stream(const double *matrix, int64_t n_rows, int64_t stride,
                           const int64_t *columns, int64_t n_columns, double *sum) noexcept


cdef extern from "pybandit/bets.h" nogil:
    ctypedef enum pb_mixture:
        PB_MIX_PRODUCT
        PB_MIX_EBMIX

    ctypedef struct pb_bets:
        pb_mixture mixture
        int64_t n_bets
        const double *bets
        const double *shares
        const double *psi

    ctypedef struct pb_items:
        int64_t n_items
        double low
        double high
        double range

    int PB_MOST_BETS
    int64_t pb_bets_memory(const pb_bets *bets) noexcept


cdef extern from "pybandit/pairs.h" nogil:
    ctypedef struct pb_pairs:
        pb_bets bets
        pb_items items
        double slack
        double threshold
        int64_t n_slots
        double *memory
        unsigned char *claims


cdef extern from "pybandit/betting.h" nogil:
    ctypedef struct pb_betting:
        pb_bets bets
        pb_items items
        double threshold
        int hybrid
        pb_pairs *near
        int64_t near_slots
        double near_error
        int64_t n_arms
        double *memory
        double *scores
        double *rewards
        int64_t *arms
        int64_t *columns
        int64_t *slots
        unsigned char *gone
        int64_t n_alive
        int64_t leader
        int64_t runner_up
        int64_t n_read
        int64_t n_evaluations
        int near_begun
        int decided
        int64_t bad_row

    int64_t pb_betting_memory(const pb_bets *bets, int64_t n_arms, int hybrid) noexcept
    void pb_betting_begin(pb_betting *betting) noexcept
    pb_status pb_betting_add(pb_betting *betting, const double *const *rows,
                             int64_t n_rows) noexcept


cdef extern from "pybandit/top_k.h" nogil:
    ctypedef struct pb_top_k:
        int64_t n_arms
        int64_t k
        pb_pairs beats
        pb_pairs near
        int64_t *verdicts
        int64_t *arms
        int64_t *columns
        double *sums
        double *rewards
        unsigned char *inside
        int64_t n_open
        int64_t n_accepted
        int64_t n_rejected
        int64_t n_read
        int64_t n_evaluations
        int decided
        int64_t bad_row

    void pb_top_k_begin(pb_top_k *top) noexcept
    pb_status pb_top_k_add(pb_top_k *top, const double *const *rows, int64_t n_rows) noexcept
    void pb_top_k_leaders(const pb_top_k *top, unsigned char *flags) noexcept


cdef extern from "pybandit/threshold.h" nogil:
    ctypedef struct pb_threshold:
        pb_bets bets
        pb_items items
        double tau
        double slack
        double threshold
        int64_t n_arms
        double *memory
        int64_t *verdicts
        int64_t *arms
        int64_t *columns
        double *sums
        int64_t n_open
        int64_t n_read
        int64_t n_evaluations
        int decided
        int64_t bad_row

    void pb_threshold_begin(pb_threshold *t) noexcept
    pb_status pb_threshold_add(pb_threshold *t, const double *const *rows,
                               int64_t n_rows) noexcept


cdef extern from "pybandit/race.h" nogil:
    ctypedef struct pb_schedule:
        int64_t n_looks
        const int64_t *rows
        const double *scale
        const double *slack

    ctypedef struct pb_race:
        pb_factors factors
        pb_schedule schedule
        pb_subsample *subsample
        const double *offsets
        int pairwise
        const double *ranges
        double difference_range
        pb_betting *betting
        int64_t *states
        int64_t *kept
        double *moments_memory
        int64_t *indices
        int64_t indices_capacity
        double *rewards
        int64_t rewards_capacity
        int64_t n_alive
        pb_moments moments
        double *low
        double *high
        int64_t needed_indices
        int64_t needed_rewards
        int64_t called_at
        int64_t called_rows
        const double *refused
        int64_t winner
        int64_t n_looks
        int64_t n_evaluations
        int exact

    void pb_race_begin(pb_race *race, pb_bitgen *bitgen) noexcept
    pb_status pb_race_run(pb_race *race, pb_bitgen *bitgen) noexcept


cdef extern from "pybandit/column.h" nogil:
    ctypedef struct pb_column:
        int64_t count
        double low
        double high


cdef extern from "pybandit/accept.h" nogil:
    ctypedef struct pb_accept:
        pb_factors factors
        pb_schedule schedule
        pb_subsample *subsample
        double range
        pb_threshold *betting
        int64_t block
        int64_t *indices
        double *ratios
        int accepted
        int exact
        int64_t n_looks
        int64_t n_evaluations
        pb_column column
        int64_t bad_factor
        double bad_ratio

    pb_status pb_accept_run(pb_accept *accept, double log_threshold,
                            pb_bitgen *bitgen) noexcept


cdef extern from "pybandit/populations.h" nogil:
    ctypedef struct pb_populations:
        int64_t n_arms
        const int64_t *sizes
        const double *const *values
        pb_factor_function function
        void *user_data
        const double *offsets
        double boundary
        int64_t first_look
        pb_subsample *subsamples
        int64_t block
        int64_t *indices
        double *rewards
        int64_t *alive
        pb_column *columns
        int64_t winner
        int64_t n_looks
        int64_t n_evaluations
        int exact
        int64_t bad_factor
        double bad_reward

    int64_t pb_populations_next(int64_t size, int64_t first_look, int64_t n_read) noexcept
    pb_status pb_populations_run(pb_populations *race, pb_bitgen *bitgen) noexcept


cdef extern from "pybandit/schedule.h" nogil:
    int64_t pb_schedule_memory(int64_t n_factors, int64_t first_look,
                               double max_fraction) noexcept
    pb_status pb_schedule_normal(double delta, pb_convention convention, int64_t n_factors,
                                 int64_t n_states, int64_t first_look, double max_fraction,
                                 void *memory, pb_schedule *schedule) noexcept


cdef extern from "pybandit/sampler.h" nogil:
    ctypedef struct pb_sampler:
        pb_race race
        pb_subsample subsample
        const double *log_prior
        const double *totals
        double *offsets
        int (*grow)(pb_race *race) noexcept nogil

    int64_t pb_sampler_memory(const pb_factors *factors, const pb_schedule *schedule,
                              pb_subsample_kind kind) noexcept
    void pb_sampler_init(pb_sampler *sampler, const pb_factors *factors,
                         const pb_schedule *schedule, const double *log_prior,
                         pb_subsample_kind kind, void *memory) noexcept
    pb_status pb_sampler_draw(pb_sampler *sampler, pb_bitgen *bitgen, int64_t *state) noexcept


cdef extern from "pybandit/round_robin.h" nogil:
    ctypedef struct pb_batch:
        const int64_t *arms
        int64_t n_arms
        int64_t first
        int64_t n_pulls
        const int64_t *counts

    ctypedef struct pb_round_robin:
        int64_t *arms
        int64_t n_arms
        int64_t cursor
        int64_t rounds

    void pb_round_robin_begin(pb_round_robin *ring, int64_t n_arms) noexcept
    pb_batch pb_round_robin_next(const pb_round_robin *ring, int64_t size,
                                 int64_t repeats) noexcept
    void pb_round_robin_pulled(pb_round_robin *ring, int64_t n_pulls) noexcept
    void pb_round_robin_keep(pb_round_robin *ring, const unsigned char *flags) noexcept
    pb_batch pb_batch_one(const int64_t *arm) noexcept
    int64_t pb_batch_count(const pb_batch *batch, int64_t position) noexcept


cdef extern from "pybandit/ranking.h" nogil:
    ctypedef struct pb_ranked:
        uint64_t key
        int64_t arm

    void pb_ranking_sort(const int64_t *arms, int64_t n, const double *means, pb_ranked *out,
                         pb_ranked *memory) noexcept


cdef extern from "pybandit/batch_sar.h" nogil:
    ctypedef struct pb_batch_sar:
        int64_t n
        int64_t k
        int64_t size
        int64_t repeats
        int64_t max_batches
        int improved
        int lower_index
        pb_round_robin ring
        double *harmonic
        int64_t *ceilings
        unsigned char *alive
        unsigned char *accepted
        double *means
        pb_ranked *ranked
        int64_t n_tilde
        int64_t r_tilde
        int64_t n_left
        int64_t n_behind
        int64_t n_open
        int64_t n_batches
        int64_t removed_pulls
        int done

    int64_t pb_batch_sar_least(int64_t n, int64_t size, int64_t repeats) noexcept
    void pb_batch_sar_begin(pb_batch_sar *sar) noexcept
    pb_batch pb_batch_sar_next(const pb_batch_sar *sar) noexcept
    void pb_batch_sar_advance(pb_batch_sar *sar, const int64_t *pulls,
                              const double *sums) noexcept


cdef extern from "pybandit/batch_racing.h" nogil:
    ctypedef struct pb_batch_racing:
        int64_t n
        int64_t k
        int64_t size
        int64_t repeats
        double omega
        double scale
        pb_round_robin ring
        double *lower
        double *upper
        double *scratch
        unsigned char *alive
        unsigned char *accepted
        int64_t n_open
        int64_t n_batches
        double reject_below
        double accept_above
        int moved
        int done

    double pb_batch_racing_deviation(int64_t pulls, double omega) noexcept
    void pb_batch_racing_begin(pb_batch_racing *race) noexcept
    pb_batch pb_batch_racing_next(const pb_batch_racing *race) noexcept
    void pb_batch_racing_advance(pb_batch_racing *race, const int64_t *pulls,
                                 const double *sums) noexcept


cdef extern from "pybandit/variance.h" nogil:
    double pb_variance(int64_t pulls, double sum, double deviation) noexcept
    double pb_variance_least(const int64_t *pulls, const double *sums, const double *deviations,
                             int64_t n_arms) noexcept

    ctypedef struct pb_spreads:
        int64_t n_arms
        const int64_t *pulls
        const double *sums
        const double *deviations
        const double *cost_sums

    ctypedef double (*pb_gamma_source)(void *state, double shape) noexcept nogil

    int64_t pb_spreads_optimistic(const pb_spreads *spreads, double t) noexcept
    int64_t pb_spreads_drawn(const pb_spreads *spreads, pb_gamma_source gamma,
                             void *state) noexcept
    int64_t pb_spreads_lacking(const pb_spreads *spreads, const int64_t *asked,
                               int64_t n_decisions) noexcept


cdef extern from "pybandit/heap.h" nogil:
    ctypedef struct pb_heap:
        double *keys
        int64_t *arms
        int64_t n

    void pb_heap_build(pb_heap *heap) noexcept
    void pb_heap_replace_root(pb_heap *heap, double key) noexcept


cdef extern from "pybandit/lil_ucb.h" nogil:
    ctypedef struct pb_lil:
        double delta
        double epsilon
        double beta
        double lambda_ "lambda"
        double radius

    ctypedef struct pb_lil_ucb:
        pb_factors factors
        const double *offsets
        const double *ranges
        pb_lil lil
        pb_subsample *subsamples
        double *sums
        double *low
        double *high
        int64_t *pulls
        pb_heap heap
        int64_t winner
        int64_t n_pulls
        int exact
        int64_t factor
        double reward

    pb_status pb_lil_ucb_run(pb_lil_ucb *race, pb_bitgen *bitgen) noexcept


cdef extern from "pybandit/scan.h" nogil:
    ctypedef struct pb_two:
        double first
        double second

    double pb_scan_largest(const double *values, int64_t n) noexcept
    double pb_scan_least(const double *values, int64_t n) noexcept
    double pb_scan_sum(const double *values, int64_t n) noexcept
    pb_two pb_scan_two(const double *values, int64_t n) noexcept
    int64_t pb_scan_position(const double *values, int64_t n, double value,
                             int64_t other) noexcept
    int64_t pb_scan_index(const double *centres, const double *roots, const double *slopes,
                          double factor, double top, int64_t n, double *indices) noexcept


cdef extern from "pybandit/kl.h" nogil:
    double pb_kl_upper(double mean, double level) noexcept
    double pb_kl_lower(double mean, double level) noexcept
    double pb_kl_round(double t) noexcept


cdef extern from "pybandit/kl_index.h" nogil:
    ctypedef struct pb_kl_index:
        int64_t n
        const double *scales
        double *means
        double *pulls
        double *bases
        double *roots
        double *slopes
        double *bounds

    void pb_kl_index_begin(pb_kl_index *index) noexcept
    void pb_kl_index_update(pb_kl_index *index, int64_t arm, double mean, double pulls,
                            double f) noexcept
    int64_t pb_kl_index_choose(pb_kl_index *index, double f) noexcept


cdef extern from "pybandit/logit_beta.h" nogil:
    ctypedef struct pb_logit:
        double at
        double x
        double y


cdef extern from "pybandit/thompson.h" nogil:
    ctypedef enum pb_thompson_law:
        PB_THOMPSON_BETA
        PB_THOMPSON_GAUSSIAN

    ctypedef struct pb_thompson_arm:
        double gained
        double lost
        double below
        double density

    ctypedef struct pb_thompson:
        pb_thompson_law law
        double alpha
        double beta
        int64_t n_arms
        pb_thompson_arm *arms
        double *chances
        pb_logit threshold
        double spent
        double limit
        double all_spent
        int64_t age

    int64_t pb_thompson_chances(int64_t n_arms) noexcept
    void pb_thompson_begin(pb_thompson *thompson) noexcept
    void pb_thompson_add(pb_thompson *thompson, int64_t arm, double gained, double lost) noexcept
    int64_t pb_thompson_choose(pb_thompson *thompson, pb_bitgen *bitgen) noexcept
    void pb_thompson_place(pb_thompson *thompson, double threshold) noexcept
    int pb_thompson_resume(pb_thompson *thompson, double threshold) noexcept


cdef extern from "pybandit/cir.h" nogil:
    ctypedef struct pb_cir:
        double eta
        double kappa
        double sigma
        double initial
        double step
        int64_t n_steps
        double strike
        double notional

    ctypedef double (*pb_normal_source)(void *state) noexcept nogil

    double pb_cir_path(const pb_cir *cir, double drift, pb_normal_source normal, void *state,
                       double *brownian) noexcept
    double pb_cir_weighted(const pb_cir *cir, double drift, pb_normal_source normal,
                           void *state) noexcept


cdef extern from "pybandit/annealing.h" nogil:
    ctypedef struct pb_annealing:
        int64_t n_rows
        int64_t n_features
        const double *columns
        double prior_variance
        double width

    double pb_annealing_log_likelihood(const double *margins, const double *column, double step,
                                       int64_t n) noexcept
    void pb_annealing_margins(const pb_annealing *annealing, int64_t n_data, const double *theta,
                              double *margins) noexcept
    double pb_annealing_run(const pb_annealing *annealing, int64_t n, double *theta,
                            double *margins, pb_bitgen *bitgen, int64_t *n_evaluations) noexcept


cdef extern from "pybandit/gaussian.h" nogil:
    ctypedef struct pb_gaussian:
        int64_t n_arms
        int64_t n_features
        const double *features
        double *means
        double *variances
        double *spread
        double *weights
        double *memory

    void pb_gaussian_update(pb_gaussian *gaussian, int64_t arm, double reward,
                            double noise_variance) noexcept
    void pb_gaussian_draw(const pb_gaussian *gaussian, const double *z, double scale,
                          double *values) noexcept


cdef extern from "pybandit/gaussian_scores.h" nogil:
    ctypedef struct pb_gaussian_gap:
        int64_t best
        int64_t rival
        int64_t chosen
        double beta
        double bound

    int64_t pb_gaussian_scores_upper(const double *means, const double *variances, int64_t n,
                                     double factor, double *out) noexcept
    int64_t pb_gaussian_scores_probable(const double *means, const double *variances, int64_t n,
                                        double xi, double scale, double *out) noexcept
    int64_t pb_gaussian_scores_expected(const double *means, const double *variances, int64_t n,
                                        double xi, double scale, double *memory) noexcept
    pb_gaussian_gap pb_gaussian_scores_gap(const double *means, const double *variances,
                                           int64_t n, double numerator, double epsilon,
                                           double scale, double *memory) noexcept
