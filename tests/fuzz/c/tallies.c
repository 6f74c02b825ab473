/* Scores of answers, spreads of arms and the largest KL bound, compared with plain loops. */
#include "fuzz.h"

#include "pybandit/montecarlo/variance.h"
#include "pybandit/policies/protocol/kl.h"
#include "pybandit/policies/regret/kl_index.h"
#include "pybandit/simulation/score.h"

enum { MOST = 12 };

static void scores(choices *c, pool *p, int64_t n)
{
    double *means = TAKE(p, n, double), furthest = -1.0, n_wrong = -1.0;
    unsigned char *marks = TAKE(p, n, unsigned char), *right = ZEROS(p, n, unsigned char);
    unsigned char *in = ZEROS(p, n, unsigned char);
    const int64_t n_chosen = choose(c, 0, n), k = choose(c, 0, n);
    int64_t *chosen = TAKE(p, n_chosen, int64_t), *pulls = TAKE(p, n, int64_t), wrong = 0;
    choose_numbers(c, means, n, 1e9);
    int is_twice = 0;
    for (int64_t i = 0; i < n_chosen; i++) {
        chosen[i] = choose(c, 0, n - 1);
        is_twice |= in[chosen[i]];
        in[chosen[i]] = 1;
    }
    const double threshold = choose_number(c, 9.0);
    int is_misplaced = 0, is_worse = 0;
    double lost = 0.0;
    for (int64_t i = 0; i < n; i++) {
        right[i] = choose_byte(c) & 1;
        pulls[i] = choose(c, 0, 9);
        wrong += right[i] != in[i];
        is_misplaced |= in[i] ? means[i] < threshold : means[i] > threshold;
        for (int64_t j = 0; j < n; j++)
            is_worse |= in[i] && !in[j] && means[j] > means[i];
        lost += (double)pulls[i] * means[i];
    }
    const int of_best = pb_score_best(means, n, chosen, n_chosen, k, 0.0, marks);
    HOLDS(of_best == (is_twice || n_chosen != k || is_worse));
    HOLDS(pb_score_above(means, n, chosen, n_chosen, threshold, 0.0, marks, &furthest) ==
          (is_twice || is_misplaced));
    HOLDS(is_twice || (furthest >= 0.0 && (furthest > 0.0) == is_misplaced));
    HOLDS(pb_score_set(right, n, chosen, n_chosen, marks, &n_wrong) == (is_twice || wrong > 0));
    HOLDS(is_twice || n_wrong == (double)wrong);
    HOLDS(isnan(pb_score_gap(means, chosen, n_chosen, 1.0)) == (n_chosen == 0));
    HOLDS(pb_score_lost(means, pulls, n) == lost);
    /* epsilon can only reduce the number of errors */
    const double epsilon = choose_unit(c);
    HOLDS(of_best || !pb_score_best(means, n, chosen, n_chosen, k, epsilon, marks));
}

static double gamma_of(void *state, double shape)
{
    HOLDS(shape > 0.0);
    return shape * (0.1 + fuzz_double(state));
}

static void spreads(choices *c, pool *p, int64_t n)
{
    int64_t *pulls = TAKE(p, n, int64_t), *asked = TAKE(p, n, int64_t), able = 0, decisions = 0;
    double *sums = TAKE(p, n, double), *deviations = TAKE(p, n, double), *costs = TAKE(p, n, double);
    uint64_t counter = choose_byte(c);
    choose_numbers(c, sums, n, 1e9);
    for (int64_t i = 0; i < n; i++) {
        pulls[i] = choose(c, 0, 6);
        asked[i] = pulls[i] + choose(c, 0, 3);
        deviations[i] = pulls[i] > 1 ? fabs(choose_number(c, 1e9)) : 0.0;
        costs[i] = 0.01 + 9.0 * choose_unit(c);
        able += pulls[i] >= 2;
        decisions += asked[i];
        HOLDS(pb_variance(pulls[i], sums[i], deviations[i]) >= 0.0);
    }
    const pb_spreads s = {n, pulls, sums, deviations, costs};
    const int64_t arms[2] = {pb_spreads_optimistic(&s, 1.0 + (double)decisions),
                             pb_spreads_drawn(&s, gamma_of, &counter)};
    for (int i = 0; i < 2; i++)
        HOLDS(able ? arms[i] >= 0 && arms[i] < n && pulls[arms[i]] >= 2 : arms[i] == -1);
    const int64_t lacking = pb_spreads_lacking(&s, asked, decisions);
    HOLDS(lacking == -1 || (lacking >= 0 && lacking < n && pulls[lacking] < 2));
    const double least = pb_variance_least(pulls, sums, deviations, n);
    for (int64_t i = 0; i < n; i++) {
        const double variance = pb_variance(pulls[i], sums[i], deviations[i]);
        HOLDS(variance == 0.0 || (least > 0.0 && least <= variance));
    }
}

/* Returns the arm with the largest index, after solving for the bound of every arm. */
static int64_t plainly(const pb_kl_index *index, double f)
{
    int64_t best = -1;
    double largest = -INFINITY;
    for (int64_t arm = 0; arm < index->n; arm++) {
        if (index->pulls[arm] == 0.0)
            continue;
        const double value = pb_kl_upper_tail(index->means[arm], f / index->pulls[arm]) -
                             (index->scales ? log(index->scales[arm]) : 0.0);
        if (best < 0 || value > largest) {
            largest = value;
            best = arm;
        }
    }
    return best;
}

static void indices(choices *c, pool *p, int64_t n)
{
    double *scales = TAKE(p, n, double), *sums = ZEROS(p, n, double), f = 1.0;
    for (int64_t i = 0; i < n; i++)
        scales[i] = 0.05 + 5.0 * choose_unit(c);
    pb_kl_index index = {n, choose_byte(c) & 1 ? scales : NULL, TAKE(p, n, double),
                         TAKE(p, n, double), TAKE(p, n, double), TAKE(p, n, double),
                         TAKE(p, n, double), TAKE(p, n, double)};
    pb_kl_index_begin(&index);
    int64_t arm = choose(c, 0, n - 1);
    for (int64_t t = choose(c, 1, 24); t > 0; t--) {
        const uint8_t kind = choose_byte(c);
        const double reward = kind < 200 ? kind & 1 : choose_unit(c), n_new = index.pulls[arm] + 1.0;
        sums[arm] += reward;
        pb_kl_index_update(&index, arm, fmin(sums[arm] / n_new, 1.0), n_new, f);
        f += choose_byte(c) < 8 ? 9.0 * choose_unit(c) : 0.1 * choose_unit(c);
        arm = pb_kl_index_choose(&index, f);
        HOLDS(arm == plainly(&index, f));
        if (choose_byte(c) < 64)
            arm = choose(c, 0, n - 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t kind = choose(&c, 0, 2), n = choose(&c, 1, MOST);
    if (kind == 0)
        scores(&c, &p, n);
    else if (kind == 1)
        spreads(&c, &p, n);
    else
        indices(&c, &p, n);
    pool_free(&p);
    return 0;
}
