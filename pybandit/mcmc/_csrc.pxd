"""The kernels of csrc/mcmc, declared for Cython; contracts in include/pybandit/mcmc."""

from libc.stdint cimport int32_t, int64_t

from pybandit._shared._csrc cimport pb_bitgen, pb_status
from pybandit.racing._csrc cimport pb_accept, pb_factors, pb_pairwise


cdef extern from "pybandit/mcmc/alias.h" nogil:
    ctypedef struct pb_alias:
        double share
        int64_t other

    double pb_alias_build(const double *weights, int64_t stride, int64_t n, pb_alias *table,
                          int64_t *work) noexcept
    int64_t pb_alias_draw(const pb_alias *table, int64_t n, pb_bitgen *bitgen) noexcept


cdef extern from "pybandit/mcmc/glm.h" nogil:
    ctypedef enum pb_glm_family:
        PB_GLM_LOGISTIC
        PB_GLM_PROBIT
        PB_GLM_STUDENT
        PB_GLM_POISSON

    ctypedef struct pb_glm:
        pb_glm_family family
        int64_t n_rows
        int64_t n_parameters
        const double *features
        const double *labels
        const double *trials
        double df
        double scale
        double radius

    ctypedef struct pb_glm_row:
        double bound
        double third
        double anchor
        double weight

    double pb_glm_third(const pb_glm *glm) noexcept
    void pb_glm_sums(const pb_glm *glm, int64_t begin, int64_t end, int64_t stride, int is_safe,
                     const double *theta, double *value, double *gradient,
                     double *hessian) noexcept
    void pb_glm_anchor(const pb_glm *glm, int64_t begin, int64_t end, const double *mode,
                       const double *factor, pb_glm_row *rows, double *work) noexcept
    double pb_glm_remainder(const pb_glm *glm, const pb_glm_row *row, double change) noexcept
    double pb_glm_rounding(const pb_glm *glm, const pb_glm_row *row, double change) noexcept


cdef extern from "pybandit/mcmc/moves.h" nogil:
    ctypedef enum pb_move_kind:
        PB_MOVE_WALK
        PB_MOVE_AUTOREGRESSIVE

    ctypedef struct pb_move:
        pb_move_kind kind
        const double *factor
        const double *center
        double below
        double target
        double scale
        int64_t n_adapted

    ctypedef double (*pb_normal_draw)(void *bitgen) noexcept nogil


cdef extern from "pybandit/mcmc/minibatch.h" nogil:
    ctypedef enum pb_minibatch_test:
        PB_MINIBATCH_FACTORISED
        PB_MINIBATCH_AUXILIARY

    ctypedef enum pb_minibatch_form:
        PB_MINIBATCH_LINE
        PB_MINIBATCH_SPACE
        PB_MINIBATCH_OWN

    ctypedef struct pb_minibatch:
        pb_glm glm
        const pb_glm_row *rows
        const pb_alias *alias
        double total
        const double *mode
        const double *factor
        const double *slope
        pb_minibatch_test test
        double gamma
        double most
        double radius
        pb_minibatch_form form

    ctypedef int64_t (*pb_poisson_draw)(void *bitgen, double mean) noexcept nogil

    ctypedef struct pb_own_rows:
        pb_factors factors
        double *points
        double slack
        int (*spread)(void *data, double *out) noexcept nogil
        void *spread_data

    ctypedef struct pb_chain:
        const pb_minibatch *problem
        pb_move *moves
        int64_t n_moves
        pb_normal_draw normal
        pb_poisson_draw poisson
        int adapts
        pb_own_rows *own
        double *z
        double *point
        double *next_z
        double *next_point
        double *work
        int64_t n_accepted
        int64_t n_evaluations
        int64_t n_exact
        int64_t bad_row
        double bad_difference
        double bad_bound

    int64_t pb_chain_memory(int64_t n_parameters) noexcept
    void pb_chain_place(pb_chain *chain) noexcept
    pb_status pb_chain_step(pb_chain *chain, pb_bitgen *bitgen) noexcept
    double pb_minibatch_spread(const double *z, const double *next, int64_t d) noexcept
    double pb_minibatch_spread_any(const double *z, const double *next, int64_t d) noexcept


cdef extern from "pybandit/mcmc/race_chain.h" nogil:
    ctypedef int (*pb_log_prior)(const double *theta, void *data, double *out) noexcept nogil
    ctypedef double (*pb_exponential_draw)(void *bitgen) noexcept nogil

    ctypedef struct pb_race_chain:
        int64_t n_parameters
        pb_accept *test
        pb_move *moves
        int64_t n_moves
        int adapts
        pb_normal_draw normal
        pb_exponential_draw exponential
        const double *precision
        pb_log_prior log_prior
        void *prior_data
        const double *center
        const double *gradient
        const double *hessian
        const double *inverse
        int is_line
        double largest
        double slack
        double *points
        double *work
        double *start
        double *farthest
        double log_density
        int64_t n_steps
        int64_t n_accepted
        int64_t n_looks
        int64_t n_evaluations
        int64_t n_exact

    pb_status pb_race_chain_begin(pb_race_chain *chain) noexcept
    pb_status pb_race_chain_step(pb_race_chain *chain, pb_bitgen *bitgen, int *is_test) noexcept


cdef extern from "pybandit/mcmc/graph.h" nogil:
    ctypedef struct pb_graph:
        int64_t n_variables
        int64_t n_states
        const double *table
        const int64_t *begins
        const int32_t *neighbours
        const double *weights
        const double *log_prior

    ctypedef int64_t (*pb_count_draw)(pb_bitgen *bitgen, double mean) noexcept nogil

    ctypedef struct pb_graph_counts:
        pb_count_draw poisson
        const double *masses
        const pb_alias *alias
        const double *low
        const double *high
        double spread
        double rate
        double total
        double *logs
        int64_t *kept
        int64_t n_read

    void pb_graph_factors(const pb_graph *graph, int64_t variable, const int64_t *values,
                          pb_pairwise *factors) noexcept
    int64_t pb_graph_memory(const pb_graph *graph) noexcept
    int64_t pb_graph_draw(const pb_graph *graph, int64_t variable, const int64_t *values,
                          pb_bitgen *bitgen, double *work) noexcept
    int64_t pb_graph_draw_counts(const pb_graph *graph, pb_graph_counts *counts,
                                 int64_t variable, const int64_t *values, pb_bitgen *bitgen,
                                 double *work) noexcept
