#include "../../_shared/c/check.h"

#include "pybandit/policies/regret/thompson.h"

static pb_thompson new_thompson(pb_thompson_law law, double alpha, double beta, int64_t n_arms)
{
    pb_thompson thompson = {.law = law, .alpha = alpha, .beta = beta, .n_arms = n_arms};
    thompson.arms = allocate(n_arms, sizeof *thompson.arms);
    thompson.chances = allocate(pb_thompson_chances(n_arms), sizeof *thompson.chances);
    pb_thompson_begin(&thompson);
    return thompson;
}

static void freed(pb_thompson *thompson)
{
    free(thompson->arms);
    free(thompson->chances);
}

/* Checks that recomputing changes nothing, and that the total is the product of all chances. */
static void consistent(pb_thompson *thompson)
{
    const double spent = thompson->spent;
    assert(pb_thompson_resume(thompson, thompson->threshold.at) && thompson->spent == spent);
    const double *const total = thompson->chances + pb_thompson_chances(thompson->n_arms) - 1;
    double product = 1.0;
    for (int64_t k = 0; k < thompson->n_arms; k++)
        product *= thompson->chances[k];
    assert(close_to(product, *total, 1e-9));
}

/* Plays arms with these success probabilities; every choice must be a valid arm. */
static void plays(pb_thompson_law law, int64_t n_arms, int64_t rounds, double whole)
{
    uint64_t seed = (uint64_t)(7 * n_arms + law);
    pb_bitgen bitgen = splitmix(&seed);
    pb_thompson thompson = new_thompson(law, 1.0, 1.0, n_arms);
    int64_t *pulls = allocate(n_arms, sizeof *pulls);
    memset(pulls, 0, (size_t)n_arms * sizeof *pulls);
    if (law == PB_THOMPSON_GAUSSIAN)
        for (int64_t k = 0; k < n_arms; k += 1 + (n_arms > 2))
            pb_thompson_add(&thompson, k, 0.5, 1.0);
    for (int64_t t = 0; t < rounds; t++) {
        const int64_t arm = pb_thompson_choose(&thompson, &bitgen);
        assert(arm >= 0 && arm < n_arms);
        assert(law == PB_THOMPSON_BETA || thompson.arms[arm].lost > 0.0);
        pulls[arm]++;
        const double p = 0.1 + 0.8 * (double)arm / (double)n_arms;
        double reward = splitmix_double(&seed) < p ? 1.0 : 0.0;
        if (splitmix_double(&seed) > whole)
            reward = 0.5 * (reward + p);
        pb_thompson_add(&thompson, arm, reward,
                        law == PB_THOMPSON_GAUSSIAN ? 1.0 : 1.0 - reward);
        if (t % 97 == 0)
            consistent(&thompson);
    }
    if (n_arms == 5 && law == PB_THOMPSON_BETA)
        assert(pulls[4] > rounds / 2);
    free(pulls);
    freed(&thompson);
}

/* At every threshold, arm 0 is chosen with the known probability P(Beta(2,1) > Beta(1,1)) = 2/3. */
static void any_threshold(void)
{
    static const double thresholds[] = {-60.0, -3.0, 0.0, 0.7, 2.0, 6.0, 60.0};
    uint64_t seed = 3;
    pb_bitgen bitgen = splitmix(&seed);
    for (int i = 0; i < 7; i++) {
        pb_thompson thompson = new_thompson(PB_THOMPSON_BETA, 1.0, 1.0, 2);
        pb_thompson_add(&thompson, 0, 1.0, 0.0);
        int64_t hits = 0, both = 0;
        enum { N = 20000 };
        for (int draw = 0; draw < N; draw++) {
            pb_thompson_place(&thompson, thresholds[i]);
            hits += pb_thompson_choose(&thompson, &bitgen) == 0;
            both += thompson.spent == 2.0;
        }
        assert(binomial_fits(hits, N, 2.0 / 3.0));
        /* both thetas are drawn if both are on the same side of the threshold */
        const double x = 1.0 / (1.0 + exp(-thresholds[i]));
        assert(binomial_fits(both, N, fmin(1.0 - 1e-4, x * x * x + (1.0 - x) * (1.0 - x * x))));
        freed(&thompson);
    }
}

/* P(below), updated over a million rewards at one threshold, stays near its direct evaluation. */
static void drift(void)
{
    uint64_t seed = 11;
    pb_thompson thompson = new_thompson(PB_THOMPSON_BETA, 1.0, 1.0, 1);
    pb_thompson_place(&thompson, 0.4);
    for (int64_t t = 1; t <= 1000000; t++) {
        const int success = splitmix_double(&seed) < thompson.threshold.x;
        pb_thompson_add(&thompson, 0, success, !success);
        if (t % 50000 == 0) {
            const pb_thompson_arm *const arm = thompson.arms;
            const double a = 1.0 + arm->gained, b = 1.0 + arm->lost;
            const double density = pb_logit_beta_density(a, b, &thompson.threshold);
            const double below = pb_logit_beta_below(a, b, &thompson.threshold, density);
            assert(close_to(arm->density, density, 1e-9 * density));
            assert(close_to(arm->below, below, 1e-10));
        }
    }
    freed(&thompson);
}

static void a_bad_state_is_found(void)
{
    pb_thompson thompson = new_thompson(PB_THOMPSON_BETA, 2.0, 3.0, 18);
    assert(pb_thompson_resume(&thompson, 0.0));
    assert(!pb_thompson_resume(&thompson, 0.1));
    const int64_t n = pb_thompson_chances(18);
    for (int64_t i = 0; i < n; i++) {
        pb_thompson_begin(&thompson);
        thompson.chances[i] += 1e-3;
        assert(!pb_thompson_resume(&thompson, 0.0));
        thompson.chances[i] = NAN;
        assert(!pb_thompson_resume(&thompson, 0.0));
    }
    pb_thompson_begin(&thompson);
    thompson.arms[17].density = NAN;
    assert(!pb_thompson_resume(&thompson, 0.0));
    freed(&thompson);
}

int main(void)
{
    static const int64_t sizes[] = {1, 2, 5, 15, 16, 17, 64, 300};
    for (int i = 0; i < 8; i++)
        for (int law = 0; law < 2; law++) {
            plays(law ? PB_THOMPSON_GAUSSIAN : PB_THOMPSON_BETA, sizes[i], 3000, 1.0);
            plays(law ? PB_THOMPSON_GAUSSIAN : PB_THOMPSON_BETA, sizes[i], 500, 0.3);
        }
    any_threshold();
    drift();
    a_bad_state_is_found();
    return 0;
}
