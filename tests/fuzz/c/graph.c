/* Variables coupled in pairs: draws are valid states, and sums from counts are correct. */
#include "fuzz.h"

#include "pybandit/mcmc/graph.h"
#include "pybandit/racing/pairwise.h"

enum { MOST_VARIABLES = 6, MOST_STATES = 4, MOST_PAIRS = 12, MOST_READ = 400 };

/* Returns a Poisson draw by Knuth's method, for small means. */
static int64_t poisson(pb_bitgen *bitgen, double mean)
{
    int64_t n = 0;
    HOLDS(mean >= 0.0 && isfinite(mean));
    double product = bitgen->next_double(bitgen->state);
    for (const double least = exp(-mean); product > least && n < MOST_READ; n++)
        product *= bitgen->next_double(bitgen->state);
    return n;
}

typedef struct {
    pb_graph graph;
    pb_graph_counts counts;
    int64_t values[MOST_VARIABLES];
} world;

static void tie(world *w, choices *c, pool *p)
{
    const int64_t n = choose(c, 1, MOST_VARIABLES), n_states = choose(c, 1, MOST_STATES);
    const int64_t n_pairs = n > 1 ? choose(c, 0, MOST_PAIRS) : 0;
    int64_t *begins = ZEROS(p, n + 1, int64_t), ends[MOST_VARIABLES], pairs[MOST_PAIRS][2];
    int32_t *neighbours = TAKE(p, 2 * n_pairs, int32_t);
    double *weights = TAKE(p, 2 * n_pairs, double), of_pairs[MOST_PAIRS];
    double *table = TAKE(p, n_states * n_states, double), *prior = TAKE(p, n * n_states, double);
    const uint8_t flags = choose_byte(c);
    choose_numbers(c, of_pairs, n_pairs, 9.0);
    for (int64_t i = 0; i < n_pairs; i++) {
        pairs[i][0] = choose(c, 0, n - 1);
        pairs[i][1] = (pairs[i][0] + choose(c, 1, n - 1)) % n;
        for (int k = 0; k < 2; k++)
            begins[pairs[i][k] + 1]++;
    }
    for (int64_t v = 0; v < n; v++) {
        begins[v + 1] += begins[v];
        ends[v] = begins[v];
    }
    for (int64_t i = 0; i < n_pairs; i++)
        for (int k = 0; k < 2; k++) {
            const int64_t at = ends[pairs[i][k]]++;
            neighbours[at] = (int32_t)pairs[i][1 - k];
            weights[at] = of_pairs[i];
        }
    choose_numbers(c, table, n_states * n_states, 30.0);
    choose_numbers(c, prior, n * n_states, 30.0);
    for (int64_t s = 0; s < n_states; s++)
        for (int64_t r = 0; r < s; r++)
            table[s * n_states + r] = table[r * n_states + s];
    for (int64_t i = 0; i < n * n_states; i++)
        if (i % n_states && choose_byte(c) < 32)
            prior[i] = -INFINITY;
    w->graph = (pb_graph){n, n_states, table, begins, neighbours, flags & 1 ? weights : NULL,
                          flags & 2 ? prior : NULL};
}

static void count(world *w, choices *c, pool *p)
{
    const pb_graph *const g = &w->graph;
    const int64_t d = g->n_states, n_ends = g->begins[g->n_variables];
    double *masses = TAKE(p, g->n_variables, double), *sizes = TAKE(p, n_ends, double);
    double *low = TAKE(p, d, double), *high = TAKE(p, d, double), spread = 0.0;
    pb_alias *alias = TAKE(p, n_ends, pb_alias);
    int64_t *work = TAKE(p, n_ends, int64_t);
    for (int64_t i = 0; i < n_ends; i++)
        sizes[i] = g->weights ? fabs(g->weights[i]) : 1.0;
    for (int64_t v = 0; v < g->n_variables; v++) {
        const int64_t begin = g->begins[v], degree = g->begins[v + 1] - begin;
        masses[v] = degree ? pb_alias_build(sizes + begin, 1, degree, alias + begin, work) : 0.0;
        for (int64_t i = begin; i < begin + degree && masses[v] > 0.0; i++)
            HOLDS(alias[i].share >= 0.0 && alias[i].other >= 0 && alias[i].other < degree);
    }
    for (int64_t s = 0; s < d; s++) {
        low[s] = high[s] = g->table[s * d];
        for (int64_t r = 1; r < d; r++) {
            low[s] = fmin(low[s], g->table[s * d + r]);
            high[s] = fmax(high[s], g->table[s * d + r]);
        }
        spread = fmax(spread, high[s] - low[s]);
    }
    w->counts = (pb_graph_counts){poisson, masses, g->weights ? alias : NULL, low, high, spread,
                                  0.05 + choose_unit(c), -1.0, TAKE(p, 2 * d * d, double),
                                  TAKE(p, 2 * d, int64_t), 0};
}

static void is_state(const pb_graph *g, int64_t v, int64_t state)
{
    HOLDS(state >= 0 && state < g->n_states);
    HOLDS(!g->log_prior || g->log_prior[v * g->n_states + state] > -INFINITY);
}

static void totals(const pb_graph *g, int64_t v, const int64_t *values, int64_t bad, pool *p)
{
    pb_pairwise factors;
    pb_graph_factors(g, v, values, &factors);
    const int64_t n = g->begins[v + 1] - g->begins[v], d = g->n_states;
    double *work = TAKE(p, pb_pairwise_memory(&factors), double), *sums = TAKE(p, d, double);
    const int64_t found = pb_pairwise_totals(&factors, n, work, sums);
    double one;
    for (int64_t state = 0; state < d; state++) {
        double sum = 0.0, size = 1.0;
        for (int64_t i = 0; i < n; i++) {
            HOLDS(pb_pairwise_read(&i, 1, &state, 1, &one, &factors) == 0);
            const int is_bad = factors.labels[factors.members[i]] == bad;
            HOLDS(isnan(one) == is_bad && (found != i || is_bad));
            sum += one;
            size += fabs(one);
        }
        HOLDS(found == -1 ? fabs(sum - sums[state]) <= 1e-12 * size : isnan(sums[state]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    world w;
    uint64_t counter = choose_byte(&c);
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    tie(&w, &c, &p);
    count(&w, &c, &p);
    const pb_graph *const g = &w.graph;
    double *work = TAKE(&p, pb_graph_memory(g), double);
    for (int64_t v = 0; v < g->n_variables; v++)
        w.values[v] = g->log_prior ? 0 : choose(&c, 0, g->n_states - 1);
    for (int64_t i = choose(&c, 1, 12); i > 0; i--) {
        const int64_t v = choose(&c, 0, g->n_variables - 1);
        if (choose_byte(&c) & 1) {
            w.values[v] = pb_graph_draw(g, v, w.values, &bitgen, work);
        } else {
            w.values[v] = pb_graph_draw_counts(g, &w.counts, v, w.values, &bitgen, work);
            HOLDS(w.counts.n_read >= 0 && w.counts.n_read <= MOST_READ);
        }
        is_state(g, v, w.values[v]);
    }
    const int64_t bad = choose_byte(&c) & 1 ? -1 : g->n_states;
    if (choose_byte(&c) < 64)
        w.values[choose(&c, 0, g->n_variables - 1)] = bad;
    totals(g, choose(&c, 0, g->n_variables - 1), w.values, bad, &p);
    pool_free(&p);
    return 0;
}
