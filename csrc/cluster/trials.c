/*
 * Estimates of many candidates together (pybandit/cluster/trials.h). With 50 clusters of 100
 * columns the first tiles of all strata do not fit into a core's cache, and single candidates wait
 * for them longer than they compute.
 */
#include "pybandit/cluster/trials.h"

#include <stddef.h>

#include "nearest.h"

static int64_t tiles_of(int64_t n) { return (n + PB_TILE - 1) / PB_TILE; }

static int is_open(pb_swap_decision decision)
{
    return decision == PB_SWAP_OWN || decision == PB_SWAP_MIXED;
}

static int needs_own(const pb_swap_trial *t) { return t->own_tiles < tiles_of(t->n_own); }

/*
 * Returns the next tile to read, or NULL if no estimate is open: of a stratum if a candidate
 * needs one, else the first one of the mixed sample that a candidate needs. In this order most
 * candidates are ready when a tile of the mixed sample is read.
 */
static const pb_tile *next_tile(const pb_kmedoids *km, const pb_swap_trial *trials,
                                const pb_swap_decision *decisions, int64_t n)
{
    int64_t first = -1;
    for (int64_t i = 0; i < n; i++) {
        if (!is_open(decisions[i]))
            continue;
        const pb_swap_trial *const t = trials + i;
        if (needs_own(t))
            return km->tiles + km->starts[t->stratum] + t->own_tiles;
        if (first < 0 || t->mixed_tiles < first)
            first = t->mixed_tiles;
    }
    return first < 0 ? NULL : km->mixed_tiles + first;
}

/* Returns 1 if this is the tile that the candidate needs next. */
static int needs(const pb_kmedoids *km, const pb_swap_trial *t, const pb_tile *tile)
{
    return needs_own(t) ? tile == km->tiles + km->starts[t->stratum] + t->own_tiles
                        : tile == km->mixed_tiles + t->mixed_tiles;
}

static pb_status read_together(const pb_kmedoids *km, const pb_tile *tile,
                               const pb_swap_trial *trials, const int64_t *group, int64_t n,
                               pb_tile *scratch, int64_t *rows, double *out)
{
    double *const memory = scratch->memory;
    *scratch = *tile;
    if (!holds_rows(&km->distances)) {
        scratch->memory = memory;
        pb_tile_fill(scratch, &km->distances);
    }
    for (int64_t i = 0; i < n; i++)
        rows[i] = trials[group[i]].row;
    const pb_status status = pb_tile_read(scratch, &km->distances, rows, n, out);
    scratch->memory = memory;
    return status;
}

/* Adds the distances to a tile to an estimate, and decides if no other tile is needed. */
static pb_swap_decision add(const pb_kmedoids *km, pb_swap_trial *t, pb_swap_decision decision,
                            const double *d)
{
    if (needs_own(t))
        pb_swap_add_own(km, t, d);
    else
        pb_swap_add_mixed(km, t, d);
    t->n_read = t->n_own + t->n_mixed;
    if (needs_own(t) || t->mixed_tiles < tiles_of(t->n_mixed))
        return decision;
    return pb_swap_decide(km, t);
}

pb_status pb_swap_try_many(const pb_kmedoids *km, pb_swap_trial *trials,
                           pb_swap_decision *decisions, int64_t n, const int64_t *by_row,
                           pb_tile *scratch, int64_t *group, int64_t *rows, double *out)
{
    for (int64_t i = 0; i < n; i++)
        trials[i].n_read = 0;
    for (;;) {
        const pb_tile *const tile = next_tile(km, trials, decisions, n);
        if (!tile)
            return PB_OK;
        int64_t size = 0;
        for (int64_t at = 0; at < n; at++) {
            const int64_t i = by_row[at];
            if (is_open(decisions[i]) && needs(km, trials + i, tile))
                group[size++] = i;
        }
        const pb_status status = read_together(km, tile, trials, group, size, scratch, rows, out);
        if (status != PB_OK)
            return status;
        for (int64_t at = 0; at < size; at++) {
            const int64_t i = group[at];
            decisions[i] = add(km, trials + i, decisions[i], out + at * PB_TILE);
        }
    }
}
