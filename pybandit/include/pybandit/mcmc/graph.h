#ifndef PYBANDIT_GRAPH_H
#define PYBANDIT_GRAPH_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"
#include "pybandit/mcmc/alias.h"
#include "pybandit/racing/pairwise.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Discrete variables tied in pairs by one table, as in Potts and Ising models:
 *   log p(x) = sum over v of log_prior[v][x_v] + sum over pairs w_vu table[x_v][x_u].
 * Read only: many chains share it.
 */
typedef struct {
    int64_t n_variables;        /* below 2^31 */
    int64_t n_states;
    const double *table;        /* symmetric, (n_states, n_states), finite */
    const int64_t *begins;      /* n_variables + 1: where the neighbours of v begin, and end */
    const int32_t *neighbours;  /* u stands among those of v as often as v among those of u, */
    const double *weights;      /* with the same weight; NULL: all 1 */
    const double *log_prior;    /* (n_variables, n_states), or NULL: 0 */
} pb_graph;

/* The factors of one variable given all others. */
void pb_graph_factors(const pb_graph *graph, int64_t variable, const int64_t *values,
                      pb_pairwise *factors);

/* The numbers of `work` of both draws. */
static inline int64_t pb_graph_memory(const pb_graph *graph) { return 6 * graph->n_states; }

/* A state of v given all others, by sums of all its factors. O(degree + n_states^2). */
int64_t pb_graph_draw(const pb_graph *graph, int64_t variable, const int64_t *values,
                      pb_bitgen *bitgen, double *work);

typedef int64_t (*pb_count_draw)(pb_bitgen *bitgen, double mean);

/* What the next draw needs beside the graph; a chain has its own, for `logs`. */
typedef struct {
    pb_count_draw poisson;  /* draws from the bit generator */
    const double *masses;   /* of each variable: the sum of its |weights| */
    const pb_alias *alias;  /* over the |weights| of each, in their order; NULL: all 1 */
    const double *low;      /* the least and the largest entry of each row of the table */
    const double *high;
    double spread;          /* the largest difference of these two */
    double rate;            /* above 0 */
    double total;           /* for which `logs` are made; begins as -1 */
    double *logs;           /* 2 * n_states^2 */
    int64_t *kept;          /* 2 * n_states */
    int64_t n_read;         /* factors that the latest draw looked at */
} pb_graph_counts;

/*
 * A state of v from a kernel that keeps its law given all others as it is, and reads about
 * rate L^2 + L of its factors, L = mass * spread (Poisson-Gibbs, Zhang & De Sa 2019).
 * values[v] counts: this is no independent draw. O(rate L^2 + L + n_states^2).
 */
int64_t pb_graph_draw_counts(const pb_graph *graph, pb_graph_counts *counts, int64_t variable,
                             const int64_t *values, pb_bitgen *bitgen, double *work);

#ifdef __cplusplus
}
#endif

#endif
