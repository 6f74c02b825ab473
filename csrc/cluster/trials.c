/*
 * Estimates of many candidates together (pybandit/cluster/trials.h). With 50 clusters of 100
 * columns the first tiles of all strata do not fit into a core's cache, and single candidates wait
 * for them longer than they compute.
 */
#include <math.h>
#include <stddef.h>

#include "pybandit/cluster/trials.h"

#include "../_shared/minimum.h"
#include "nearest.h"

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

/* Arguments of pb_swap_try_many. */
typedef struct {
    pb_swap_trial *trials;
    pb_swap_decision *decisions;
    open_trials open;
    int64_t *rows;
    pb_swap_limits *limits;
    double *out;
} trial_set;

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
                            const double *d, uint64_t near)
{
    if (needs_own(t))
        pb_swap_add_own(km, t, d, near);
    else
        pb_swap_add_mixed(km, t, d, near);
    if (needs_own(t) || t->mixed_tiles < tiles_of(t->n_mixed))
        return decision;
    return pb_swap_decide(km, t);
}

/* Returns the halves of a tile of the mixed sample that a candidate may gain from. */
static unsigned char find_halves(const pb_kmedoids *km, int64_t mixed_tile, const pb_swap_trial *t,
                                 pb_swap_limits *limits)
{
    unsigned halves = 0;
    for (int64_t half = 0; half < 2; half++) {
        const int64_t at = 2 * mixed_tile + half;
        double computed = NAN, *const limit = mixed_tile < PB_SWAP_LIMITS
                                                  ? limits->values + at * km->k + t->cluster
                                                  : &computed;
        if (isnan(*limit))
            *limit = pb_swap_limit(km, at, t->cluster);
        halves |= (t->length < *limit ? 0u : 1u) << half;
    }
    return (unsigned char)halves;
}

/* Forgets the limits of another state of the stage. */
static void renew(const pb_kmedoids *km, pb_swap_limits *limits)
{
    if (limits->version == km->version)
        return;
    limits->version = km->version;
    for (int64_t i = 0; i < 2 * PB_SWAP_LIMITS * km->k; i++)
        limits->values[i] = NAN;
}

/* Measures a part of a group, and adds the distances to its estimates. */
static pb_status read_part(const pb_kmedoids *km, const trial_set *set, const int64_t *part,
                           int64_t n, int64_t number, const pb_tile *tile)
{
    const int is_mixed = number >= km->n_tiles, is_function = km->distances.function != NULL;
    const int64_t at = is_mixed ? number - km->n_tiles : number;
    const double *const most = (is_mixed ? km->mixed_d2 : km->d2) + at * PB_TILE;
    unsigned char halves[AT_ONCE];
    uint64_t near[AT_ONCE];
    for (int64_t i = 0; i < n; i++) {
        const pb_swap_trial *const t = set->trials + set->open.candidates[part[i]];
        set->rows[i] = t->row;
        if (!is_function)
            halves[i] = is_mixed && km->between ? find_halves(km, at, t, set->limits) : 3;
    }
    const pb_status status =
        is_function ? pb_tile_read(tile, &km->distances, set->rows, n, set->out)
                    : pb_tile_read_near(tile, &km->distances, set->rows, n, halves, most,
                                        set->out, near);
    for (int64_t i = 0; i < n && status == PB_OK; i++) {
        const int64_t c = set->open.candidates[part[i]];
        set->trials[c].n_read += pb_swap_references(tile, is_function ? 3 : halves[i]);
        set->decisions[c] = add(km, set->trials + c, set->decisions[c], set->out + i * PB_TILE,
                                is_function ? PB_ALL_NEAR : near[i]);
        set->open.tiles[part[i]] = is_open(set->decisions[c]) ? next_tile(km, set->trials + c)
                                                              : NO_TILE;
    }
    return status;
}

/* Measures the group of candidates that need a tile. */
static pb_status read_group(const pb_kmedoids *km, const trial_set *set, const int64_t *group,
                            int64_t size, pb_tile *scratch)
{
    const int64_t number = set->open.tiles[group[0]];
    const int64_t most = km->distances.function ? size : AT_ONCE;
    double *const memory = scratch->memory;
    *scratch = number < km->n_tiles ? km->tiles[number] : km->mixed_tiles[number - km->n_tiles];
    if (!holds_rows(&km->distances)) {
        scratch->memory = memory;
        pb_tile_fill(scratch, &km->distances);
    }
    pb_status status = PB_OK;
    for (int64_t first = 0; first < size && status == PB_OK; first += most)
        status = read_part(km, set, group + first, minimum(most, size - first), number, scratch);
    scratch->memory = memory;
    return status;
}

/* Sorts candidates by the stratum whose first tile they need. `group` has n + k + 1 entries. */
static void sort_by_tile(open_trials *open, const pb_kmedoids *km, const pb_swap_trial *trials,
                         int64_t *group)
{
    int64_t *const next = group + open->n, *const sorted = group;
    for (int64_t s = 0; s <= km->k; s++)
        next[s] = 0;
    for (int64_t at = 0; at < open->n; at++)
        next[trials[open->candidates[at]].stratum + 1]++;
    for (int64_t s = 0; s < km->k; s++)
        next[s + 1] += next[s];
    for (int64_t at = 0; at < open->n; at++)
        sorted[next[trials[open->candidates[at]].stratum]++] = open->candidates[at];
    for (int64_t at = 0; at < open->n; at++) {
        open->candidates[at] = sorted[at];
        open->tiles[at] = next_tile(km, trials + sorted[at]);
    }
}

/* Measures the first tile of each stratum. */
static pb_status read_strata(const pb_kmedoids *km, const trial_set *set, int64_t *group,
                             pb_tile *scratch)
{
    pb_status status = PB_OK;
    for (int64_t first = 0, size; first < set->open.n && status == PB_OK; first += size) {
        const int64_t tile = set->open.tiles[first];
        for (size = 0; first + size < set->open.n && set->open.tiles[first + size] == tile; size++)
            group[size] = first + size;
        status = read_group(km, set, group, size, scratch);
    }
    return status;
}

pb_status pb_swap_try_many(const pb_kmedoids *km, pb_swap_trial *trials,
                           pb_swap_decision *decisions, int64_t n, const int64_t *by_row,
                           pb_tile *scratch, int64_t *group, int64_t *rows,
                           pb_swap_limits *limits, double *out)
{
    int64_t *const candidates = group + n + km->k + 1;
    trial_set set = {trials, decisions, {candidates, candidates + n, 0}, rows, limits, out};
    renew(km, limits);
    open_all(&set.open, km, trials, decisions, n, by_row);
    sort_by_tile(&set.open, km, trials, group);
    pb_status status = read_strata(km, &set, group, scratch);
    open_all(&set.open, km, trials, decisions, n, by_row);
    while (set.open.n && status == PB_OK) {
        const int64_t size = find_group(&set.open, group);
        status = read_group(km, &set, group, size, scratch);
        compact(&set.open);
    }
    return status;
}
