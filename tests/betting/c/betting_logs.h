#ifndef BETTING_LOGS_H
#define BETTING_LOGS_H

/*
 * Reference implementation of the processes, the claims and the race: scalar and in logs, so
 * that nothing has to be rescaled.
 */
#include "betting_check.h"

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

/* Updates the wealth by bets on x, whose mean is at most m under the hypothesis; both in [0, 1]. */
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

/* Claims "a beats b" at [a][b]; a and b are arm numbers. */
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

/* Returns the difference of two rewards, scaled to the unit interval. */
static inline double unit(const pb_items *items, double difference)
{
    return (difference / items->range + 1.0) / 2.0;
}

/* Returns the mean of the next difference if all N sum to N mean and those read sum to `seen`. */
static inline double null_mean(const pb_items *items, int64_t n_read, double mean, double seen)
{
    const double n = (double)items->n_items;
    return items->n_items ? (mean * n - seen) / (n - (double)n_read) : mean;
}

/* Adds one item; sums and rewards are indexed by arm. Arms with mask 0 place no bets. */
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

/* The race with wealth stored as logarithms; all arrays are indexed by arm number. */
typedef struct {
    int alive[MOST_ARMS], n_alive, leader, second;
    int64_t n_read, n_evaluations;
    double scores[MOST_ARMS];
    log_process on_leader[MOST_ARMS], on_each[MOST_ARMS][MOST_ARMS];
    log_claims near;
} log_race;

static inline int first_of(const log_race *r, int n_arms, int but)
{
    int first = -1;
    for (int i = 0; i < n_arms; i++)
        if (r->alive[i] && i != but && (first < 0 || r->scores[i] > r->scores[first]))
            first = i;
    return first;
}

static inline void log_race_bet(log_process *process, const problem *p, const log_race *r,
                                int64_t row, int arm, int rival)
{
    const double seen = r->scores[rival] - r->scores[arm];
    log_bet(process, &p->bets, tilt_at(&p->items, row),
            unit(&p->items, reward_of(p, row, rival) - reward_of(p, row, arm)),
            unit(&p->items, null_mean(&p->items, row, 0.0, seen)));
}

static inline double sum_each(const problem *p, const log_race *r, int arm, const int *mask)
{
    double total = -INFINITY;
    for (int j = 0; j < (int)p->n_arms; j++) {
        const double one = log_total(&r->on_each[arm][j], &p->bets);
        if (j != arm && mask[j] && one > -INFINITY)
            total = fmax(total, one) + log1p(exp(-fabs(total - one)));
    }
    return total;
}

static inline void log_race_run(log_race *r, const problem *p, double threshold, int hybrid,
                                double slack, int64_t near_slots)
{
    const int n = (int)p->n_arms;
    int near_begun = 0;
    *r = (log_race){.n_alive = n};
    for (int i = 0; i < n; i++) {
        r->alive[i] = 1;
        r->scores[i] = p->offsets[i];
        log_begin(&r->on_leader[i], &p->bets, hybrid ? 0.5 : 1.0);
        for (int j = 0; hybrid && j < n; j++)
            log_begin(&r->on_each[i][j], &p->bets, 0.5 / (n - 1));
    }
    for (int64_t row = 0; row < p->n_rows && r->n_alive > 1; row++) {
        const int leader = first_of(r, n, -1), second = first_of(r, n, leader);
        int survives[MOST_ARMS] = {0}, n_left = 0;
        double rewards[MOST_ARMS];
        if (slack > 0.0 && !near_begun && r->n_alive <= near_slots) {
            near_begun = 1;
            log_claims_begin(&r->near, &p->bets, slack, (r->n_alive - 1) * threshold);
        }
        for (int i = 0; i < n; i++) {
            rewards[i] = reward_of(p, row, i);
            if (!r->alive[i])
                continue;
            log_race_bet(&r->on_leader[i], p, r, row, i, i == leader ? second : leader);
            double total = log_total(&r->on_leader[i], &p->bets);
            for (int j = 0; hybrid && j < n; j++)
                if (j != i && r->alive[j])
                    log_race_bet(&r->on_each[i][j], p, r, row, i, j);
            if (hybrid) {
                const double each = sum_each(p, r, i, r->alive);
                total = fmax(total, each) + log1p(exp(-fabs(total - each)));
            }
            survives[i] = total < log(threshold);
            n_left += survives[i];
        }
        if (!n_left)
            survives[leader] = n_left = 1;
        for (int i = 0; i < n && hybrid && n_left < r->n_alive; i++) {
            const double before = sum_each(p, r, i, r->alive), after = sum_each(p, r, i, survives);
            for (int j = 0; j < n && after > -INFINITY; j++)
                for (int64_t g = 0; g < p->bets.n_bets; g++)
                    r->on_each[i][j].capital[g] += before - after;
        }
        if (near_begun)
            log_claims_add(&r->near, &p->bets, &p->items, row, n, survives, r->scores, rewards);
        r->n_evaluations += r->n_alive;
        r->n_alive = n_left;
        r->n_read++;
        int separate = near_begun;
        for (int i = 0; i < n; i++) {
            r->alive[i] = survives[i];
            r->scores[i] += rewards[i] - rewards[leader];
        }
        const int best = first_of(r, n, -1);
        for (int i = 0; i < n; i++)
            separate &= i == best || !r->alive[i] || r->near.made[best][i];
        if (separate)
            break;
    }
    r->leader = first_of(r, n, -1);
}

#endif
