#ifndef PYBANDIT_DISTANCE_H
#define PYBANDIT_DISTANCE_H

#include <stdint.h>

#include "pybandit/_shared/status.h"
#include "pybandit/racing/factors.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Distances between n points, computed for many candidates and a tile of up to PB_TILE
 * references. A tile stores its references by columns, so that each reference has its own lane
 * and adds its columns in order: results have the same bits for every width of vectors and any
 * number of threads. Distances of float32 rows are computed in float32 and returned as doubles.
 * Differences are squared; |x|^2 + |y|^2 - 2 x y would lose digits of rows far from 0.
 */
enum { PB_TILE = 64 };

typedef enum {
    PB_EUCLIDEAN = 0,
    PB_SQEUCLIDEAN = 1,
    PB_MANHATTAN = 2,
    PB_HAMMING = 3,     /* share of columns that differ */
    PB_COSINE = 4,      /* half the squared Euclidean distance; rows must have length 1 */
    PB_PRECOMPUTED = 5  /* entry j of row i is the distance from candidate i to reference j */
} pb_metric;

/*
 * Points: rows of floats, rows of doubles, or a function if both pointers are NULL. Rows are dense,
 * or in CSR if `starts` is not NULL: the values of row i are those from starts[i] to
 * starts[i + 1] - 1, and all other entries are 0. Not for PRECOMPUTED.
 */
typedef struct {
    pb_metric metric;
    int64_t n, n_columns;        /* points; columns of a row, n if PRECOMPUTED */
    const float *floats;         /* n rows in C order, or the values of CSR */
    const double *doubles;
    pb_factor_function function; /* of references (its factors) and candidates (its states) */
    void *user_data;
    const int64_t *starts;       /* n + 1, not decreasing; NULL if rows are dense */
    const int32_t *columns;      /* of each value, increasing in each row; others are ignored */
} pb_distances;

/* References of one tile, owned by the caller. Threads may read rows by the same tile. */
typedef struct {
    int64_t n;                   /* number of references, 1 to PB_TILE */
    const int64_t *references;   /* their indices */
    double *memory;              /* pb_tile_memory() doubles */
} pb_tile;

/*
 * Returns the number of doubles in the memory of a tile, for calls of pb_tile_read with at most
 * n_candidates. Only functions need more for more candidates, and no two threads may read by
 * the same tile then.
 */
int64_t pb_tile_memory(const pb_distances *distances, int64_t n_candidates);

/* Copies the rows of the references into the memory. O(n_columns PB_TILE). */
void pb_tile_fill(const pb_tile *tile, const pb_distances *distances);

/*
 * Writes out[c * PB_TILE + r], the distance from candidates[c] to reference r. The entries from
 * tile->n on are finite and at least 0, and otherwise meaningless. Candidates of a function must
 * be increasing. Returns PB_CALLBACK if the function fails. Distances of a function or of a
 * PRECOMPUTED matrix are checked: returns PB_NOT_FINITE if one is NaN or infinite, and PB_RANGE
 * if one is negative; pb_tile_find_bad then finds it. Distances of rows are not checked, and
 * are finite if squared differences of the rows are. O(n_candidates PB_TILE n_columns).
 */
pb_status pb_tile_read(const pb_tile *tile, const pb_distances *distances,
                       const int64_t *candidates, int64_t n_candidates, double *out);

/*
 * pb_tile_read for sums over near references only. Writes to near[c] bit r for each reference r
 * whose distance may be at most most[r], and their distances to out[c * PB_TILE + r]; all other
 * references are farther, and their entries are meaningless. If near[c] is PB_ALL_NEAR, all
 * entries are written, those of halves that were left out as infinity.
 *
 * Bits 0 and 1 of halves[c] are set if the first and last PB_TILE / 2 references of the tile are
 * to be measured; NULL: all are. They do not matter for functions and PRECOMPUTED matrices,
 * whose references are all near.
 */
#define PB_ALL_NEAR UINT64_MAX
pb_status pb_tile_read_near(const pb_tile *tile, const pb_distances *distances,
                            const int64_t *candidates, int64_t n_candidates,
                            const unsigned char *halves, const double *most, double *out,
                            uint64_t *near);

/*
 * Adds the sum of w_j times the distance, over the references j of the tile, to sums[c] for each
 * of n_candidates. `weights` is by index, or NULL if all are 1.
 */
void pb_tile_add(const pb_tile *tile, const double *weights, const double *out,
                 int64_t n_candidates, double *sums);

/* Returns the position in `out` of the first entry that is not a finite number >= 0, or -1. */
int64_t pb_tile_find_bad(const double *out, int64_t n_candidates);

/* Returns the distance from point i to j, of rows or of a PRECOMPUTED matrix, in double
   precision. */
double pb_distance_between(const pb_distances *distances, int64_t i, int64_t j);

/*
 * Writes out[j], the distance from point i to every point j, of rows or of a PRECOMPUTED matrix,
 * in double precision. Returns the sum of w_j out[j].
 */
double pb_distance_from(const pb_distances *distances, const double *weights, int64_t i,
                        double *out);

#ifdef __cplusplus
}
#endif

#endif
