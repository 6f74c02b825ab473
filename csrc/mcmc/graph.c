/*
 * Gibbs draws of variables that interact in pairs (pybandit/mcmc/graph.h).
 *
 * Draws by counts (Zhang & De Sa 2019). Subtract from each factor of v its minimum over the
 * states of v, so that f_n(x_v) is in [0, M_n], M_n = |w_n| spread, and let L = sum M_n. With
 * independent counts s_n ~ Poisson(g M_n / L + f_n(x_v)), g = rate L^2, the joint distribution of
 * x_v and the counts is proportional to
 *   e^(sum f_n) prod_n e^(-g M_n / L - f_n) (g M_n / L + f_n)^s_n / s_n!
 * = const prod_n (g M_n / L)^s_n / s_n! (1 + L f_n(x_v) / (g M_n))^s_n,
 * because the exponentials cancel. x_v given the counts is drawn from the few factors with
 * s_n > 0. Both draws leave the distribution of x_v given its neighbours invariant. All counts
 * are drawn together: a Poisson number of candidates with mean g + L, each chosen in proportion
 * to M_n and kept with probability (g + L f_n / M_n) / (g + L).
 */
#include "pybandit/mcmc/graph.h"

#include <math.h>
#include <stddef.h>

void pb_graph_factors(const pb_graph *graph, int64_t variable, const int64_t *values,
                      pb_pairwise *factors)
{
    const int64_t begin = graph->begins[variable];
    *factors = (pb_pairwise){.n_states = graph->n_states,
                             .n_labels = graph->n_states,
                             .table = graph->table,
                             .labels = values,
                             .members = graph->neighbours + begin,
                             .weights = graph->weights ? graph->weights + begin : NULL};
}

/* Draws a state by the Gumbel-max rule from `totals` plus the log prior. */
static int64_t choose(const pb_graph *graph, int64_t variable, const double *totals,
                      pb_bitgen *bitgen, double *noise)
{
    const int64_t n = graph->n_states;
    const double *prior = graph->log_prior ? graph->log_prior + variable * n : NULL;
    double most = -INFINITY;
    int64_t best = 0;
    pb_bitgen_gumbel_many(bitgen, n, noise);
    for (int64_t s = 0; s < n; s++) {
        const double total = totals[s] + noise[s] + (prior ? prior[s] : 0.0);
        if (total > most) {
            most = total;
            best = s;
        }
    }
    return best;
}

int64_t pb_graph_draw(const pb_graph *graph, int64_t variable, const int64_t *values,
                      pb_bitgen *bitgen, double *work)
{
    const int64_t n = graph->n_states;
    double *const totals = work + 4 * n, *const noise = work + 5 * n;
    pb_pairwise factors;
    pb_graph_factors(graph, variable, values, &factors);
    pb_pairwise_totals(&factors, graph->begins[variable + 1] - graph->begins[variable], work,
                       totals);
    return choose(graph, variable, totals, bitgen, noise);
}

/* Stores log(1 + f / (rate L M)): first for positive weights, then for negative ones. */
static void make_logs(const pb_graph *graph, pb_graph_counts *counts, double total)
{
    const int64_t n = graph->n_states;
    const double factor = 1.0 / (counts->rate * total * counts->spread);
    for (int64_t label = 0; label < n; label++)
        for (int64_t s = 0; s < n; s++) {
            const double entry = graph->table[label * n + s];
            counts->logs[label * n + s] = log1p(factor * (entry - counts->low[label]));
            counts->logs[(n + label) * n + s] = log1p(factor * (counts->high[label] - entry));
        }
    counts->total = total;
}

/* Draws the counts. kept[label] is for positive weights, kept[n + label] for negative ones. */
static void count(const pb_graph *graph, pb_graph_counts *counts, int64_t variable,
                  const int64_t *values, pb_bitgen *bitgen)
{
    const int64_t n = graph->n_states, begin = graph->begins[variable];
    const int64_t degree = graph->begins[variable + 1] - begin;
    const double total = counts->total, always = counts->rate * total * total;
    const double scale = (always + total) * counts->spread, base = always * counts->spread;
    for (int64_t i = 0; i < 2 * n; i++)
        counts->kept[i] = 0;
    counts->n_read = counts->poisson(bitgen, always + total);
    for (int64_t i = 0; i < counts->n_read; i++) {
        const int64_t at =
            begin + (counts->alias ? pb_alias_draw(counts->alias + begin, degree, bitgen)
                                   : pb_bitgen_below(bitgen, (uint32_t)degree));
        const int64_t label = values[graph->neighbours[at]];
        const int negative = graph->weights && graph->weights[at] < 0.0;
        const double entry = graph->table[label * n + values[variable]];
        const double f = negative ? counts->high[label] - entry : entry - counts->low[label];
        if (bitgen->next_double(bitgen->state) * scale < base + total * f)
            counts->kept[(negative ? n : 0) + label]++;
    }
}

int64_t pb_graph_draw_counts(const pb_graph *graph, pb_graph_counts *counts, int64_t variable,
                             const int64_t *values, pb_bitgen *bitgen, double *work)
{
    const int64_t n = graph->n_states;
    const double total = counts->masses[variable] * counts->spread;
    double *const totals = work + 4 * n, *const noise = work + 5 * n;
    for (int64_t s = 0; s < n; s++)
        totals[s] = 0.0;
    counts->n_read = 0;
    if (total > 0.0) {
        if (total != counts->total)
            make_logs(graph, counts, total);
        count(graph, counts, variable, values, bitgen);
        for (int64_t i = 0; i < 2 * n; i++)
            for (int64_t s = 0; counts->kept[i] && s < n; s++)
                totals[s] += (double)counts->kept[i] * counts->logs[i * n + s];
    }
    return choose(graph, variable, totals, bitgen, noise);
}
