#include "../../_shared/c/check.h"

#include "pybandit/mcmc/graph.h"

/* A triangle with a tail, with three states: 0-1, 0-2, 1-2, 2-3. */
enum { V = 4, D = 3, E = 8 };

static const double TABLE[D * D] = {1.0, 0.0, 0.25, 0.0, 0.5, 0.0, 0.25, 0.0, 2.0};
static const int64_t BEGINS[V + 1] = {0, 2, 4, 7, 8};
static const int32_t NEIGHBOURS[E] = {1, 2, 0, 2, 0, 1, 3, 2};
static const double WEIGHTS[E] = {0.5, -1.0, 0.5, 2.0, -1.0, 2.0, 1.5, 1.5};
static const double PRIOR[V * D] = {0.0, 0.5, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -INFINITY, 0, 0, 0};

/* Draws a Poisson number by Knuth's method: it multiplies uniform numbers. */
static int64_t poisson(pb_bitgen *bitgen, double mean)
{
    const double least = exp(-mean);
    double product = bitgen->next_double(bitgen->state);
    int64_t n = 0;
    for (; product > least; n++)
        product *= bitgen->next_double(bitgen->state);
    return n;
}

static void law_of(const pb_graph *g, int64_t v, const int64_t *values, double *law)
{
    double sum = 0.0;
    for (int64_t s = 0; s < D; s++) {
        double total = g->log_prior ? g->log_prior[v * D + s] : 0.0;
        for (int64_t i = g->begins[v]; i < g->begins[v + 1]; i++)
            total += (g->weights ? g->weights[i] : 1.0) *
                     g->table[values[g->neighbours[i]] * D + s];
        sum += law[s] = exp(total);
    }
    for (int64_t s = 0; s < D; s++)
        law[s] /= sum;
}

static void exact_draws(const pb_graph *g)
{
    uint64_t counter = 11;
    pb_bitgen bitgen = splitmix(&counter);
    const int64_t values[V] = {2, 0, 1, 2}, n = 20000;
    double *work = allocate(pb_graph_memory(g), sizeof *work), law[D];
    for (int64_t v = 0; v < V; v++) {
        int64_t seen[D] = {0};
        law_of(g, v, values, law);
        for (int64_t i = 0; i < n; i++)
            seen[pb_graph_draw(g, v, values, &bitgen, work)]++;
        for (int64_t s = 0; s < D; s++)
            assert(binomial_fits(seen[s], n, law[s]) || (law[s] == 0.0 && !seen[s]));
    }
    free(work);
}

/* Checks that draws by Poisson counts leave the distribution of the graph invariant. */
static void draws_by_counts(const pb_graph *g, double rate)
{
    uint64_t counter = 12;
    pb_bitgen bitgen = splitmix(&counter);
    const int64_t n = 20000;
    int64_t values[V] = {2, 0, 1, 2}, work_of_alias[E], kept[2 * D];
    double *work = allocate(pb_graph_memory(g), sizeof *work), law[D], sizes[E], masses[V];
    double low[D], high[D], logs[2 * D * D], spread = 0.0;
    pb_alias alias[E];
    for (int64_t i = 0; i < E; i++)
        sizes[i] = g->weights ? fabs(g->weights[i]) : 1.0;
    for (int64_t v = 0; v < V; v++)
        masses[v] = pb_alias_build(sizes + BEGINS[v], 1, BEGINS[v + 1] - BEGINS[v],
                                   alias + BEGINS[v], work_of_alias);
    for (int64_t s = 0; s < D; s++) {
        low[s] = fmin(fmin(TABLE[s * D], TABLE[s * D + 1]), TABLE[s * D + 2]);
        high[s] = fmax(fmax(TABLE[s * D], TABLE[s * D + 1]), TABLE[s * D + 2]);
        spread = fmax(spread, high[s] - low[s]);
    }
    pb_graph_counts counts = {poisson, masses, g->weights ? alias : NULL, low, high, spread,
                              rate, -1.0, logs, kept, 0};
    for (int64_t v = 0; v < V; v++) {
        int64_t seen[D] = {0};
        law_of(g, v, values, law);
        double read = 0.0;
        for (int64_t i = 0; i < n; i++) {
            values[v] = pb_graph_draw(g, v, values, &bitgen, work);
            seen[pb_graph_draw_counts(g, &counts, v, values, &bitgen, work)]++;
            read += (double)counts.n_read;
        }
        for (int64_t s = 0; s < D; s++)
            assert(binomial_fits(seen[s], n, law[s]) || (law[s] == 0.0 && !seen[s]));
        const double total = masses[v] * spread, mean = rate * total * total + total;
        assert(fabs(read / (double)n - mean) < 6.0 * sqrt(mean / (double)n));
        values[v] = (v + 2) % D;
    }
    free(work);
}

int main(void)
{
    const pb_graph plain = {V, D, TABLE, BEGINS, NEIGHBOURS, NULL, NULL};
    const pb_graph full = {V, D, TABLE, BEGINS, NEIGHBOURS, WEIGHTS, PRIOR};
    pb_pairwise factors;
    const int64_t values[V] = {0, 1, 2, 0};
    pb_graph_factors(&full, 2, values, &factors);
    assert(factors.members == NEIGHBOURS + 4 && factors.weights == WEIGHTS + 4);
    assert(factors.labels == values && factors.n_labels == D && factors.n_states == D);
    exact_draws(&plain);
    exact_draws(&full);
    draws_by_counts(&plain, 1.0);
    draws_by_counts(&full, 1.0);
    draws_by_counts(&full, 0.2);
    return 0;
}
