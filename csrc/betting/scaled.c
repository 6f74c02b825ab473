/* Bets in units of the standard deviation: stakes, and the wealth against one mean. */
#include "pybandit/betting/scaled.h"

#include "../_shared/minimum.h"
#include "stakes.h"

enum { SHIFT = 400 };

static const double LARGEST_PLAN = 30000.0;
static const double STEADY_CAP = 0.6, PLANNED = 3.0;

/*
 * A bet of amplitude g is best after about (3/g)^2 values. Falling bets are best for the first
 * values; of the others, each serves the numbers of values around its best one. Bets at different
 * caps keep wealth apart where most bets are at their cap.
 */
typedef struct {
    double amplitude, weight, cap;
} bet;

static const bet FINITE_FALLING[] = {{1.0, 0.16, 0.6}, {1.0, 0.05, 0.9}};
static const bet FINITE_LARGE[] = {{1.0, 0.1, 0.9}};
/* weights of amplitudes 1, 1/2, 1/4, ... */
static const double FINITE_STEADY[] = {0.14, 0.14,  0.04,  0.06,  0.11,   0.12,
                                       0.05, 0.018, 0.006, 0.003, 0.0018, 0.0012};
static const bet ENDLESS_FALLING[] = {{1.0, 0.2, 0.6}, {1.0, 0.03, 0.9}};
static const bet ENDLESS_LARGE[] = {{1.0, 0.07, 0.9}, {2.0, 0.02, 0.9}};
static const double ENDLESS_STEADY[] = {0.15, 0.07,  0.03, 0.08,     0.08,     0.1,      0.06,
                                        0.045, 0.02, 0.028125, 0.009375, 0.0046875, 0.0028125};
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static void add_bet(pb_scaled *bets, int falls, bet one)
{
    const int64_t g = bets->n_bets++;
    (falls ? bets->falling : bets->fixed)[g] = one.amplitude;
    bets->weight[g] = one.weight;
    bets->cap[g] = one.cap;
}

void pb_scaled_init(pb_scaled *bets, double n_values, double population, double planned,
                    double alpha)
{
    const int few = n_values <= LARGEST_PLAN, finite = population < INFINITY;
    *bets = (pb_scaled){.size = finite ? population : 1.0, .drained = finite ? 1.0 : 0.0,
                        .level = 2.0 * log(2.0 / alpha)};
    for (int64_t i = 0; i < COUNT(FINITE_FALLING); i++)
        add_bet(bets, 1, few ? FINITE_FALLING[i] : ENDLESS_FALLING[i]);
    for (int64_t i = 0; i < (few ? COUNT(FINITE_LARGE) : COUNT(ENDLESS_LARGE)); i++)
        add_bet(bets, 0, few ? FINITE_LARGE[i] : ENDLESS_LARGE[i]);
    for (int64_t i = 0; i < (few ? COUNT(FINITE_STEADY) : COUNT(ENDLESS_STEADY)); i++)
        add_bet(bets, 0, (bet){ldexp(1.0, -(int)i), few ? FINITE_STEADY[i] : ENDLESS_STEADY[i],
                               STEADY_CAP});
    double total = 0.0;
    for (int64_t g = 0; g < bets->n_bets; g++)
        total += bets->weight[g];
    for (int64_t g = 0; g < bets->n_bets; g++)
        bets->weight[g] *= (planned > 0.0 ? 0.5 : 1.0) / total;
    if (planned > 0.0)
        add_bet(bets, 0, (bet){PLANNED / sqrt(planned), 0.5, STEADY_CAP});
}

enum { PREPARED = 32 }; /* values per pass */

/* Sums first, one after the other; divisions and square roots then, four at a time. */
WIDE static void prepare_few(const pb_scaled *bets, pb_scaled_moments *moments,
                             const double *restrict values, int n, pb_scaled_value *restrict out)
{
    const double first = (double)moments->count;
    double squares[PREPARED], logs[PREPARED], stakes[PREPARED], falling[PREPARED];
    double sum = moments->sum, square = moments->square;
    for (int i = 0; i < n; i++) {
        const double t = first + (double)(i + 1);
        squares[i] = square;
        logs[i] = log1p(t);
        sum += values[i];
        const double deviation = values[i] - (0.5 + sum) / (t + 1.0);
        square += deviation * deviation;
    }
    for (int i = 0; i < n; i++) {
        const double t = first + (double)(i + 1);
        const double tilt = bets->size / (bets->size - bets->drained * (first + (double)i));
        stakes[i] = tilt / sqrt((0.5 + squares[i]) / (t + 1.0));
        falling[i] = stakes[i] * sqrt(bets->level / (t * logs[i]));
    }
    for (int i = 0; i < n; i++)
        out[i] = (pb_scaled_value){values[i], stakes[i], falling[i]};
    *moments = (pb_scaled_moments){moments->count + n, sum, square};
}

void pb_scaled_prepare(const pb_scaled *bets, pb_scaled_moments *moments, const double *values,
                       int64_t n, pb_scaled_value *out)
{
    for (int64_t i = 0; i < n; i += PREPARED)
        prepare_few(bets, moments, values + i, (int)minimum(PREPARED, n - i), out + i);
}

void pb_scaled_begin(const pb_scaled *bets, pb_scaled_wealth *wealth)
{
    for (int g = 0; g < PB_SCALED_BETS; g++)
        wealth->capital[g] = bets->weight[g];
    wealth->shifts = 0.0;
}

/* Multiplies the wealth of all bets with a power of two, so that the largest stays in range. */
static void shift(pb_scaled_wealth *wealth, double total)
{
    const int up = total < 0x1p-400 && total > 0.0;
    if (!up && total < 0x1p400)
        return;
    for (int g = 0; g < PB_SCALED_BETS; g++)
        wealth->capital[g] = ldexp(wealth->capital[g], up ? SHIFT : -SHIFT);
    wealth->shifts += up ? -1.0 : 1.0;
}

WIDE void pb_scaled_play(const pb_scaled *bets, int side, double mean,
                         const pb_scaled_value *values, int64_t first, int64_t last, double sum,
                         pb_scaled_wealth *wealth, double *log_wealth)
{
    for (int64_t t = first; t < last; t++) {
        const outcome w = outcome_of(bets, side, mean, values + t, t, sum);
        const double total = stake_once(bets, values + t, &w, wealth->capital);
        log_wealth[t - first] = log(total) + SHIFT * wealth->shifts * 0x1.62e42fefa39efp-1;
        shift(wealth, total);
        if (t % REST == REST - 1)
            drop_small(wealth->capital);
        sum += w.x;
    }
}
