#ifndef PYBANDIT_GAINS_H
#define PYBANDIT_GAINS_H

#include <stdint.h>

#include "pybandit/_shared/status.h"
#include "pybandit/cluster/kmedoids.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    PB_SWAP_DROP = 0,   /* the candidate hardly gains */
    PB_SWAP_ASK = 1,    /* compute the gain from all points */
    PB_SWAP_OWN = 2,    /* read more points of the candidate's stratum */
    PB_SWAP_MIXED = 3,  /* read more points of the mixed sample */
    PB_SWAP_PASS = 4    /* the candidate is a medoid or a copy of one */
} pb_swap_decision;

/*
 * Estimate of the gains of one candidate. The caller owns `memory`, 4 k doubles, and `touched`,
 * 2 k entries, which are 0 before the first estimate.
 */
typedef struct {
    int64_t row, stratum;
    int32_t cluster;                 /* cluster of the candidate at present */
    double own_square;               /* square of the candidate's own gain, which is known */
    double length;                   /* from its medoid, for bounds */
    int64_t n_own, n_mixed;          /* points to read of the stratum and the mixed sample */
    int64_t own_tiles, mixed_tiles;  /* tiles read so far */
    int64_t n_rest;                  /* points read of the mixed sample outside the stratum */
    double own[2], paired[2], rest[2];  /* sums and sums of squares */
    double *memory;                  /* 4 sums per cluster, undefined unless it is touched */
    int32_t *touched, n_touched;     /* clusters with sums; then 1 for each of these clusters */
    double gain;                     /* largest estimated gain at the last look */
    int64_t n_read;                  /* distances measured so far */
} pb_swap_trial;

/* Starts the estimate for the point at position i of the random order. O(k) at most. */
pb_swap_decision pb_swap_begin(const pb_kmedoids *km, pb_swap_trial *trial, int64_t i);

/*
 * Add the next tile of the stratum or of the mixed sample, from pb_tile_read_near with most = d2 of
 * the tile: references that are not near gain nothing.
 */
void pb_swap_add_own(const pb_kmedoids *km, pb_swap_trial *trial, const double *d, uint64_t near);
void pb_swap_add_mixed(const pb_kmedoids *km, pb_swap_trial *trial, const double *d,
                       uint64_t near);

/*
 * Returns a bound for half a tile of the mixed sample, of PB_TILE / 2 references: none of them
 * gains from candidates of the cluster whose `length` is below it. Needs `between`.
 */
double pb_swap_limit(const pb_kmedoids *km, int64_t half, int32_t cluster);

/* Returns the number of references in these halves of a tile; see pb_tile_read_near. */
int64_t pb_swap_references(const pb_tile *tile, unsigned halves);

/* Returns the estimated gain if the medoid of a cluster is removed, and its standard error. */
double pb_swap_estimate(const pb_kmedoids *km, const pb_swap_trial *trial, int64_t cluster,
                        double *error);

/*
 * Decides from the tiles read so far; for OWN and MIXED, n_own or n_mixed is larger. O(number of
 * touched clusters), at most O(k).
 */
pb_swap_decision pb_swap_decide(const pb_kmedoids *km, pb_swap_trial *trial);

/*
 * Estimates the gains of the point at position i until the decision is DROP, ASK or PASS.
 * `scratch` is a tile with memory for one candidate, and d has PB_TILE entries. After a failure
 * they are the tile that was read and its distances, and trial->row is the candidate.
 */
pb_status pb_swap_try(const pb_kmedoids *km, pb_swap_trial *trial, int64_t i, pb_tile *scratch,
                      double *d, pb_swap_decision *decision);

#ifdef __cplusplus
}
#endif

#endif
