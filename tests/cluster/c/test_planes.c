#include "rows.h"

#include "pybandit/cluster/planes.h"

typedef struct {
    double distances[MOST], columns[4 * COLUMNS];
    pb_plane plane;
} space;

static void pass(space *s, const table *t, const pb_distances *points, const double *weights,
                 int64_t anchor, double near_below)
{
    s->plane = (pb_plane){.anchor = anchor, .near_below = near_below, .distances = s->distances,
                          .far = s->columns, .near = s->columns + t->d,
                          .scratch = s->columns + 2 * t->d};
    pb_plane_pass(&s->plane, points, weights);
}

/* theta, the two parts of the slope, and lower bounds for every row. */
static void planes_are_below_the_means(void)
{
    uint64_t counter = 8;
    table t;
    space s;
    for (int run = 0; run < 300; run++) {
        fill_table(&t, &counter, run % 2);
        const double *weights = run % 3 ? t.weights : NULL;
        const pb_distances points = points_of(&t, PB_EUCLIDEAN, run % 5 == 0);
        const int64_t a = (int64_t)(splitmix_next(&counter) % (uint64_t)t.n);
        const double n = (double)t.n, near = run % 7 ? 0.0 : 0.5;
        pass(&s, &t, &points, weights, a, near);
        assert(close_to(s.plane.theta, sum_of(&points, weights, a) / n, 1e-13 * n));
        double share = 0.0, slope[COLUMNS], products[MOST];
        int64_t all[MOST];
        for (int64_t c = 0; c < t.d; c++)
            slope[c] = s.plane.far[c] + s.plane.near[c];
        for (int64_t i = 0; i < t.n; i++) {
            all[i] = i;
            assert(close_to(s.distances[i], pb_distance_between(&points, a, i), 1e-14 * n));
            share += (weights ? weights[i] : 1.0) * (s.distances[i] <= near);
        }
        assert(close_to(s.plane.near_share, share / n, 1e-13));
        pb_plane_products(&s.plane, &points, slope, all, t.n, products);
        for (int64_t i = 0; i < t.n; i++)
            assert(s.plane.theta - products[i] <= sum_of(&points, weights, i) / n + 1e-12 * n);
        /* the parts of all references are the far slope, without the division by N */
        double far[COLUMNS] = {0.0}, weight_near = 0.0, apart = 0.0;
        pb_plane_part(&s.plane, &points, weights, all, t.n, far, &weight_near, &apart);
        assert(close_to(apart, s.plane.theta * n, 1e-12 * n));
        assert(close_to(weight_near, share, 1e-12));
        for (int64_t c = 0; c < t.d; c++)
            assert(close_to(far[c], s.plane.far[c] * n, 1e-12 * n));
    }
}

/* Cutting until no row is left finds the medoid. */
static void cuts_find_the_medoid(void)
{
    uint64_t counter = 9;
    table t;
    space s;
    for (int run = 0; run < 300; run++) {
        fill_table(&t, &counter, run % 2);
        const double *weights = run % 3 ? t.weights : NULL;
        const pb_distances points = points_of(&t, PB_EUCLIDEAN, run % 5 == 0);
        double bounds[MOST], products[MOST], slope[COLUMNS], best = INFINITY, least = INFINITY;
        int64_t alive[MOST], n_alive = t.n, lowest = 0, winner = -1, n_passes = 0;
        for (int64_t i = 0; i < t.n; i++) {
            alive[i] = i;
            bounds[i] = -INFINITY;
            least = fmin(least, sum_of(&points, weights, i) / (double)t.n);
        }
        int64_t anchor = (int64_t)(splitmix_next(&counter) % (uint64_t)t.n);
        while (n_alive) {
            pass(&s, &t, &points, weights, anchor, 0.0);
            for (int64_t c = 0; c < t.d; c++)
                slope[c] = s.plane.far[c] + s.plane.near[c];
            if (s.plane.theta < best) {
                best = s.plane.theta;
                winner = anchor;
            }
            pb_plane_products(&s.plane, &points, slope, alive, n_alive, products);
            const int64_t before = n_alive;
            n_alive = pb_plane_cut(&s.plane, best, products, alive, bounds, n_alive, &lowest);
            assert(n_alive < before && ++n_passes <= t.n);
            for (int64_t i = 0; i < n_alive; i++)
                assert(bounds[lowest] <= bounds[i] && (i == 0 || alive[i] > alive[i - 1]));
            anchor = n_alive ? alive[lowest] : -1;
        }
        assert(close_to(best, least, 1e-12) && winner >= 0);
    }
}

int main(void)
{
    planes_are_below_the_means();
    cuts_find_the_medoid();
    return 0;
}
