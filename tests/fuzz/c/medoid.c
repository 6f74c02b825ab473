/* Races for the medoid, planes and separable sums on rows, in exactly the memory they require. */
#include "fuzz.h"

#include "pybandit/cluster/medoid.h"
#include "pybandit/cluster/planes.h"
#include "pybandit/cluster/separable.h"

enum { MOST = 40 };

typedef struct {
    pb_distances points;
    const double *weights;
    double theta[MOST];
} problem;

static void solve(problem *q, double *scratch)
{
    for (int64_t i = 0; i < q->points.n; i++)
        q->theta[i] = pb_distance_from(&q->points, q->weights, i, scratch) / (double)q->points.n;
}

static void sums(const problem *q, pool *p)
{
    const int64_t n = q->points.n, d = q->points.n_columns;
    pb_distances rows = q->points;
    double *memory = TAKE(p, 3 * d, double), *totals = TAKE(p, n, double);
    double *distances = TAKE(p, n, double);
    unsigned char *is_done = TAKE(p, d, unsigned char);
    int64_t order[MOST];
    rows.metric = PB_SQEUCLIDEAN;
    pb_separable_squares(&rows, q->weights, memory, totals);
    for (int64_t i = 0; i < n; i++)
        HOLDS(totals[i] >= 0.0);
    rows.metric = PB_HAMMING;
    memset(totals, 0, (size_t)n * sizeof *totals);
    pb_separable_two_values(&rows, q->weights, memory, is_done, totals);
    for (int64_t c = 0; c < d; c++) {
        for (int64_t i = 0; i < n; i++) {
            int64_t at = i;  /* insertion by value */
            for (; at > 0; at--) {
                const double before = rows.floats ? (double)rows.floats[order[at - 1] * d + c]
                                                  : rows.doubles[order[at - 1] * d + c];
                const double own = rows.floats ? (double)rows.floats[i * d + c]
                                               : rows.doubles[i * d + c];
                if (before <= own)
                    break;
                order[at] = order[at - 1];
            }
            order[at] = i;
        }
        if (!is_done[c])
            pb_separable_column(&rows, q->weights, c, order, totals);
    }
    for (int64_t i = 0; i < n; i++) {
        const double own = pb_distance_from(&rows, q->weights, i, distances);
        HOLDS(fabs(totals[i] - own) <= 1e-9 * (double)n);
    }
}

static void cut(const problem *q, pool *p, int64_t anchor)
{
    const int64_t n = q->points.n, d = q->points.n_columns;
    double *columns = TAKE(p, 5 * d, double), *bounds = TAKE(p, n, double);
    double *products = TAKE(p, n, double), best = INFINITY, least = INFINITY;
    int64_t *alive = TAKE(p, n, int64_t), n_alive = n, lowest = 0;
    pb_plane plane = {.near_below = 0.0, .distances = TAKE(p, n, double), .far = columns,
                      .near = columns + d, .scratch = columns + 2 * d};
    for (int64_t i = 0; i < n; i++) {
        alive[i] = i;
        bounds[i] = -INFINITY;
        least = fmin(least, q->theta[i]);
    }
    for (int64_t pass = 0; n_alive; pass++) {
        HOLDS(pass < n);
        plane.anchor = anchor;
        pb_plane_pass(&plane, &q->points, q->weights);
        best = fmin(best, plane.theta);
        for (int64_t c = 0; c < d; c++)
            columns[4 * d + c] = plane.far[c] + plane.near[c];
        pb_plane_products(&plane, &q->points, columns + 4 * d, alive, n_alive, products);
        n_alive = pb_plane_cut(&plane, best, products, alive, bounds, n_alive, &lowest);
        anchor = n_alive ? alive[lowest] : 0;
    }
    HOLDS(fabs(best - least) <= 1e-9 * (1.0 + least));
}

/* A race along any order, with any tiles and moments for a new anchor. */
static void race(const problem *q, pool *p, choices *c, int student)
{
    const int64_t n = q->points.n, d = q->points.n_columns;
    const int convex = !student && q->points.metric == PB_EUCLIDEAN;
    double *fields = TAKE(p, 7 * n, double), *columns = TAKE(p, 6 * d, double);
    double *distances = ZEROS(p, n, double), *products = TAKE(p, 3 * n, double);
    double *memory = TAKE(p, pb_tile_memory(&q->points, n), double);
    double *out = TAKE(p, n * PB_TILE, double);
    int64_t *alive = TAKE(p, n, int64_t), order[MOST];
    pb_medoid_lanes lanes;
    pb_medoid r = {.n = n, .student = student, .convex = convex, .log_threshold = log(1e9),
                   .precision = 0x1p-21, .n_alive = n, .alive = alive, .raw = fields,
                   .read = fields + n, .total = fields + 2 * n, .square = fields + 3 * n,
                   .wealth = fields + 4 * n, .shift = fields + 5 * n, .reach = fields + 6 * n};
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = choose(c, 0, i);
        alive[i] = i;
        order[i] = order[k];
        order[k] = i;
    }
    pb_medoid_begin(&r);
    for (int64_t step; r.t < n && r.n_alive > 1; ) {
        step = choose(c, 1, n);
        step = step < n - r.t ? step : n - r.t;
        const pb_tile tile = {step, order + r.t, memory};
        double near = r.anchor < 0 || student ? -1.0 : INFINITY;
        if (r.t > 0 && (r.anchor < 0 || choose_byte(c) & 1)) {
            const int64_t a = alive[pb_medoid_leader(&r)];
            pb_medoid_anchor anchor = {.index = a, .distances = distances, .theta = q->theta[a],
                                       .best = q->theta[a], .near_share = 1.0};
            if (student) {
                pb_distance_from(&q->points, NULL, a, distances);
                r.anchor = a;
                pb_medoid_forget(&r);
            } else if (convex) {
                pb_plane plane = {.anchor = a, .near_below = q->theta[a] / 8.0,
                                  .distances = distances, .far = columns, .near = columns + d,
                                  .scratch = columns + 2 * d};
                pb_plane_pass(&plane, &q->points, q->weights);
                memset(columns + 4 * d, 0, (size_t)d * sizeof *columns);
                pb_plane_part(&plane, &q->points, q->weights, order, r.t, columns + 4 * d,
                              &anchor.near_weight, &anchor.read_distance);
                for (int64_t k = 0; k < d; k++)
                    columns[5 * d + k] = plane.far[k] + plane.near[k];
                pb_plane_products(&plane, &q->points, plane.far, alive, r.n_alive, products);
                pb_plane_products(&plane, &q->points, columns + 4 * d, alive, r.n_alive,
                                  products + n);
                pb_plane_products(&plane, &q->points, columns + 5 * d, alive, r.n_alive,
                                  products + 2 * n);
                anchor.near_share = plane.near_share;
                anchor.of_far = products;
                anchor.of_read = products + n;
                anchor.of_plane = products + 2 * n;
                near = plane.near_below;
                pb_medoid_reanchor(&r, &anchor);
            } else {
                pb_distance_from(&q->points, NULL, a, distances);
                for (int64_t k = 0; k < r.t; k++) {
                    const double weight = q->weights ? q->weights[order[k]] : 1.0;
                    anchor.near_weight += weight;
                    anchor.read_distance += weight * distances[order[k]];
                }
                near = INFINITY;
                pb_medoid_reanchor(&r, &anchor);
            }
            HOLDS(r.n_alive >= 1 && r.n_alive <= n);
        } else if (convex && r.anchor >= 0) {
            near = q->theta[r.anchor] / 8.0;
        } else if (r.anchor >= 0 && !student) {
            near = INFINITY;
        }
        pb_tile_fill(&tile, &q->points);
        pb_medoid_lanes_fill(&lanes, order + r.t, step, q->weights,
                             r.anchor < 0 ? NULL : distances, near);
        HOLDS(pb_medoid_read(&r, &q->points, &tile, &lanes, 0, r.n_alive, out) == PB_OK);
        pb_medoid_advance(&r, step);
        if (student && r.anchor >= 0 && r.count > 1 && choose_byte(c) & 1)
            pb_medoid_look(&r, 3.0 + choose_unit(c));
        else if (!student && r.anchor >= 0)
            pb_medoid_drop(&r);
        HOLDS(r.n_alive >= 1 && r.t <= n);
        for (int64_t i = 0; i < r.n_alive; i++) {
            HOLDS(alive[i] >= 0 && alive[i] < n && (i == 0 || alive[i] > alive[i - 1]));
            HOLDS(!isnan(r.raw[i]) && !isnan(r.read[i]) && !isnan(r.wealth[i]));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 2, MOST), d = choose(&c, 1, 10), flags = choose(&c, 0, 255);
    double *doubles = TAKE(&p, n * d, double), *weights = TAKE(&p, n, double);
    float *floats = TAKE(&p, n * d, float);
    double total = 0.0;
    choose_numbers(&c, doubles, n * d, 1e3);
    for (int64_t i = 0; i < n * d; i++)
        floats[i] = (float)doubles[i];
    for (int64_t i = 0; i < n; i++)
        total += weights[i] = (double)choose(&c, 0, 4) + (i == 0);
    for (int64_t i = 0; i < n; i++)
        weights[i] *= (double)n / total;
    problem q = {{flags & 1 ? PB_EUCLIDEAN : PB_MANHATTAN, n, d, flags & 2 ? floats : NULL,
                  flags & 2 ? NULL : doubles, NULL, NULL, NULL, NULL},
                 flags & 4 ? weights : NULL, {0.0}};
    solve(&q, TAKE(&p, n, double));
    sums(&q, &p);
    if (flags & 1)
        cut(&q, &p, choose(&c, 0, n - 1));
    race(&q, &p, &c, (flags & 24) == 24);
    pool_free(&p);
    return 0;
}
