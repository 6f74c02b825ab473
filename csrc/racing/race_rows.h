#ifndef RACE_ROWS_H
#define RACE_ROWS_H

/*
 * Reading the rows of a race: from a matrix by index, prefetched one tile ahead; from a
 * function, one block per call; or a whole matrix in order at the last look. Rows are
 * added to the moments or to the betting race. Private to race.c.
 */
#include "pybandit/racing/race.h"
#include "pybandit/racing/totals.h"

#include <math.h>
#include <stddef.h>

#include "../_shared/minimum.h"
#include "../_shared/prefetch.h"
#include "../_shared/wide.h"

enum {
    TILE = PB_RACE_TILE_ROWS,  /* rows added to the moments at a time */
    LINE = 64,                 /* bytes of a cache line */
    MOST_LINES = 32,           /* lines of a row that are prefetched */
    STREAM_CELLS = 1 << 14,    /* cells added up at a time, then checked while still in cache */
};

/* Returns the surviving states' columns of a matrix row; NULL if all columns are used. */
static const int64_t *alive_columns(const pb_race *race)
{
    return race->factors.matrix && race->n_alive < race->factors.n_states ? race->states
                                                                          : NULL;
}

static int64_t reference_column(const pb_race *race)
{
    if (!race->pairwise)
        return -1;
    return race->factors.matrix ? race->states[race->leader] : race->leader;
}

/* Resets the moments, and the extremes of differences, for the current leader. */
static void reset_moments(pb_race *race)
{
    race->moments.count = 0;
    race->moments.n_columns = race->n_alive;
    race->moments.columns = alive_columns(race);
    race->moments.reference = reference_column(race);
    if (race->ranges && race->difference_range > 0.0)
        for (int64_t i = 0; i < race->n_alive; i++) {
            race->low[i] = INFINITY;
            race->high[i] = -INFINITY;
        }
}

/* Adds rows. Returns 0 if the betting race has decided or met a reward out of range. */
static int absorb(pb_race *race, const double *const *rows, int64_t n_rows)
{
    if (race->betting) {
        if (pb_betting_add(race->betting, rows, n_rows) == PB_RANGE)
            race->refused = rows[race->betting->bad_row];
        return !race->refused && !race->betting->decided;
    }
    pb_moments_add(&race->moments, rows, n_rows);
    if (race->ranges)
        pb_moments_extremes(rows, n_rows,
                            race->difference_range > 0.0 ? race->moments.reference : -1,
                            race->moments.columns, race->n_alive, race->low, race->high);
    return 1;
}

static const void *row_of(const pb_factors *factors, int64_t factor)
{
    return pb_cells_from(factors->matrix, factors->type, factor * factors->n_states);
}

static void prefetch_rows(const pb_race *race, const int64_t *indices, int64_t n_rows)
{
    const pb_factors *factors = &race->factors;
    const int64_t size = factors->n_states * pb_cells_size(factors->type);
    for (int64_t i = 0; i < n_rows; i++) {
        const char *const row = row_of(factors, indices[i]);
        for (int64_t byte = 0; byte < size && byte < MOST_LINES * LINE; byte += LINE)
            PREFETCH(row + byte);
        PREFETCH(row + size - 1);
    }
}

/* Returns a row of the matrix as doubles; converted to row i of the tile if it is not. */
static const double *doubles_of(pb_race *race, int64_t factor, int64_t i)
{
    const pb_factors *factors = &race->factors;
    if (factors->type == PB_FLOAT64)
        return row_of(factors, factor);
    double *const converted = race->tile + i * factors->n_states;
    pb_cells_read(row_of(factors, factor), factors->type, factors->n_states, converted);
    return converted;
}

/* Adds rows of the matrix by index, prefetching one tile ahead. */
static void absorb_gathered(pb_race *race, const int64_t *indices, int64_t n_rows)
{
    const double *rows[TILE];
    prefetch_rows(race, indices, minimum(TILE, n_rows));
    for (int64_t done = 0; done < n_rows; done += TILE) {
        const int64_t count = minimum(TILE, n_rows - done);
        prefetch_rows(race, indices + done + count, minimum(TILE, n_rows - done - count));
        for (int64_t i = 0; i < count; i++)
            rows[i] = doubles_of(race, indices[done + i], i);
        if (!absorb(race, rows, count)) {
            if (race->refused)
                race->refused_factor = indices[done + race->betting->bad_row];
            return;
        }
    }
}

static void absorb_rewards(pb_race *race, const double *rewards, int64_t n_rows)
{
    const double *rows[TILE];
    for (int64_t done = 0; done < n_rows; done += TILE) {
        const int64_t count = minimum(TILE, n_rows - done);
        for (int64_t i = 0; i < count; i++)
            rows[i] = rewards + (done + i) * race->n_alive;
        if (!absorb(race, rows, count))
            return;
    }
}

/* Returns d_i of the r-th row read so far (moments.h); not valid at the last look. */
static double difference_at(const pb_race *race, int64_t r, int64_t i)
{
    const pb_factors *factors = &race->factors;
    const pb_moments *m = &race->moments;
    if (!factors->matrix)
        return pb_moments_of(m, race->rewards + r * race->n_alive, i);
    const void *const row = row_of(factors, race->indices[r]);
    const int64_t entry = m->columns ? m->columns[i] : i;
    return (m->reference < 0 ? 0.0 : pb_cells_at(row, factors->type, m->reference)) -
           pb_cells_at(row, factors->type, entry);
}

static void reread(pb_race *race)
{
    const int64_t n_rows = race->moments.count;
    reset_moments(race);
    if (race->factors.matrix)
        absorb_gathered(race, race->indices, n_rows);
    else
        absorb_rewards(race, race->rewards, n_rows);
}

static int all_finite(const pb_moments *moments)
{
    double total = 0.0;  /* NaN and infinity survive being multiplied by zero */
    for (int64_t i = 0; i < moments->n_columns; i++)
        total += 0.0 * moments->sum[i] + 0.0 * moments->square[i];
    return total == 0.0;
}

/* Copies the rows read and the surviving states from the betting race, after a block. */
static pb_status follow_bets(pb_race *race)
{
    const pb_betting *betting = race->betting;
    if (race->refused)
        return PB_RANGE;
    race->moments.count = betting->n_read;
    race->n_alive = race->moments.n_columns = betting->n_alive;
    race->moments.columns = alive_columns(race);
    race->leader = betting->leader;
    if (!race->factors.matrix)
        for (int64_t i = 0; i < race->n_alive; i++)
            betting->columns[i] = i;  /* the next call returns only the survivors */
    return PB_OK;
}

static int has_memory(const pb_race *race)
{
    return race->needed_rewards <= race->rewards_capacity &&
           race->needed_indices <= race->indices_capacity;
}

/*
 * Requests the next n rows from the function. Stores them from row `at` on: they are needed
 * again if the leader changes.
 */
static pb_status call(pb_race *race, pb_bitgen *bitgen, int64_t at, int64_t n)
{
    const int64_t n_alive = race->n_alive;
    race->needed_rewards = (at + n) * n_alive;
    race->needed_indices = at + n;
    if (!has_memory(race))
        return PB_GROW;
    double *rewards = race->rewards + at * n_alive;
    for (int64_t i = 0; i < n * n_alive; i++)
        rewards[i] = NAN;  /* so that entries the function skips are found below */
    pb_subsample_next(race->subsample, bitgen, n, race->indices + at);
    if (race->factors.function(race->indices + at, n, race->states, n_alive, rewards,
                               race->factors.user_data))
        return PB_CALLBACK;
    race->called_at = at;
    race->called_rows = n;
    absorb_rewards(race, rewards, n);
    race->n_evaluations += n * n_alive;
    if (race->betting)
        return follow_bets(race);
    return all_finite(&race->moments) ? PB_OK : PB_NOT_FINITE;
}

/* Reads up to `target` rows in total. Betting and the last, exact look do not store them. */
static pb_status read_function(pb_race *race, pb_bitgen *bitgen, int64_t target)
{
    const int keeps = !race->betting && target < race->factors.n_factors;
    while (race->moments.count < target && race->n_alive > 1) {
        const int64_t at = keeps ? race->moments.count : 0;
        const int64_t n = minimum(PB_RACE_CALL_ROWS, target - race->moments.count);
        const pb_status status = call(race, bitgen, at, n);
        if (status != PB_OK)
            return status;
    }
    return PB_OK;
}

static pb_status read_matrix(pb_race *race, pb_bitgen *bitgen, int64_t target)
{
    race->needed_indices = target;
    if (!has_memory(race))
        return PB_GROW;
    int64_t *indices = race->indices + race->moments.count;
    const int64_t n = target - race->moments.count;
    pb_subsample_next(race->subsample, bitgen, n, indices);
    if (!race->betting)
        race->n_evaluations += n * race->n_alive;
    absorb_gathered(race, indices, n);
    if (!race->betting)
        return PB_OK;
    race->n_evaluations = race->betting->n_evaluations;
    return follow_bets(race);
}

WIDE static int all_between(const double *values, int64_t n, double low, double high)
{
    const vector least = ALL(low), most = ALL(high);
    MASK(good, least L <= most L);
    int64_t rest = 1, i = 0;
    for (; i + LANES <= n; i += LANES) {
        const vector value = LOAD(values + i);
        EACH good L &= (value L >= least L) & (value L <= most L);
    }
    for (; i < n; i++)
        rest &= (int64_t)(values[i] >= low) & (int64_t)(values[i] <= high);
    return rest && LANE(good, 0) && LANE(good, 1) && LANE(good, 2) && LANE(good, 3);
}

/* Returns 1 if all cells of these rows are in the range of the betting race. */
static int all_in_range(const pb_race *race, int64_t first, int64_t n_rows)
{
    const pb_factors *factors = &race->factors;
    const pb_items *items = &race->betting->items;
    const void *const rows = row_of(factors, first);
    const int64_t n = n_rows * factors->n_states;
    double low, high;
    if (factors->type == PB_FLOAT64)  /* faster than the limits of the cells */
        return all_between(rows, n, items->low, items->high);
    return pb_cells_range(rows, factors->type, n, &low, &high) && low >= items->low &&
           high <= items->high;
}

/* Checks rewards that are only added up against the range of the betting race. */
static void check_range(pb_race *race, int64_t first, int64_t n_rows)
{
    const pb_items *items = &race->betting->items;
    /* check row by row if only differences are bounded, or a value is out of range: it may
       belong to an eliminated state */
    if (items->low > -INFINITY && all_in_range(race, first, n_rows))
        return;
    for (int64_t r = first; r < first + n_rows && !race->refused; r++) {
        const double *const row = doubles_of(race, r, 0);
        if (!pb_items_allow(items, row, race->states, race->n_alive)) {
            race->refused = row;
            race->refused_factor = r;
        }
    }
}

/*
 * Last look on a matrix: sums everything in one pass over memory, which is cheaper than
 * reading the rest in random order. It sums differences from the leader, which keep the
 * digits that totals of large rewards lose.
 */
static void stream_matrix(pb_race *race)
{
    const pb_factors *factors = &race->factors;
    pb_moments *m = &race->moments;
    race->n_evaluations += (factors->n_factors - m->count) * race->n_alive;
    /* adding whole rows is faster than picking columns, unless most states are eliminated */
    const int whole = 3 * race->n_alive > factors->n_states;
    const int64_t n_columns = whole ? factors->n_states : race->n_alive;
    const int64_t tiles = 1 + STREAM_CELLS / (TILE * factors->n_states);
    for (int64_t i = 0; i < n_columns; i++)
        race->totals[i] = 0.0;
    for (int64_t r = 0; r < factors->n_factors; r += 2 * TILE * tiles) {
        const int64_t n = minimum(2 * TILE * tiles, factors->n_factors - r);
        pb_totals_add(row_of(factors, r), factors->type, n, factors->n_states,
                      whole ? NULL : m->columns, n_columns, race->states[race->leader],
                      race->totals);
        if (race->betting)
            check_range(race, r, n);
    }
    for (int64_t i = 0; i < race->n_alive; i++) {
        m->shift[i] = m->square[i] = 0.0;
        m->sum[i] = race->totals[whole ? race->states[i] : i];
    }
    m->count = factors->n_factors;
}

#endif
