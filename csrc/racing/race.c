/*
 * The race (Chen & Ghahramani 2016, Algorithm 1), in O(D T) for T rows of D states.
 *
 * The paper states a cost of O(D^2 T) for pairwise variances. Here the moments are of the
 * differences from one reference state, the presumed leader. If a look finds another
 * leader, the rows read so far are added up again with the new reference; the looks
 * double, so even a change at every look costs at most twice one pass. Marginal variances
 * use no reference, and a change of leader costs nothing. A betting race (betting.c)
 * reads the same rows and keeps no moments, except at the last, exact look on a matrix.
 */
#include "pybandit/racing/race.h"

#include <math.h>
#include <stddef.h>

#include "race_rows.h"
#include "skewness.h"

/* Starts the betting race with the surviving states and their offsets as scores. */
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
    race->moments.cube = NULL;  /* until a look needs it: add_thirds */
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

/*
 * Returns how far state i is behind the reference, offsets included, minus the first shift.
 * Only differences between states matter, and without a reference the means may be large.
 */
static double deficit(const pb_race *race, int64_t i)
{
    const pb_moments *m = &race->moments;
    return (m->shift[i] - m->shift[0]) + m->sum[i] / (double)m->count -
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

/* Returns G of Algorithm 1 for the leader and state i, whose variance is given. */
static double half_width(const pb_race *race, int64_t i, double variance)
{
    const int64_t look = race->n_looks - 1;
    double width = race->schedule.scale[look] * sqrt(variance);
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

/* Removes the eliminated states' columns from the rewards of a function, in place. */
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
    if (m->cube)
        m->cube[to] = m->cube[from];
    race->low[to] = race->low[from];
    race->high[to] = race->high[from];
}

/*
 * Writes to `totals`, unused before the last look, how many of the LEAST_OTHERS rows after the
 * first differ from it: for all states at once, which is faster than one by one. Without ties,
 * that is all of them.
 */
static void count_others(pb_race *race)
{
    const pb_moments *m = &race->moments;
    for (int64_t i = 0; i < race->n_alive; i++)
        race->totals[i] = 0.0;
    for (int64_t r = 1; r <= LEAST_OTHERS && r < m->count; r++) {
        const double *const row = race->factors.matrix ? doubles_of(race, race->indices[r], 0)
                                                       : race->rewards + r * race->n_alive;
        for (int64_t i = 0; i < race->n_alive; i++)
            race->totals[i] += pb_moments_of(m, row, i) != m->shift[i] ? 1.0 : 0.0;
    }
}

/* Returns 1 if enough rows differ from the first one to trust the standard deviation of d_i. */
static int varies(const pb_race *race, int64_t i)
{
    const pb_moments *m = &race->moments;
    /* by Cauchy-Schwarz: d_i minus the shift is 0 in rows equal to the first */
    if (m->sum[i] * m->sum[i] > LEAST_OTHERS * m->square[i])
        return 1;
    if (race->totals[i] == LEAST_OTHERS)
        return 1;
    int others = 0;
    for (int64_t r = 1; r < m->count && others < LEAST_OTHERS; r++)
        others += difference_at(race, r, i) != m->shift[i];
    return others == LEAST_OTHERS;
}

/* Adds the cubes of some rows, in the order and with the rounding of pb_moments_add. */
WIDE static void add_cubes(pb_moments *m, const double *const *rows, int64_t n_rows)
{
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t i = 0; i < m->n_columns; i++) {
            const double d = pb_moments_of(m, rows[r], i) - m->shift[i];
            m->cube[i] += d * d * d;
        }
}

/*
 * Adds up the third moments of the rows read so far; later rows add theirs at once. Most races end
 * without a gap that is near its bound, and need none.
 */
static void add_thirds(pb_race *race)
{
    pb_moments *m = &race->moments;
    const double *rows[TILE];
    m->cube = race->moments_memory + 6 * race->factors.n_states;
    for (int64_t i = 0; i < m->n_columns; i++)
        m->cube[i] = 0.0;
    for (int64_t done = 0; done < m->count; done += TILE) {
        const int64_t count = minimum(TILE, m->count - done);
        for (int64_t i = 0; i < count; i++)
            rows[i] = race->factors.matrix ? doubles_of(race, race->indices[done + i], i)
                                           : race->rewards + (done + i) * race->n_alive;
        add_cubes(m, rows, count);
    }
}

/*
 * Returns the half width corrected for skewness. An error needs the mean of sign * d_i to be
 * too large; sign is -1 for the leader's own width.
 */
static double skewed_width(const pb_race *race, const skew_look *skew, int64_t i,
                           double variance, double sign)
{
    const double third = sign * pb_moments_third(&race->moments, i);
    return skew->unit * quantile_of(skew, variance, third) * sqrt(variance);
}

/* Returns 1 if a gap near or beyond `half` is significant when corrected for skewness. */
static int is_clear_of_skewness(pb_race *race, const skew_look *skew, int64_t i,
                                double variance, double gap, double half)
{
    const int64_t leader = race->leader;
    if (!(variance > 0.0) || !varies(race, i))
        return 0;
    const double own = race->pairwise ? 0.0 : pb_moments_variance(&race->moments, leader);
    if (!race->pairwise && (!(own > 0.0) || !varies(race, leader)))
        return 0;
    if (gap > SURE_T * half)
        return 1;
    if (!race->moments.cube)
        add_thirds(race);
    double width = skewed_width(race, skew, i, variance, 1.0);
    if (!race->pairwise)
        width += skewed_width(race, skew, leader, own, -1.0);
    return gap > width;
}

/* Returns 1 if the leader beats state i by more than the bound; skew: NULL if uncorrected. */
static int is_beaten(pb_race *race, const skew_look *skew, int64_t i, double gap)
{
    const double variance = pb_moments_variance(&race->moments, i);
    const double half = half_width(race, i, variance);
    if (!skew)
        return gap > half && gap > LEAST_GAP;
    return gap > LEAST_T * half && is_clear_of_skewness(race, skew, i, variance, gap, half);
}

/* Returns the values of the correction for skewness that are equal for all states. */
static skew_look skew_of_look(const pb_race *race)
{
    const int64_t look = race->n_looks - 1;
    return skew_look_at(race->schedule.scale[look], race->schedule.unit[look],
                        race->moments.count, race->factors.n_factors);
}

/* Eliminates every state that the leader beats by more than the bound. */
static void eliminate(pb_race *race)
{
    const double best = deficit(race, race->leader);
    const int corrected = race->schedule.unit != NULL;
    const skew_look skew = corrected ? skew_of_look(race) : (skew_look){0};
    if (corrected)
        count_others(race);
    int64_t n_kept = 0, leader = 0;
    for (int64_t i = 0; i < race->n_alive; i++) {
        const double gap = deficit(race, i) - best;
        if (i != race->leader && is_beaten(race, corrected ? &skew : NULL, i, gap))
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

/* Ends the race with the leader as the winner, because all factors were read. */
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
