"""The kernels of csrc/policies, declared for Cython; contracts in include/pybandit/policies."""

from libc.stdint cimport int64_t, uint64_t

from pybandit._shared._csrc cimport pb_bitgen


cdef extern from "pybandit/policies/protocol/round_robin.h" nogil:
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
    int64_t pb_round_robin_pulls(const pb_round_robin *ring, int64_t arm) noexcept
    void pb_round_robin_add(pb_round_robin *ring, int64_t arm) noexcept
    void pb_round_robin_keep(pb_round_robin *ring, const unsigned char *flags) noexcept
    pb_batch pb_batch_one(const int64_t *arm) noexcept
    int64_t pb_batch_count(const pb_batch *batch, int64_t position) noexcept


cdef extern from "pybandit/policies/protocol/ranking.h" nogil:
    ctypedef struct pb_ranked:
        uint64_t key
        int64_t arm

    void pb_ranking_sort(const int64_t *arms, int64_t n, const double *means, pb_ranked *out,
                         pb_ranked *memory) noexcept


cdef extern from "pybandit/policies/batch/normal_means.h" nogil:
    ctypedef struct pb_seen:
        const int64_t *pulls
        const double *sums
        const double *deviations

    ctypedef struct pb_normal_means:
        int64_t n
        const double *prior
        double noise
        double *means
        double *variances
        double *keys
        int64_t *line
        pb_ranked *ranked

    double pb_normal_means_fit(pb_normal_means *fit, const pb_seen *seen) noexcept


cdef extern from "pybandit/policies/batch/screening.h" nogil:
    ctypedef struct pb_screening:
        int64_t k
        int64_t size
        int64_t repeats
        const int64_t *order
        pb_normal_means belief
        int64_t *planned
        int64_t *limits
        double *slopes
        double *ends
        int64_t *counts
        int64_t *chosen
        int64_t *wells
        int64_t n_chosen

    int64_t pb_screening_near(int64_t n, int64_t size) noexcept
    int64_t pb_screening_levels(int64_t most) noexcept
    void pb_screening_choose(pb_screening *screen, const pb_seen *seen,
                             int64_t batches_left) noexcept
    void pb_screening_list(pb_screening *screen) noexcept


cdef extern from "pybandit/policies/batch/batch_sar.h" nogil:
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


cdef extern from "pybandit/policies/batch/batch_racing.h" nogil:
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
        const unsigned char *aside
        int64_t n_open
        int64_t n_batches
        int64_t n_aside
        int64_t n_fallen
        double reject_below
        double accept_above
        int moved
        int done

    double pb_batch_racing_deviation(int64_t pulls, double omega) noexcept
    void pb_batch_racing_drop_silent(pb_batch_racing *race) noexcept
    void pb_batch_racing_take_back(pb_batch_racing *race, int64_t arm,
                                   const int64_t *pulls, const double *sums) noexcept
    int pb_batch_racing_waits(const pb_batch_racing *race) noexcept
    void pb_batch_racing_end(pb_batch_racing *race) noexcept
    void pb_batch_racing_begin(pb_batch_racing *race) noexcept
    pb_batch pb_batch_racing_next(const pb_batch_racing *race) noexcept
    void pb_batch_racing_advance(pb_batch_racing *race, const int64_t *pulls,
                                 const double *sums) noexcept


cdef extern from "pybandit/policies/protocol/scan.h" nogil:
    ctypedef struct pb_two:
        double first
        double second

    double pb_scan_largest(const double *values, int64_t n) noexcept
    double pb_scan_least(const double *values, int64_t n) noexcept
    double pb_scan_sum(const double *values, int64_t n) noexcept
    pb_two pb_scan_two(const double *values, int64_t n) noexcept
    int64_t pb_scan_position(const double *values, int64_t n, double value,
                             int64_t other) noexcept
    int64_t pb_scan_above(const double *values, int64_t n, int64_t start, double level) noexcept
    int64_t pb_scan_index(const double *centres, const double *roots, const double *slopes,
                          double factor, double top, int64_t n, double *indices) noexcept


cdef extern from "pybandit/policies/protocol/kl.h" nogil:
    double pb_kl(double p, double q) noexcept
    double pb_kl_upper(double mean, double level) noexcept
    double pb_kl_lower(double mean, double level) noexcept
    double pb_kl_upper_tail(double mean, double level) noexcept
    double pb_kl_round(double t) noexcept


cdef extern from "pybandit/policies/regret/kl_index.h" nogil:
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


cdef extern from "pybandit/policies/stopping/glr.h" nogil:
    ctypedef enum pb_glr_law:
        PB_GLR_GAUSSIAN
        PB_GLR_BERNOULLI
        PB_GLR_POISSON
        PB_GLR_UNKNOWN

    const double PB_GLR_ROUNDING

    ctypedef struct pb_glr:
        pb_glr_law law
        double precision
        double epsilon
        int is_proven
        double level

    ctypedef struct pb_glr_arm:
        double n
        double mean
        double variance

    double pb_glr_divergence(const pb_glr *glr, double p, double q) noexcept
    double pb_glr_cost(const pb_glr *glr, const pb_glr_arm *arm, double q) noexcept
    double pb_glr_meeting(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b) noexcept
    double pb_glr_statistic(const pb_glr *glr, const pb_glr_arm *a,
                            const pb_glr_arm *b) noexcept
    double pb_glr_margin(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b,
                         double t) noexcept
    int pb_glr_tell(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b,
                    double t) noexcept
    double pb_glr_single(const pb_glr *glr, double n, double z) noexcept
    pb_glr_arm pb_glr_arm_of(int64_t pulls, double sum, double deviations) noexcept
    int64_t pb_glr_doubt(const pb_glr *glr, const int64_t *pulls, const double *sums,
                         const double *deviations, int64_t n_arms, int64_t best, int64_t doubt,
                         double t) noexcept


cdef extern from "pybandit/policies/stopping/wagers.h" nogil:
    enum:
        PB_STAKES
        PB_GAINS

    ctypedef struct pb_wagers_arm:
        const double *gains
        double n
        double mean

    void pb_wagers_add(double *gains, double reward) noexcept
    double pb_wagers_least(const pb_wagers_arm *a, const pb_wagers_arm *b, double epsilon,
                           double enough) noexcept
    int pb_wagers_tell(const double *gains, const int64_t *pulls, const double *sums,
                       double epsilon, double level, int64_t better, int64_t arm) noexcept
    int64_t pb_wagers_doubt(const double *gains, const int64_t *pulls, const double *sums,
                            int64_t n_arms, double epsilon, double level, int64_t best,
                            int64_t doubt) noexcept


cdef extern from "pybandit/policies/confidence/proportions.h" nogil:
    double pb_proportions(const pb_glr *glr, const double *means, int64_t n_arms,
                          double *shares) noexcept


cdef extern from "pybandit/policies/regret/logit_beta.h" nogil:
    ctypedef struct pb_logit:
        double at
        double x
        double y


cdef extern from "pybandit/policies/regret/thompson.h" nogil:
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
        const unsigned char *aside
        pb_logit threshold
        double spent
        double limit
        double all_spent
        int64_t age

    int64_t pb_thompson_chances(int64_t n_arms) noexcept
    void pb_thompson_begin(pb_thompson *thompson) noexcept
    void pb_thompson_add(pb_thompson *thompson, int64_t arm, double gained, double lost) noexcept
    void pb_thompson_look(pb_thompson *thompson, int64_t arm) noexcept
    int64_t pb_thompson_choose(pb_thompson *thompson, pb_bitgen *bitgen) noexcept
    void pb_thompson_place(pb_thompson *thompson, double threshold) noexcept
    int pb_thompson_resume(pb_thompson *thompson, double threshold) noexcept


cdef extern from "pybandit/policies/correlated/gaussian.h" nogil:
    ctypedef struct pb_gaussian:
        int64_t n_arms
        int64_t n_features
        const double *features
        double *means
        double *variances
        double *spread
        double *weights
        double *memory
        double *deviations

    void pb_gaussian_update(pb_gaussian *gaussian, int64_t arm, double reward,
                            double noise_variance) noexcept
    void pb_gaussian_draw(const pb_gaussian *gaussian, const double *z, double scale,
                          double *values) noexcept


cdef extern from "pybandit/policies/correlated/gaussian_lazy.h" nogil:
    ctypedef struct pb_gaussian_lazy:
        pb_gaussian *gaussian
        const double *norms
        double prior_variance
        double *memory
        int64_t *made

    int64_t pb_gaussian_lazy_size(int64_t n_arms, int64_t n_features) noexcept
    void pb_gaussian_lazy_begin(pb_gaussian_lazy *lazy, int64_t n_told) noexcept
    void pb_gaussian_lazy_update(pb_gaussian_lazy *lazy, int64_t arm, double reward,
                                 double noise_variance) noexcept
    void pb_gaussian_lazy_refresh(pb_gaussian_lazy *lazy, int64_t arm) noexcept
    void pb_gaussian_lazy_refresh_all(pb_gaussian_lazy *lazy) noexcept
    int64_t pb_gaussian_lazy_largest(pb_gaussian_lazy *lazy, double factor) noexcept


cdef extern from "pybandit/policies/correlated/gaussian_scores.h" nogil:
    int64_t pb_gaussian_scores_upper(const double *means, const double *variances, int64_t n,
                                     double factor, double *out) noexcept
    int64_t pb_gaussian_scores_probable(const double *means, const double *variances, int64_t n,
                                        double xi, double scale, double *out) noexcept
    int64_t pb_gaussian_scores_expected(const double *means, const double *variances, int64_t n,
                                        double xi, double scale, double *memory) noexcept


cdef extern from "pybandit/policies/correlated/gaussian_gap.h" nogil:
    ctypedef struct pb_gaussian_gap:
        int64_t best
        int64_t rival
        int64_t chosen
        double beta
        double bound

    int64_t pb_gaussian_gap_size(int64_t n_arms) noexcept
    pb_gaussian_gap pb_gaussian_gap_round(const double *means, const double *deviations,
                                          int64_t n, double numerator, double epsilon,
                                          double scale, double *memory) noexcept
