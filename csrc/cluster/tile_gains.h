#ifndef TILE_GAINS_H
#define TILE_GAINS_H

/*
 * Gains of a swap from the references of one tile. Private to csrc/cluster.
 *
 * If a candidate at distance d from reference j becomes a medoid, then
 *   u_j = w_j max(d1_j - d, 0)             is gained whichever medoid is removed, and
 *   o_j = w_j max(d2_j - max(d, d1_j), 0)  in addition if the nearest one is removed.
 * Both are 0 unless d < d2_j. Loops over the lanes of a tile have no branches, so that compilers
 * vectorise them.
 */
#include "pybandit/cluster/distance.h"

#include "../_shared/wide.h"

/* Returns the entries from a slot on, or NULL if there is no array. */
ALWAYS_INLINE const double *at_slot(const double *values, int64_t slot)
{
    return values ? values + slot : values;
}

/* Returns u_j of one reference, and writes o_j. */
ALWAYS_INLINE double gains_of(double d, double d1, double d2, double weight, double *o)
{
    const double gained = d1 - d, later = d2 - (d > d1 ? d : d1);
    *o = later > 0.0 ? weight * later : 0.0;
    return gained > 0.0 ? weight * gained : 0.0;
}

ALWAYS_INLINE void find_gains(const double *d, const double *d1, const double *d2,
                              const double *weights, double *u, double *o)
{
    for (int j = 0; j < PB_TILE; j++) {
        const double gained = d1[j] - d[j], later = d2[j] - (d[j] > d1[j] ? d[j] : d1[j]);
        u[j] = gained > 0.0 ? gained : 0.0;
        o[j] = later > 0.0 ? later : 0.0;
    }
    if (!weights)
        return;
    for (int j = 0; j < PB_TILE; j++) {
        u[j] *= weights[j];
        o[j] *= weights[j];
    }
}

/* Adds the sum of a tile's values and the sum of their squares. */
ALWAYS_INLINE void add_moments(const double *values, double *moments)
{
    vector even = ALL(0.0), odd = even, square = even, odd_square = even;
    for (int j = 0; j < PB_TILE; j += 2 * LANES) {
        const vector a = LOAD(values + j), b = LOAD(values + j + LANES);
        EACH even L += a L;
        EACH odd L += b L;
        EACH square L += a L * a L;
        EACH odd_square L += b L * b L;
    }
    EACH even L += odd L;
    EACH square L += odd_square L;
    moments[0] += (LANE(even, 0) + LANE(even, 1)) + (LANE(even, 2) + LANE(even, 3));
    moments[1] += (LANE(square, 0) + LANE(square, 1)) + (LANE(square, 2) + LANE(square, 3));
}

/*
 * Writes the lanes with o_j > 0 and returns their number. Most o_j are 0, but which ones is not
 * predictable: a branch per lane or per group of lanes would take longer than the sums.
 */
ALWAYS_INLINE int find_lanes(const double *o, int *lanes)
{
    int n = 0;
#ifdef HAS_VECTORS
    mask found = {0, 0, 0, 0}, bit = {1, 2, 4, 8};
    for (int j = 0; j < PB_TILE; j += LANES, bit <<= LANES)
        found |= (mask)(LOAD(o + j) > ALL(0.0)) & bit;
    for (uint64_t left = (uint64_t)ANY(found); left; left &= left - 1)
        lanes[n++] = lowest_bit(left);
#else
    for (int j = 0; j < PB_TILE; j++) {
        lanes[n] = j;
        n += o[j] > 0.0;
    }
#endif
    return n;
}

#endif
