/*
 * The race for the medoid (pybandit/cluster/medoid.h). The bets on a tile of 64 references take
 * about .5 ns per distance, next to 1 to 5 ns for the distance: one logarithm per candidate and
 * tile, of a product of 16 factors in each of four lanes.
 */
#include "pybandit/cluster/medoid.h"

#include <math.h>
#include <stddef.h>

#include "../_shared/wide.h"

#define RISK 0.7        /* largest share of the wealth that a bet may lose */
#define TINY 1e-12      /* smallest m, as a share of d(i, a) */
#define SMALLEST 1e-300

void pb_medoid_begin(pb_medoid *b)
{
    for (int64_t i = 0; i < b->n_alive; i++)
        b->raw[i] = b->read[i] = b->total[i] = b->square[i] = b->wealth[i] = b->shift[i] =
            b->reach[i] = 0.0;
    b->t = b->count = 0;
    b->anchor = -1;
    b->theta = b->inverse = b->near_below = b->past = 0.0;
}

void pb_medoid_lanes_fill(pb_medoid_lanes *lanes, const int64_t *references, int64_t n,
                          const double *weights, const double *distances, double near_below)
{
    lanes->n = n;
    for (int64_t r = 0; r < PB_TILE; r++) {
        const int64_t j = references[r < n ? r : n - 1];
        const double apart = distances ? distances[j] : 0.0;
        const int is_near = apart <= near_below;
        lanes->used[r] = r < n ? 1.0 : 0.0;
        lanes->weights[r] = r >= n ? 0.0 : weights ? weights[j] : 1.0;
        lanes->anchor[r] = apart;
        lanes->near[r] = is_near ? 1.0 : 0.0;
        lanes->inverse[r] = is_near || near_below < 0.0 ? 0.0 : 0.5 / apart;
    }
}

/* Slack of s_i for rounding errors of the distances (Rounding in pybandit/cluster/medoid.h). */
ALWAYS_INLINE double slack(const pb_medoid *b, int64_t i)
{
    if (!b->convex)
        return b->precision * b->theta;
    const double reach = b->reach[i], first = reach * (1.0 + reach * b->inverse) + b->near_below;
    return b->precision * (b->past + first + b->precision * (b->theta + first));
}

/* Computes m_i and lambda_i from the past; no bet on the anchor, and none before it is chosen. */
ALWAYS_INLINE double stake(const pb_medoid *b, int64_t i, double n_ahead, double *most)
{
    const double reach = b->reach[i], count = (double)b->count;
    if (b->student || b->anchor < 0 || reach <= 0.0) {
        *most = 0.0;
        return 0.0;
    }
    const double error = slack(b, i), left = (double)b->n * (b->shift[i] + error) - b->read[i];
    *most = larger(larger(left / n_ahead, error), larger(TINY * reach, SMALLEST));
    double mean = b->read[i] / (double)b->t, variance = b->convex ? 0.02 : 0.1, share = 0.5;
    variance *= reach * reach;  /* usual before anything is read by this anchor: half a stake */
    if (b->count > 0) {
        mean = b->total[i] / count;
        variance = larger(b->square[i] / count - mean * mean, TINY * reach * reach);
        share = 1.0;
    }
    const double edge = mean - *most;
    const double bet = edge / (variance + edge * edge + SMALLEST);
    return share * larger(0.0, smaller(bet, RISK / *most));
}

WIDE pb_status pb_medoid_read(const pb_medoid *b, const pb_distances *points,
                              const pb_tile *tile, const pb_medoid_lanes *lanes, int64_t first,
                              int64_t n, double *out)
{
    const pb_status status = pb_tile_read(tile, points, b->alive + first, n, out);
    if (status != PB_OK)
        return status;
    const double n_ahead = (double)(b->n - b->t - lanes->n + 1);
    /* y_ij is at least 0, but for rounding, which could turn a factor negative */
    const vector least = ALL(b->student || b->anchor < 0 ? -INFINITY : 0.0);
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = first + k;
        double most;
        const double bet = stake(b, i, n_ahead, &most);
        const double *const row = out + k * PB_TILE, reach = b->reach[i];
        const double squared = reach * reach;
        vector raw = ALL(0.0), total = raw, square = raw, product = ALL(1.0);
        for (int64_t r = 0; r < PB_TILE; r += LANES) {
            const vector d = LOAD(row + r), a = LOAD(lanes->anchor + r);
            const vector weight = LOAD(lanes->weights + r), used = LOAD(lanes->used + r);
            const vector inverse = LOAD(lanes->inverse + r), near = LOAD(lanes->near + r);
            VECTOR(apart, d L - a L);
            VECTOR(c, (squared - apart L * (d L + a L)) * inverse L + reach * near L);
            VECTOR(signed_y, weight L * (apart L + c L));
            VECTOR(y, LARGER(signed_y L, least L));
            EACH raw L += weight L * d L;
            EACH total L += y L;
            EACH square L += y L * y L;
            EACH product L *= 1.0 + bet * (y L - most * used L);
        }
        const double sum = (LANE(total, 0) + LANE(total, 1)) + (LANE(total, 2) + LANE(total, 3));
        b->raw[i] += (LANE(raw, 0) + LANE(raw, 1)) + (LANE(raw, 2) + LANE(raw, 3));
        b->read[i] += b->student ? 0.0 : sum;
        b->total[i] += sum;
        b->square[i] += (LANE(square, 0) + LANE(square, 1)) + (LANE(square, 2) + LANE(square, 3));
        if (bet > 0.0)
            b->wealth[i] += log((LANE(product, 0) * LANE(product, 1)) *
                                (LANE(product, 2) * LANE(product, 3)));
    }
    return PB_OK;
}

void pb_medoid_advance(pb_medoid *b, int64_t n)
{
    b->t += n;
    b->count += n;
}

/* Moves survivor `from` to position `to`. */
ALWAYS_INLINE void move(pb_medoid *b, int64_t to, int64_t from)
{
    b->alive[to] = b->alive[from];
    b->raw[to] = b->raw[from];
    b->read[to] = b->read[from];
    b->total[to] = b->total[from];
    b->square[to] = b->square[from];
    b->wealth[to] = b->wealth[from];
    b->shift[to] = b->shift[from];
    b->reach[to] = b->reach[from];
}

void pb_medoid_drop(pb_medoid *b)
{
    const double n = (double)b->n;
    int64_t kept = 0;
    for (int64_t i = 0; i < b->n_alive; i++) {
        const int lost = b->wealth[i] >= b->log_threshold ||
                         n * (b->shift[i] + slack(b, i)) < b->read[i];
        if (!lost || b->alive[i] == b->anchor)
            move(b, kept++, i);
    }
    b->n_alive = kept;
}

void pb_medoid_forget(pb_medoid *b)
{
    for (int64_t i = 0; i < b->n_alive; i++)
        b->total[i] = b->square[i] = 0.0;
    b->count = 0;
}

void pb_medoid_reanchor(pb_medoid *b, const pb_medoid_anchor *a)
{
    int64_t kept = 0;
    b->anchor = a->index;
    b->theta = a->theta;
    b->inverse = a->inverse;
    b->near_below = a->near_below;
    b->past = 0.0;
    for (int64_t i = 0; i < b->n_alive; i++) {
        const double reach = a->distances[b->alive[i]];
        const double bound = a->of_plane ? a->theta - a->of_plane[i] : 0.0;
        /* 1e-12: relative rounding error of theta and of the bound, with a margin */
        const int is_worse = bound > a->best + 1e-12 * (a->best + a->theta + reach);
        if (b->alive[i] != a->index && (reach <= 0.0 || is_worse))
            continue;
        b->reach[i] = reach;
        b->shift[i] = (a->of_far ? a->of_far[i] : 0.0) + reach * a->near_share;
        b->read[i] = b->raw[i] - a->read_distance + (a->of_read ? a->of_read[i] : 0.0) +
                     reach * a->near_weight;
        b->past = larger(b->past, b->raw[i] / (double)b->n);
        move(b, kept++, i);
    }
    b->n_alive = kept;
    pb_medoid_forget(b);
}

void pb_medoid_look(pb_medoid *b, double quantile)
{
    const double n = (double)b->count;
    int64_t kept = 0;
    for (int64_t i = 0; i < b->n_alive; i++) {
        const double squares = b->square[i] - b->total[i] * b->total[i] / n;
        b->read[i] += b->total[i];
        b->shift[i] += larger(squares, 0.0) * n / (n - 1.0);
        const int is_worse = b->shift[i] > 0.0 && b->read[i] > quantile * sqrt(b->shift[i]);
        if (!is_worse || b->alive[i] == b->anchor)
            move(b, kept++, i);
    }
    b->n_alive = kept;
    pb_medoid_forget(b);
}

int64_t pb_medoid_leader(const pb_medoid *b)
{
    int64_t leader = 0;
    for (int64_t i = 1; i < b->n_alive; i++)
        if (b->raw[i] < b->raw[leader])
            leader = i;
    return leader;
}
