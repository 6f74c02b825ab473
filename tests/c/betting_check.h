#ifndef BETTING_CHECK_H
#define BETTING_CHECK_H

/*
 * What the C tests of betting share: random problems in exact-size memory, and the
 * processes once more in logs, where nothing can run out of range.
 */
#include "check.h"

#include "pybandit/bets.h"
#include "pybandit/status.h"

enum { MOST_ARMS = 8 };

/* Bets from .004 up; the last n_pads only fill up to a multiple of four. */
static inline pb_bets bets_new(pb_mixture mixture, int64_t n, int64_t n_pads)
{
    const double largest = mixture == PB_MIX_PRODUCT ? 2.0 : 0.9;
    const int64_t used = n - n_pads;
    double *bets = allocate(n, sizeof *bets), *shares = allocate(n, sizeof *shares);
    double *psi = allocate(n, sizeof *psi);
    for (int64_t g = 0; g < n; g++) {
        const double step = g < used ? (double)g / (double)(used - 1) : 1.0;
        bets[g] = 0.004 * pow(largest / 0.004, step);
        shares[g] = g < used ? 1.0 / (double)used : 0.0;
        psi[g] = mixture == PB_MIX_EBMIX ? -log1p(-bets[g]) - bets[g] : NAN;
    }
    return (pb_bets){mixture, n, bets, shares, psi};
}

/* Four bets of equal shares, for cases worked by hand. */
static inline pb_bets bets_of(double a, double b, double c, double d)
{
    pb_bets made = bets_new(PB_MIX_PRODUCT, 4, 0);
    const double bets[4] = {a, b, c, d};
    memcpy((double *)made.bets, bets, sizeof bets);
    return made;
}

static inline void bets_free(pb_bets *bets)
{
    free((double *)bets->bets);
    free((double *)bets->shares);
    free((double *)bets->psi);
}

/* One process in logs. */
typedef struct {
    double capital[PB_MOST_BETS];
    double gain, spread, sum, count;
    int fallen;
} log_process;

static inline void log_begin(log_process *p, const pb_bets *bets, double capital)
{
    *p = (log_process){.gain = 0.0};
    for (int64_t g = 0; g < bets->n_bets; g++)
        p->capital[g] = log(capital * bets->shares[g]);
}

static inline double tilt_at(const pb_items *items, int64_t n_read)
{
    return items->n_items ? (double)items->n_items / (double)(items->n_items - n_read) : 1.0;
}

/* x came where m was expected at most, both in [0, 1]. */
static inline void log_bet(log_process *p, const pb_bets *bets, double tilt, double x, double m)
{
    if (m < -1e-9)
        p->fallen = 1;
    if (m < -1e-9 || m >= 1.0)
        return;
    m = fmax(m, 1e-9);
    for (int64_t g = 0; g < bets->n_bets; g++)
        p->capital[g] += log1p(fmin(bets->bets[g] * tilt, 0.9 / m) * (x - m));
    const double centre = (0.5 + p->sum) / (p->count + 1.0);
    p->gain += x - m;
    p->spread += (x - centre) * (x - centre);
    p->sum += x;
    p->count += 1.0;
}

static inline double log_total(const log_process *p, const pb_bets *bets)
{
    double each[PB_MOST_BETS], most = -INFINITY, total = 0.0;
    if (p->fallen)
        return INFINITY;
    for (int64_t g = 0; g < bets->n_bets; g++) {
        each[g] = bets->mixture == PB_MIX_PRODUCT
                      ? p->capital[g]
                      : log(bets->shares[g]) + bets->bets[g] * p->gain - bets->psi[g] * p->spread;
        most = fmax(most, each[g]);
    }
    if (most == -INFINITY)
        return most;
    for (int64_t g = 0; g < bets->n_bets; g++)
        total += exp(each[g] - most);
    return most + log(total);
}

/* Claims [a][b], "a beats b", of arms by number. */
typedef struct {
    double slack, threshold;
    log_process process[MOST_ARMS][MOST_ARMS];
    int made[MOST_ARMS][MOST_ARMS];
} log_claims;

static inline void log_claims_begin(log_claims *c, const pb_bets *bets, double slack,
                                    double threshold)
{
    c->slack = slack;
    c->threshold = threshold;
    memset(c->made, 0, sizeof c->made);
    for (int a = 0; a < MOST_ARMS; a++)
        for (int b = 0; b < MOST_ARMS; b++)
            log_begin(&c->process[a][b], bets, 1.0);
}

/* The difference of two rewards in the unit interval. */
static inline double unit(const pb_items *items, double difference)
{
    return (difference / items->range + 1.0) / 2.0;
}

/* What the next difference has for a mean if the totals differ by N mean, `seen` before. */
static inline double null_mean(const pb_items *items, int64_t n_read, double mean, double seen)
{
    const double n = (double)items->n_items;
    return items->n_items ? (mean * n - seen) / (n - (double)n_read) : mean;
}

/* sums and rewards by arm; only arms with a nonzero mask bet. */
static inline void log_claims_add(log_claims *c, const pb_bets *bets, const pb_items *items,
                                  int64_t n_read, int n_arms, const int *mask,
                                  const double *sums, const double *rewards)
{
    for (int a = 0; a < n_arms; a++)
        for (int b = 0; b < n_arms; b++) {
            if (a == b || !mask[a] || !mask[b] || c->made[a][b])
                continue;
            const double m = null_mean(items, n_read, -c->slack, sums[a] - sums[b]);
            log_bet(&c->process[a][b], bets, tilt_at(items, n_read),
                    unit(items, rewards[a] - rewards[b]), unit(items, m));
            c->made[a][b] = log_total(&c->process[a][b], bets) >= log(c->threshold);
        }
}

/* Rewards of a few arms among the columns of a wider table; the others are never to be read. */
typedef struct {
    pb_bets bets;
    pb_items items;
    int64_t n_arms, n_rows, n_columns;
    double **rows;
    int64_t *columns;
    double *offsets;
} problem;

static inline problem problem_new(uint64_t *random, pb_bets bets, int64_t n_arms,
                                  int64_t n_items, int64_t n_rows, double step)
{
    problem p = {bets, {n_items, -1.0, 2.0, 3.0}, n_arms, n_rows, n_arms + 2, NULL, NULL, NULL};
    p.rows = allocate(n_rows, sizeof *p.rows);
    p.columns = allocate(n_arms, sizeof *p.columns);
    p.offsets = allocate(n_arms, sizeof *p.offsets);
    const int64_t first = (int64_t)(splitmix_next(random) % (uint64_t)p.n_columns);
    const int coins = splitmix_double(random) < 0.3;
    double means[MOST_ARMS];
    for (int64_t i = 0; i < n_arms; i++) {
        p.columns[i] = (first + (n_arms + 1) * i) % p.n_columns;  /* backwards, and around */
        p.offsets[i] = splitmix_double(random) * 4.0;
        means[i] = step * splitmix_double(random);
    }
    for (int64_t r = 0; r < n_rows; r++) {
        p.rows[r] = allocate(p.n_columns, sizeof **p.rows);
        for (int64_t c = 0; c < p.n_columns; c++)
            p.rows[r][c] = NAN;
        for (int64_t i = 0; i < n_arms; i++) {
            const double u = splitmix_double(random), share = (1.0 - step) * u + means[i];
            p.rows[r][p.columns[i]] = -1.0 + 3.0 * (coins ? u < means[i] : share);
        }
    }
    return p;
}

static inline double reward_of(const problem *p, int64_t row, int64_t arm)
{
    return p->rows[row][p->columns[arm]];
}

static inline void problem_free(problem *p)
{
    for (int64_t r = 0; r < p->n_rows; r++)
        free(p->rows[r]);
    free(p->rows);
    free(p->columns);
    free(p->offsets);
    bets_free(&p->bets);
}

/* Memory that holds something before it is used, the same every time. */
static inline void *soiled(int64_t n, size_t item)
{
    void *memory = allocate(n, item);
    if (n)
        memset(memory, 0x5a, (size_t)n * item);
    return memory;
}

static inline int same(const void *a, const void *b, int64_t n, size_t item)
{
    return memcmp(a, b, (size_t)n * item) == 0;
}

/* Denormals are slow; a process at rest holds none. */
static inline int no_denormals(const double *memory, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (fpclassify(memory[i]) == FP_SUBNORMAL)
            return 0;
    return 1;
}

#endif
