#include "../../_shared/c/check.h"

#include "pybandit/policies/regret/thompson_threshold.h"

enum { N = 100, CHOICES = 20000 };

static void add_rewards(pb_thompson *thompson, int64_t each, uint64_t *seed)
{
    for (int64_t k = 0; k < N; k++)
        for (int64_t i = 0; i < each; i++) {
            const double reward = splitmix_double(seed) < 0.1 + 0.8 * (double)k / N ? 1.0 : 0.0;
            const int beta = thompson->law == PB_THOMPSON_BETA;
            pb_thompson_add(thompson, k, reward, beta ? 1.0 - reward : 1.0);
        }
}

/* Returns the average number of thetas drawn per choice at the threshold that refresh finds. */
static double draws_of(pb_thompson_law law, int64_t each)
{
    uint64_t seed = 17;
    pb_bitgen bitgen = splitmix(&seed);
    pb_thompson thompson = {.law = law, .alpha = 1.0, .beta = 1.0, .n_arms = N};
    thompson.arms = allocate(N, sizeof *thompson.arms);
    thompson.chances = allocate(pb_thompson_chances(N), sizeof *thompson.chances);
    pb_thompson_begin(&thompson);
    add_rewards(&thompson, each, &seed);
    pb_thompson_threshold_refresh(&thompson);
    assert(isfinite(thompson.threshold.at) && thompson.age == 0 && thompson.spent == 0.0);
    assert(pb_thompson_resume(&thompson, thompson.threshold.at));
    double drawn = 0.0;
    for (int i = 0; i < CHOICES; i++) {
        thompson.limit = 1e300; /* keep the threshold */
        const double before = thompson.spent;
        const int64_t arm = pb_thompson_choose(&thompson, &bitgen);
        assert(arm >= 0 && arm < N);
        drawn += thompson.spent - before;
    }
    free(thompson.arms);
    free(thompson.chances);
    return drawn / CHOICES;
}

int main(void)
{
    static const int64_t counts[] = {1, 3, 30, 1000};
    for (int i = 0; i < 4; i++)
        for (int law = 0; law < 2; law++) {
            const double drawn = draws_of(law ? PB_THOMPSON_GAUSSIAN : PB_THOMPSON_BETA, counts[i]);
            assert(drawn < 6.0); /* out of N = 100 */
        }
    return 0;
}
