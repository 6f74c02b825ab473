#include "rows.h"

#include "pybandit/cluster/medoid.h"

enum { FIELDS = 7 };

typedef struct {
    int64_t alive[MOST];
    double fields[FIELDS][MOST], distances[MOST], memory[COLUMNS * PB_TILE], out[MOST * PB_TILE];
    pb_medoid race;
    pb_medoid_lanes lanes;
} space;

static void begin(space *s, const table *t, int student, double delta)
{
    s->race = (pb_medoid){.n = t->n, .student = student, .log_threshold = log(1.0 / delta),
                          .n_alive = t->n, .alive = s->alive, .raw = s->fields[0],
                          .read = s->fields[1], .total = s->fields[2], .square = s->fields[3],
                          .wealth = s->fields[4], .shift = s->fields[5], .reach = s->fields[6]};
    for (int64_t i = 0; i < t->n; i++)
        s->alive[i] = i;
    pb_medoid_begin(&s->race);
}

static void read_tile(space *s, const pb_distances *points, const double *weights,
                      const int64_t *references, int64_t n, int64_t part)
{
    const double near = s->race.student || s->race.anchor < 0 ? -1.0 : INFINITY;
    const pb_tile tile = {n, references, s->memory};
    pb_tile_fill(&tile, points);
    pb_medoid_lanes_fill(&s->lanes, references, n, weights,
                         s->race.anchor < 0 ? NULL : s->distances, near);
    for (int64_t i = 0; i < s->race.n_alive; i += part) {
        const int64_t left = s->race.n_alive - i;
        assert(pb_medoid_read(&s->race, points, &tile, &s->lanes, i, left < part ? left : part,
                              s->out) == PB_OK);
    }
    pb_medoid_advance(&s->race, n);
}

static void set_anchor(space *s, const pb_distances *points, const double *weights, int64_t a,
                       const int64_t *past)
{
    pb_medoid_anchor anchor = {.index = a, .distances = s->distances, .near_share = 1.0};
    for (int64_t j = 0; j < points->n; j++)
        s->distances[j] = pb_distance_between(points, j, a);
    anchor.theta = sum_of(points, weights, a) / (double)points->n;
    for (int64_t r = 0; r < s->race.t; r++) {
        anchor.near_weight += weights ? weights[past[r]] : 1.0;
        anchor.read_distance += (weights ? weights[past[r]] : 1.0) * s->distances[past[r]];
    }
    anchor.best = anchor.theta;
    pb_medoid_reanchor(&s->race, &anchor);
}

static void shuffle(int64_t *order, int64_t n, uint64_t *counter)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = (int64_t)(splitmix_next(counter) % (uint64_t)(i + 1));
        order[i] = order[k];
        order[k] = i;
    }
}

/* Sums equal the formulas, whatever the parts; the whole population leaves Y_i = N (theta_i -
   theta_a + s_i), so that only rows at least as good as the anchor survive. */
static void reads_equal_the_formulas(void)
{
    uint64_t counter = 11;
    table t;
    space s;
    for (int run = 0; run < 400; run++) {
        fill_table(&t, &counter, run % 2);
        const double *weights = run % 3 ? t.weights : NULL;
        const pb_metric metric = run % 5 ? PB_MANHATTAN : PB_EUCLIDEAN;
        const pb_distances points = points_of(&t, metric, run % 7 == 0);
        int64_t order[MOST];
        shuffle(order, t.n, &counter);
        begin(&s, &t, 0, 1e-300);
        const int64_t first = 1 + (int64_t)(splitmix_next(&counter) % (uint64_t)(t.n - 1));
        read_tile(&s, &points, weights, order, first, 1 + run % 9);
        set_anchor(&s, &points, weights, s.alive[pb_medoid_leader(&s.race)], order);
        read_tile(&s, &points, weights, order + first, t.n - first, 1 + run % 8);
        const double theta = s.race.theta, n = (double)t.n;
        for (int64_t k = 0; k < s.race.n_alive; k++) {
            const int64_t i = s.alive[k];
            const double sum = sum_of(&points, weights, i);
            assert(close_to(s.race.raw[k], sum, 1e-5 * n));
            assert(close_to(s.race.read[k], sum - n * theta + n * s.race.shift[k], 1e-5 * n));
            assert(s.race.anchor == i || s.race.reach[k] > 0.0);
        }
        s.race.precision = 1e-6;
        pb_medoid_drop(&s.race);
        for (int64_t k = 0; k < s.race.n_alive; k++)
            assert(sum_of(&points, weights, s.alive[k]) <= n * theta * (1.0 + 1e-5) + 1e-9);
    }
}

/* A reference in each of two anchors' eyes: the mean of factors over all that may come is at
   most 1 if i is the medoid, so that the wealth is a supermartingale. */
static void bets_on_the_medoid_are_fair(void)
{
    uint64_t counter = 12;
    table t;
    space s;
    for (int run = 0; run < 400; run++) {
        fill_table(&t, &counter, run % 2);
        const pb_distances points = points_of(&t, PB_EUCLIDEAN, 0);
        int64_t order[MOST], medoid = 0;
        for (int64_t i = 1; i < t.n; i++)
            if (sum_of(&points, t.weights, i) < sum_of(&points, t.weights, medoid))
                medoid = i;
        shuffle(order, t.n, &counter);
        const int64_t first = 1 + (int64_t)(splitmix_next(&counter) % (uint64_t)(t.n - 2));
        double mean = 0.0, before = 0.0;
        for (int64_t next = first; next < t.n; next++) {
            begin(&s, &t, 0, 1e-300);
            read_tile(&s, &points, t.weights, order, first, MOST);
            set_anchor(&s, &points, t.weights, (medoid + 1 + run) % t.n, order);
            int64_t at = 0;
            while (at < s.race.n_alive && s.alive[at] != medoid)
                at++;
            if (at == s.race.n_alive)
                break;  /* a copy of the anchor */
            before = s.race.wealth[at];
            read_tile(&s, &points, t.weights, order + next, 1, MOST);
            mean += exp(s.race.wealth[at] - before) / (double)(t.n - first);
        }
        assert(mean <= 1.0 + 1e-9);
    }
}

/* Blocks without bets: the worst of three groups of rows is eliminated, the anchor never. */
static void looks_without_bets_eliminate(void)
{
    uint64_t counter = 13;
    table t;
    space s;
    t.n = MOST;
    t.d = 2;
    for (int64_t i = 0; i < t.n; i++)
        for (int64_t c = 0; c < 2; c++)
            t.doubles[2 * i + c] = splitmix_double(&counter) + (i >= 50 ? 40.0 : 0.0);
    const pb_distances points = points_of(&t, PB_SQEUCLIDEAN, 0);
    int64_t order[MOST];
    shuffle(order, t.n, &counter);
    begin(&s, &t, 1, 0.05);
    read_tile(&s, &points, NULL, order, 10, MOST);
    s.race.anchor = s.alive[pb_medoid_leader(&s.race)];
    pb_medoid_forget(&s.race);
    for (int64_t j = 0; j < t.n; j++)
        s.distances[j] = pb_distance_between(&points, s.race.anchor, j);
    read_tile(&s, &points, NULL, order + 10, 40, MOST);
    pb_medoid_look(&s.race, 4.0);
    assert(s.race.n_alive >= 1 && s.race.n_alive <= 50 && s.race.count == 0);
    for (int64_t k = 0, found = 0; k < s.race.n_alive; k++) {
        found += s.alive[k] == s.race.anchor;
        assert(s.alive[k] < 50 && (k + 1 < s.race.n_alive || found == 1));
    }
    /* no variance, no elimination */
    begin(&s, &t, 1, 0.05);
    s.race.count = 40;
    for (int64_t i = 0; i < t.n; i++)
        s.race.total[i] = 40.0 * (s.race.square[i] = 1.0);
    for (int64_t i = 0; i < t.n; i++)
        s.race.square[i] = 40.0;
    pb_medoid_look(&s.race, 0.1);
    assert(s.race.n_alive == t.n);
}

int main(void)
{
    reads_equal_the_formulas();
    bets_on_the_medoid_are_fair();
    looks_without_bets_eliminate();
    return 0;
}
