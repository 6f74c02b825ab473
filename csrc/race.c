/*
 * The race (Chen & Ghahramani 2016, Algorithm 1), at O(D T) for T rows of D states.
 *
 * The paper prices pairwise variances at O(D^2 T). Here the moments are of the
 * differences from one reference state, guessed to be the leader. When a look
 * finds another leader, the rows read so far are gone through once more with it
 * as the reference; looks double, so even a change at every look costs at most
 * twice one pass. Marginal variances are the same with no reference, where a
 * change of leader costs nothing. A race by betting (betting.c) takes the same
 * rows and keeps no moments: only a matrix's last look, which is exact, needs them.
 */
#include "pybandit/race.h"

#include <math.h>
#include <stddef.h>

#include "wide.h"

enum {
    TILE = 64,          /* rows handed to the moments at a time */
    LINE = 8,           /* doubles a cache line */
    CALL_ROWS = 16384,  /* rows asked of a function in one call */
    STREAM_ROWS = 128,  /* rows added up, and checked while they are in cache */
};

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)0)
#endif

static int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }

/* The alive columns of a row: of the matrix by state, of a function's rewards all. */
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

/* Starts the moments (and the extremes of differences) over for the present leader. */
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

/* Every alive state's capital and score. */
static void begin_betting(pb_race *race)
{
    pb_betting *betting = race->betting;
    betting->arms = race->states;
    betting->n_alive = race->n_alive;
    for (int64_t i = 0; i < race->n_alive; i++) {
        betting->columns[i] = race->factors.matrix ? race->states[i] : i;
        betting->scores[i] = race->offsets[race->states[i]];
    }
    pb_betting_begin(betting);
}

void pb_race_begin(pb_race *race, pb_bitgen *bitgen)
{
    const int64_t n_states = race->factors.n_states;
    race->n_alive = race->leader = 0;
    for (int64_t state = 0; state < n_states; state++)
        if (race->offsets[state] > -INFINITY) {
            race->states[race->n_alive] = state;
            if (race->offsets[state] > race->offsets[race->states[race->leader]])
                race->leader = race->n_alive;
            race->n_alive++;
        }
    race->moments.shift = race->moments_memory;
    race->moments.sum = race->moments_memory + n_states;
    race->moments.square = race->moments_memory + 2 * n_states;
    race->low = race->moments_memory + 3 * n_states;
    race->high = race->moments_memory + 4 * n_states;
    race->totals = race->moments_memory + 5 * n_states;
    for (int64_t i = 0; i < n_states; i++) {
        race->low[i] = INFINITY;
        race->high[i] = -INFINITY;
    }
    reset_moments(race);
    if (race->betting)
        begin_betting(race);
    pb_subsample_restart(race->subsample, bitgen);
    race->n_looks = 0;
    race->n_evaluations = 0;
    race->exact = 0;
    race->winner = -1;
    race->needed_rewards = race->needed_indices = 0;
    race->refused = NULL;
}

/* Whether the race goes on: bets may settle it, or refuse a reward. */
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

static void prefetch_rows(const pb_race *race, const int64_t *indices, int64_t n_rows)
{
    const int64_t stride = race->factors.n_states;
    for (int64_t i = 0; i < n_rows; i++)
        for (int64_t c = 0; c < stride && c < 4 * LINE; c += LINE)
            PREFETCH(race->factors.matrix + indices[i] * stride + c);
}

/* Gathers rows of the matrix by index; memory works a tile ahead of the arithmetic. */
static void absorb_gathered(pb_race *race, const int64_t *indices, int64_t n_rows)
{
    const double *rows[TILE];
    prefetch_rows(race, indices, minimum(TILE, n_rows));
    for (int64_t done = 0; done < n_rows; done += TILE) {
        const int64_t count = minimum(TILE, n_rows - done);
        prefetch_rows(race, indices + done + count, minimum(TILE, n_rows - done - count));
        for (int64_t i = 0; i < count; i++)
            rows[i] = race->factors.matrix + indices[done + i] * race->factors.n_states;
        if (!absorb(race, rows, count))
            return;
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

/* After a block: the rows and the alive that the bets left, or PB_RANGE. */
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
            betting->columns[i] = i;  /* the next call returns the alive only */
    return PB_OK;
}

static int has_memory(const pb_race *race)
{
    return race->needed_rewards <= race->rewards_capacity &&
           race->needed_indices <= race->indices_capacity;
}

/*
 * Asks the function for the next n rows. Rewards are kept from entry `at` on:
 * a leader that changes later needs them again.
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
        rewards[i] = NAN;  /* what the function leaves out is found below */
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

/* Reads up to `target` rows; bets and the last look, which is exact, keep nothing. */
static pb_status read_function(pb_race *race, pb_bitgen *bitgen, int64_t target)
{
    const int keeps = !race->betting && target < race->factors.n_factors;
    while (race->moments.count < target && race->n_alive > 1) {
        const int64_t at = keeps ? race->moments.count : 0;
        const int64_t n = minimum(CALL_ROWS, target - race->moments.count);
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

/* Bets need rewards in range; so must be those that are only added up. */
static int row_in_range(const pb_race *race, const double *row)
{
    const pb_items *items = &race->betting->items;
    double low = INFINITY, high = -INFINITY;
    int good = 1;
    for (int64_t i = 0; i < race->n_alive; i++) {
        const double reward = row[race->states[i]];
        low = reward < low ? reward : low;
        high = reward > high ? reward : high;
        good &= (reward >= items->low) & (reward <= items->high);
    }
    return good && high - low <= items->range * (1.0 + 1e-12);
}

WIDE static int all_in_range(const double *values, int64_t n, double low, double high)
{
    int64_t good = 1;
    for (int64_t i = 0; i < n; i++)
        good &= (int64_t)(values[i] >= low) & (int64_t)(values[i] <= high);
    return good != 0;
}

static void check_range(pb_race *race, const double *rows, int64_t n_rows)
{
    const int64_t stride = race->factors.n_states;
    const pb_items *items = &race->betting->items;
    /* one by one where only differences are bounded, or a dropped state is out of range */
    if (items->low == -INFINITY ||
        !all_in_range(rows, n_rows * stride, items->low, items->high))
        for (int64_t r = 0; r < n_rows && !race->refused; r++)
            if (!row_in_range(race, rows + r * stride))
                race->refused = rows + r * stride;
}

/* The last look at a matrix: sums in one pass over memory, cheaper than the rest at random. */
static void stream_matrix(pb_race *race)
{
    const pb_factors *factors = &race->factors;
    pb_moments *m = &race->moments;
    race->n_evaluations += (factors->n_factors - m->count) * race->n_alive;
    /* whole rows add up faster than picked columns, unless most are gone */
    const int whole = 3 * race->n_alive > factors->n_states;
    const int64_t n_columns = whole ? factors->n_states : race->n_alive;
    for (int64_t i = 0; i < n_columns; i++)
        race->totals[i] = 0.0;
    for (int64_t r = 0; r < factors->n_factors; r += STREAM_ROWS) {
        const double *const rows = factors->matrix + r * factors->n_states;
        const int64_t n = minimum(STREAM_ROWS, factors->n_factors - r);
        pb_moments_stream(rows, n, factors->n_states, whole ? NULL : m->columns, n_columns,
                          race->totals);
        if (race->betting)
            check_range(race, rows, n);
    }
    for (int64_t i = 0; i < race->n_alive; i++) {
        m->shift[i] = m->square[i] = 0.0;
        /* d is minus the reward: there is no reference now */
        m->sum[i] = -race->totals[whole ? race->states[i] : i];
    }
    m->count = factors->n_factors;
}

static int ranges_hold(const pb_race *race)
{
    if (!race->ranges)
        return 1;
    for (int64_t i = 0; i < race->n_alive; i++) {
        const double allowed = race->difference_range > 0.0
                                   ? race->difference_range
                                   : race->ranges[race->states[i]];
        if (race->high[i] - race->low[i] > allowed * (1.0 + 1e-12))
            return 0;
    }
    return 1;
}

/* How far state i is behind the reference, offsets included. */
static double deficit(const pb_race *race, int64_t i)
{
    return pb_moments_mean(&race->moments, i) -
           race->offsets[race->states[i]] / (double)race->factors.n_factors;
}

static int64_t find_leader(const pb_race *race)
{
    int64_t best = 0;
    double least = deficit(race, 0);
    for (int64_t i = 1; i < race->n_alive; i++) {
        const double behind = deficit(race, i);
        if (behind < least) {
            best = i;
            least = behind;
        }
    }
    return best;
}

/* G of Algorithm 1 between the leader and state i. */
static double half_width(const pb_race *race, int64_t i)
{
    const int64_t look = race->n_looks - 1;
    double width =
        race->schedule.scale[look] * sqrt(pb_moments_variance(&race->moments, i));
    if (!race->pairwise)
        width += race->schedule.scale[look] *
                 sqrt(pb_moments_variance(&race->moments, race->leader));
    if (race->ranges)
        width += race->schedule.slack[look] *
                 (race->difference_range > 0.0 ? race->difference_range
                                               : race->ranges[race->states[race->leader]] +
                                                     race->ranges[race->states[i]]);
    return width;
}

/* Keeps a function's rewards as wide as the alive: rows move left, in place. */
static void compact_rewards(pb_race *race, const int64_t *kept, int64_t n_kept)
{
    const int64_t n_rows = race->moments.count, n_alive = race->n_alive;
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t k = 0; k < n_kept; k++)
            race->rewards[r * n_kept + k] = race->rewards[r * n_alive + kept[k]];
}

static void keep(pb_race *race, int64_t from, int64_t to)
{
    pb_moments *m = &race->moments;
    race->states[to] = race->states[from];
    m->shift[to] = m->shift[from];
    m->sum[to] = m->sum[from];
    m->square[to] = m->square[from];
    race->low[to] = race->low[from];
    race->high[to] = race->high[from];
}

/* Drops every state that the leader beats by more than the bound. */
static void eliminate(pb_race *race)
{
    const double best = deficit(race, race->leader);
    int64_t n_kept = 0, leader = 0;
    for (int64_t i = 0; i < race->n_alive; i++) {
        if (i != race->leader && deficit(race, i) - best > half_width(race, i))
            continue;
        if (i == race->leader)
            leader = n_kept;
        race->kept[n_kept++] = i;
    }
    if (n_kept == race->n_alive)
        return;
    if (!race->factors.matrix)
        compact_rewards(race, race->kept, n_kept);
    for (int64_t k = 0; k < n_kept; k++)
        keep(race, race->kept[k], k);
    race->leader = leader;
    race->n_alive = race->moments.n_columns = n_kept;
    race->moments.columns = alive_columns(race);
    race->moments.reference = reference_column(race);
}

/* Everything was read: the leader wins. */
static void end_exactly(pb_race *race, int64_t leader)
{
    race->exact = 1;
    race->states[0] = race->states[leader];
    race->n_alive = 1;
}

static pb_status look(pb_race *race)
{
    race->n_looks++;
    if (race->betting && race->betting->n_read == race->moments.count) {
        if (race->moments.count == race->factors.n_factors)
            end_exactly(race, race->leader);
        return PB_OK;
    }
    if (race->refused)
        return PB_RANGE;
    if (!all_finite(&race->moments))
        return PB_NOT_FINITE;
    const int64_t leader = find_leader(race);
    const int moved = race->leader != leader;
    race->leader = leader;
    if (race->moments.count == race->factors.n_factors) {
        if (!ranges_hold(race))
            return PB_RANGE;
        end_exactly(race, leader);
        return PB_OK;
    }
    if (moved && race->pairwise)
        reread(race);
    if (!ranges_hold(race))
        return PB_RANGE;
    eliminate(race);
    return PB_OK;
}

pb_status pb_race_run(pb_race *race, pb_bitgen *bitgen)
{
    if (race->n_alive == 1 && race->n_looks == 0)
        race->exact = 1;
    while (race->n_alive > 1) {
        const int64_t target = race->schedule.rows[race->n_looks];
        pb_status status = PB_OK;
        if (!race->factors.matrix)
            status = read_function(race, bitgen, target);
        else if (target == race->factors.n_factors)
            stream_matrix(race);
        else
            status = read_matrix(race, bitgen, target);
        if (status == PB_OK)
            status = look(race);
        if (status != PB_OK)
            return status;
    }
    race->winner = race->states[0];
    return PB_OK;
}
