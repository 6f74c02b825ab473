#ifndef BETTING_CHECK_H
#define BETTING_CHECK_H

/* Shared by the C tests of betting: random problems in memory of exact size. */
#include "../../_shared/c/check.h"

#include "pybandit/betting/bets.h"
#include "pybandit/_shared/status.h"

enum { MOST_ARMS = 8 };

/* Returns n geometric bets from .004 up. The last n_pads have share 0: they only fill vectors. */
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

/* Four bets with equal shares, for cases computed by hand. */
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

/* Rewards of a few arms among the columns of a wider table; other columns must not be read. */
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
    problem p = {bets, {n_items, -1.0, 2.0, 3.0, NULL}, n_arms, n_rows, n_arms + 2, NULL, NULL, NULL};
    p.rows = allocate(n_rows, sizeof *p.rows);
    p.columns = allocate(n_arms, sizeof *p.columns);
    p.offsets = allocate(n_arms, sizeof *p.offsets);
    const int64_t first = (int64_t)(splitmix_next(random) % (uint64_t)p.n_columns);
    const int coins = splitmix_double(random) < 0.3;
    double means[MOST_ARMS];
    for (int64_t i = 0; i < n_arms; i++) {
        p.columns[i] = (first + (n_arms + 1) * i) % p.n_columns;  /* descending, modulo n_columns */
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

/* Returns memory filled with the same arbitrary bytes in every call. */
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

/* Returns 1 if no value is a denormal number: they are slow, and rescaling must prevent them. */
static inline int no_denormals(const double *memory, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (fpclassify(memory[i]) == FP_SUBNORMAL)
            return 0;
    return 1;
}

#endif
