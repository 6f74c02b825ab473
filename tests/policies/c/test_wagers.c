#include "../../_shared/c/check.h"

#include "pybandit/policies/stopping/wagers.h"

enum { MOST = 60 };

typedef struct {
    double rewards[MOST], gains[PB_GAINS], sum;
    int n;
} player;

static player played(uint64_t *random, int n)
{
    player p = {{0.0}, {0.0}, 0.0, n};
    const double shift = splitmix_double(random), width = splitmix_double(random);
    const int is_coin = splitmix_double(random) < 0.5;
    for (int i = 0; i < n; i++) {
        const double u = splitmix_double(random);
        p.rewards[i] = is_coin ? u < shift : shift + width * (1.0 - shift) * u;
        pb_wagers_add(p.gains, p.rewards[i]);
        p.sum += p.rewards[i];
    }
    return p;
}

static pb_wagers_arm arm_of(const player *p)
{
    return (pb_wagers_arm){p->gains, p->n, p->sum / p->n};
}

/* Computes the wealth of the bets one after the other. */
static double capital(const player *p, double m, int is_above)
{
    double sum = 0.0;
    for (int j = 0; j < PB_STAKES; j++) {
        double wealth = 1.0;
        const double stake = ldexp(1.0, j - 12), mean = is_above ? m : 1.0 - m;
        for (int i = 0; i < p->n; i++)
            wealth *= (1.0 + stake * (is_above ? p->rewards[i] : 1.0 - p->rewards[i])) /
                      (1.0 + stake * mean);
        sum += wealth;
    }
    return sum / PB_STAKES;
}

static void wealth_is_that_of_the_bets(void)
{
    uint64_t random = 1;
    for (int run = 0; run < 2000; run++) {
        const player p = played(&random, 1 + run % 40);
        const pb_wagers_arm arm = arm_of(&p);
        const double m = run % 11 ? splitmix_double(&random) : run % 2;
        double slope;
        assert(close_to(pb_wagers_above(&arm, m, &slope), log(capital(&p, m, 1)), 1e-9));
        assert(slope <= 0.0);
        assert(close_to(pb_wagers_below(&arm, m, &slope), log(capital(&p, m, 0)), 1e-9));
        assert(slope >= 0.0);
    }
}

static void slopes_are_derivatives(void)
{
    uint64_t random = 2;
    for (int run = 0; run < 2000; run++) {
        const player p = played(&random, 1 + run % 40);
        const pb_wagers_arm arm = arm_of(&p);
        const double m = 0.05 + 0.9 * splitmix_double(&random), h = 1e-6;
        double slope, other;
        pb_wagers_above(&arm, m, &slope);
        const double up = (pb_wagers_above(&arm, m + h, &other) -
                           pb_wagers_above(&arm, m - h, &other)) / (2.0 * h);
        assert(close_to(slope, up, 1e-5 * (1.0 + fabs(up))));
        pb_wagers_below(&arm, m, &slope);
        const double down = (pb_wagers_below(&arm, m + h, &other) -
                             pb_wagers_below(&arm, m - h, &other)) / (2.0 * h);
        assert(close_to(slope, down, 1e-5 * (1.0 + fabs(down))));
    }
}

/*
 * No value on a grid is below the computed minimum, and some are near it. If `enough` is given, the
 * result is above `enough` exactly if the minimum is.
 */
static void the_least_is_the_least(void)
{
    uint64_t random = 3;
    for (int run = 0; run < 1500; run++) {
        const player p = played(&random, 1 + run % MOST), q = played(&random, 1 + run % 37);
        const pb_wagers_arm a = arm_of(&p), b = arm_of(&q);
        const double epsilon = run % 3 ? 0.0 : 0.5 * splitmix_double(&random);
        const double least = pb_wagers_least(&a, &b, epsilon, NAN);
        double lowest = INFINITY, slope;
        for (int i = 0; i <= 200; i++) {
            const double m = (1.0 - epsilon) * i / 200.0;
            const double value = pb_wagers_above(&a, m, &slope) +
                                 pb_wagers_below(&b, m + epsilon, &slope);
            assert(value >= least - 1e-9 * (1.0 + fabs(least)));
            lowest = fmin(lowest, value);
        }
        assert(lowest <= least + 0.01 * (a.n + b.n));
        for (double by = -2.0; by <= 2.0; by += 0.5) {
            const double enough = least + by;
            if (by != 0.0)
                assert((pb_wagers_least(&a, &b, epsilon, enough) > enough) == (by < 0.0));
        }
    }
}

static void doubt_is_the_one_before_or_the_lowest(void)
{
    double gains[3 * PB_GAINS] = {0.0}, sums[] = {0.0, 0.0, 0.0};
    int64_t pulls[] = {40, 40, 0};
    for (int i = 0; i < 40; i++) {
        pb_wagers_add(gains, 0.1);
        pb_wagers_add(gains + PB_GAINS, 0.9);
        sums[0] += 0.1;
        sums[1] += 0.9;
    }
    assert(pb_wagers_doubt(gains, pulls, sums, 2, 0.0, log(10.0), 1, -1) == -1);
    assert(pb_wagers_doubt(gains, pulls, sums, 2, 0.0, log(10.0), 0, -1) == 1);
    assert(pb_wagers_doubt(gains, pulls, sums, 2, 0.0, 1000.0, 1, -1) == 0);
    assert(pb_wagers_doubt(gains, pulls, sums, 3, 0.0, log(10.0), 1, 0) == 2);
    assert(pb_wagers_doubt(gains, pulls, sums, 3, 0.0, 1000.0, 1, 2) == 2);
    assert(pb_wagers_doubt(gains, pulls, sums, 1, 0.0, 0.0, 0, -1) == -1);
}

int main(void)
{
    wealth_is_that_of_the_bets();
    slopes_are_derivatives();
    the_least_is_the_least();
    doubt_is_the_one_before_or_the_lowest();
    return 0;
}
