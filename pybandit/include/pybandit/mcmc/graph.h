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
 * Discrete variables that interact in pairs through one table, as in Potts and Ising models:
 *   log p(x) = sum over v of log_prior[v][x_v] + sum over pairs w_vu table[x_v][x_u].
 * Read only; many chains can share it.
 */
typedef struct {
    int64_t n_variables;        /* below 2^31 */
    int64_t n_states;
    const double *table;        /* symmetric, (n_states, n_states), finite */
    const int64_t *begins;      /* n_variables + 1: index of v's first neighbour; end of v - 1 */
    const int32_t *neighbours;  /* if u is in the list of v k times, v is in that of u k times */
    const double *weights;      /* w_vu = w_uv, one per neighbour; NULL: all 1 */
    const double *log_prior;    /* (n_variables, n_states); NULL: all 0 */
} pb_graph;

/* Writes the factors of one variable given all others. */
void pb_graph_factors(const pb_graph *graph, int64_t variable, const int64_t *values,
                      pb_pairwise *factors);

/* Returns the number of values that `work` must hold in both draws. */
static inline int64_t pb_graph_memory(const pb_graph *graph) { return 6 * graph->n_states; }

/* Returns a state of v drawn given all others, from all its factors. O(degree + n_states^2). */
int64_t pb_graph_draw(const pb_graph *graph, int64_t variable, const int64_t *values,
                      pb_bitgen *bitgen, double *work);

typedef int64_t (*pb_count_draw)(pb_bitgen *bitgen, double mean);

/* Data of pb_graph_draw_counts besides the graph. Each chain has its own, because of `logs`. */
typedef struct {
    pb_count_draw poisson;  /* draws from the bit generator */
    const double *masses;   /* for each variable: the sum of its |weights| */
    const pb_alias *alias;  /* a table per variable, of its |weights|; NULL: all 1 */
    const double *low;      /* smallest and largest entry of each row of the table */
    const double *high;
    double spread;          /* largest high - low of a row */
    double rate;            /* above 0 */
    double total;           /* L for which `logs` was computed; initially -1 */
    double *logs;           /* 2 * n_states^2 */
    int64_t *kept;          /* 2 * n_states */
    int64_t n_read;         /* factors read by the latest draw */
} pb_graph_counts;

/*
 * Returns a state of v drawn from a kernel that leaves its distribution given all others
 * invariant and reads about rate L^2 + L of its factors, L = mass * spread (Poisson-Gibbs,
 * Zhang & De Sa 2019). The draw depends on the current values[v]. O(rate L^2 + L + n_states^2).
 */
int64_t pb_graph_draw_counts(const pb_graph *graph, pb_graph_counts *counts, int64_t variable,
                             const int64_t *values, pb_bitgen *bitgen, double *work);

#ifdef __cplusplus
}
#endif

#endif
