#ifndef PYBANDIT_MEDOID_H
#define PYBANDIT_MEDOID_H

#include <stdint.h>

#include "pybandit/cluster/distance.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The race for the medoid, argmin_i theta_i = (1/N) sum_j w_j d(i, j), over references j in
 * uniformly random order. Weights have mean 1.
 *
 * Bets. For an anchor a, chosen by the past, the kernel reads of candidate i
 *     y_ij = w_j (d(i, j) - d(a, j) + c_ij) >= 0,
 * where c_ij = <x_i - a, (x_j - a) / d(a, j)> for rows and a reference that is not near the
 * anchor, and c_ij = d(i, a) otherwise. The population mean of w_j c_ij, s_i, is known, and the
 * mean of y_ij is at most s_i if i is the medoid. With Y_i the sum of y_ij over the t references
 * read, every conditional mean in a tile of T references is then at most
 *     m_i = (N s_i - Y_i) / (N - t - T + 1),
 * so the product of 1 + lambda_i (y_ij - m_i) with lambda_i in [0, 1 / m_i), fixed before the
 * tile, is a nonnegative supermartingale. It exceeds 1 / delta with probability at most delta
 * (Ville), for the medoid alone: no union over candidates. Anchors may change.
 *
 * Rounding. Let e be the mean relative error of the distances d(i, j), `precision`; distances from
 * the anchor are computed in double precision for rows. What it adds to the mean of y_ij is at most
 * about e theta_a without rows, and is added to s_i. For rows, with r = d(i, a), d = d(i, j) and
 * a = d(a, j), y_ij = w_j (r^2 - (d - a)^2) / (2 a) if j is not near, |d - a| <= r and d <= a + r,
 * so an error e d of d changes y_ij by at most
 *     w_j (e r (1 + r / a) + e^2 (a + r (2 + r / a)) / 2).
 * A near reference adds at most e (r + near_below). Y_i of an anchor starts from the raw sum, whose
 * error is at most e times that sum.
 *
 * Without a triangle inequality (`student`), differences from an anchor per block of references
 * are compared with Student's quantile; see pb_medoid_look.
 */
typedef struct {
    /* rules */
    int64_t n;             /* number of points, N */
    int student;           /* 1: no bets */
    int convex;            /* 1: c_ij of rows, whose y_ij vary less at first */
    double log_threshold;  /* log(1 / delta) */
    double precision;      /* largest mean of the relative rounding errors of distances */

    /* survivors by position, n entries each; owned by the caller */
    int64_t n_alive;
    int64_t *alive;        /* their indices, increasing */
    double *raw;           /* sum of w_j d(i, j) over all references read */
    double *read;          /* Y_i; student: sum of the means of differences times block sizes */
    double *total;         /* sums and squares of y_ij since the anchor was chosen, or, */
    double *square;        /*     student: of the differences of the block */
    double *wealth;        /* log of the product */
    double *shift;         /* s_i; student: sum of the variances times block sizes */
    double *reach;         /* d(i, a) */

    /* progress */
    int64_t t;             /* references read */
    int64_t count;         /* of these, since the anchor was chosen or the block was started */
    int64_t anchor;        /* index; -1 before the first */
    double theta;          /* theta_a */
    double inverse;        /* rows: sum of w_j / (N d(a, j)) over references that are not near */
    double near_below;     /* rows: references at most this far from the anchor are near */
    double past;           /* largest raw sum of a survivor when the anchor was chosen, over N */
} pb_medoid;

/* What the kernel needs of the references of a tile; see pb_medoid_lanes_fill. */
typedef struct {
    int64_t n;
    double weights[PB_TILE], anchor[PB_TILE], inverse[PB_TILE], near[PB_TILE], used[PB_TILE];
} pb_medoid_lanes;

/* Sets the sums of the n_alive points in `alive` to 0, and t, count and anchor. O(n_alive). */
void pb_medoid_begin(pb_medoid *medoid);

/*
 * Fills the lanes of n references. Without an anchor (`distances` NULL), differences are from 0.
 * distances[j] is d(a, j); references at most near_below away are near, all if INFINITY; and none,
 * c_ij being 0, if negative. `weights` is NULL if all are 1.
 */
void pb_medoid_lanes_fill(pb_medoid_lanes *lanes, const int64_t *references, int64_t n,
                          const double *weights, const double *distances, double near_below);

/*
 * Reads the tile for n survivors from position `first` on, by pb_tile_read, whose status it
 * returns; nothing changes unless it is PB_OK. `out` has n * PB_TILE entries. Threads may read
 * for separate positions. t and count stay: call pb_medoid_advance after all positions.
 */
pb_status pb_medoid_read(const pb_medoid *medoid, const pb_distances *points,
                         const pb_tile *tile, const pb_medoid_lanes *lanes, int64_t first,
                         int64_t n, double *out);

/* Counts n references as read. */
void pb_medoid_advance(pb_medoid *medoid, int64_t n);

/* Sets the sums since the anchor was chosen to 0, and count. O(n_alive). */
void pb_medoid_forget(pb_medoid *medoid);

/*
 * Eliminates survivors other than the anchor that lost their bets, or whose Y_i exceeds N s_i,
 * which is impossible for the medoid. O(n_alive).
 */
void pb_medoid_drop(pb_medoid *medoid);

/* A new anchor, computed by the caller; arrays of products are by position. */
typedef struct {
    int64_t index;
    double theta;             /* theta_a */
    double best;              /* smallest theta known */
    const double *distances;  /* n: d(j, a) of every point */
    double near_share;        /* sum of w_j / N over near points; 1 without rows */
    double near_below;        /* rows only: points at most this far from the anchor are near */
    double inverse;           /* rows only: of pb_plane */
    double near_weight;       /* sum of w_j over near references read */
    double read_distance;     /* sum of w_j d(j, a) over references read */
    const double *of_far;     /* rows only, else NULL: <x_i - a, far> of pb_plane */
    const double *of_read;    /* <x_i - a, sum of w_j u_j over references read, not near> */
    const double *of_plane;   /* <x_i - a, far + near> */
} pb_medoid_anchor;

/*
 * Changes the anchor: sets s_i, d(i, a) and Y_i, and keeps the wealth. Eliminates copies of the
 * anchor (d(i, a) = 0), and for rows survivors with theta_a - of_plane > best. O(n_alive).
 */
void pb_medoid_reanchor(pb_medoid *medoid, const pb_medoid_anchor *anchor);

/*
 * Ends a block of the race without bets: eliminates i, unless it is the anchor, if
 *     sum_b n_b g_b / sqrt(sum_b n_b v_b) > quantile
 * over the blocks b so far, with mean g_b and variance v_b of the differences from the anchor
 * of the block. A variance of 0 eliminates nothing. O(n_alive).
 */
void pb_medoid_look(pb_medoid *medoid, double quantile);

/* Returns the position of the smallest raw sum, the first if several are equal. */
int64_t pb_medoid_leader(const pb_medoid *medoid);

#ifdef __cplusplus
}
#endif

#endif
