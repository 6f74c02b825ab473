/*
 * Estimates of many candidates together (pybandit/cluster/trials.h). With 50 clusters of 100
 * columns the first tiles of all strata do not fit into a core's cache, and single candidates wait
 * for them longer than they compute.
 */
#include "pybandit/cluster/trials.h"

#include "../_shared/minimum.h"
#include "nearest.h"

static int64_t tiles_of(int64_t n) { return (n + PB_TILE - 1) / PB_TILE; }

static int is_open(pb_swap_decision decision)
{
    return decision == PB_SWAP_OWN || decision == PB_SWAP_MIXED;
}

static int needs_own(const pb_swap_trial *t) { return t->own_tiles < tiles_of(t->n_own); }

#define NO_TILE INT64_MAX
enum { AT_ONCE = 16 };  /* candidates whose distances stay in the first cache: 8 KiB */

/* Number of the tile that a candidate needs next: tiles of the strata come before mixed ones. */
static int64_t next_tile(const pb_kmedoids *km, const pb_swap_trial *t)
{
    return needs_own(t) ? km->starts[t->stratum] + t->own_tiles : km->n_tiles + t->mixed_tiles;
}

/*
 * Candidates whose estimates are open, by increasing row, and the tiles that they need. Tiles are
 * kept apart from the trials, which do not fit into a core's first cache.
 */
typedef struct {
    int64_t *candidates, *tiles, n;
} open_trials;

static void open_all(open_trials *open, const pb_kmedoids *km, const pb_swap_trial *trials,
                     const pb_swap_decision *decisions, int64_t n, const int64_t *by_row)
{
    open->n = 0;
    for (int64_t at = 0; at < n; at++) {
        const int64_t i = by_row[at];
        if (!is_open(decisions[i]))
            continue;
        open->candidates[open->n] = i;
        open->tiles[open->n++] = next_tile(km, trials + i);
    }
}

/*
 * Writes the positions in `open` of the candidates that need the first tile, and returns their
 * number. In this order most candidates are ready when a tile of the mixed sample is read.
 */
static int64_t find_group(const open_trials *open, int64_t *group)
{
    int64_t first = NO_TILE, size = 0;
    for (int64_t at = 0; at < open->n; at++)
        first = minimum(first, open->tiles[at]);
    for (int64_t at = 0; at < open->n; at++) {
        group[size] = at;
        size += open->tiles[at] == first;
    }
    return size;
}

/* Removes the candidates that need no tile. */
static void compact(open_trials *open)
{
    int64_t n = 0;
    for (int64_t at = 0; at < open->n; at++) {
        open->candidates[n] = open->candidates[at];
        open->tiles[n] = open->tiles[at];
        n += open->tiles[at] != NO_TILE;
    }
    open->n = n;
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

/* Measures the group of candidates that need a tile, and adds the distances to their estimates. */
static pb_status read_group(const pb_kmedoids *km, pb_swap_trial *trials,
                            pb_swap_decision *decisions, open_trials *open, const int64_t *group,
                            int64_t size, pb_tile *scratch, int64_t *rows, double *out)
{
    const int64_t number = open->tiles[group[0]];
    const int64_t most = km->distances.function ? size : AT_ONCE;
    double *const memory = scratch->memory;
    *scratch = number < km->n_tiles ? km->tiles[number] : km->mixed_tiles[number - km->n_tiles];
    if (!holds_rows(&km->distances)) {
        scratch->memory = memory;
        pb_tile_fill(scratch, &km->distances);
    }
    pb_status status = PB_OK;
    for (int64_t first = 0; first < size && status == PB_OK; first += most) {
        const int64_t n = minimum(most, size - first), *const part = group + first;
        for (int64_t at = 0; at < n; at++)
            rows[at] = trials[open->candidates[part[at]]].row;
        status = pb_tile_read(scratch, &km->distances, rows, n, out);
        for (int64_t at = 0; at < n && status == PB_OK; at++) {
            const int64_t i = open->candidates[part[at]];
            decisions[i] = add(km, trials + i, decisions[i], out + at * PB_TILE);
            open->tiles[part[at]] = is_open(decisions[i]) ? next_tile(km, trials + i) : NO_TILE;
        }
    }
    scratch->memory = memory;
    return status;
}

pb_status pb_swap_try_many(const pb_kmedoids *km, pb_swap_trial *trials,
                           pb_swap_decision *decisions, int64_t n, const int64_t *by_row,
                           pb_tile *scratch, int64_t *group, int64_t *rows, double *out)
{
    open_trials open = {group + n, group + 2 * n, 0};
    for (int64_t i = 0; i < n; i++)
        trials[i].n_read = 0;
    open_all(&open, km, trials, decisions, n, by_row);
    while (open.n) {
        const int64_t size = find_group(&open, group);
        const pb_status status = read_group(km, trials, decisions, &open, group, size, scratch,
                                            rows, out);
        if (status != PB_OK)
            return status;
        compact(&open);
    }
    return PB_OK;
}
