#include "../../_shared/c/check.h"

#include "pybandit/simulation/score.h"

enum { N = 5 };
static const double MEANS[N] = {0.5, 0.9, 0.7, 0.7, 0.1};
static _Thread_local unsigned char marks[N];

static int best(const int64_t *chosen, int64_t n, int64_t k, double epsilon)
{
    return pb_score_best(MEANS, N, chosen, n, k, epsilon, marks);
}

static void best_arms(void)
{
    assert(!best((int64_t[]){1}, 1, 1, 0.0) && best((int64_t[]){2}, 1, 1, 0.0));
    /* either of two equal arms may be the second of two, but they may not replace the best arm */
    assert(!best((int64_t[]){3, 1}, 2, 2, 0.0) && !best((int64_t[]){1, 2}, 2, 2, 0.0));
    assert(best((int64_t[]){2, 3}, 2, 2, 0.0));
    /* an answer must have exactly k arms, each named once */
    assert(best((int64_t[]){1}, 1, 2, 0.0) && best((int64_t[]){1, 1}, 2, 2, 0.0));
    assert(best((int64_t[]){1, 2, 3}, 3, 2, 0.0));
    assert(!best((int64_t[]){0}, 0, 0, 0.0) && !best((int64_t[]){4, 3, 2, 1, 0}, 5, 5, 0.0));
    /* in floating point, .9 - .7 is slightly above .2 */
    assert(0.9 - 0.7 > 0.2 && !best((int64_t[]){2}, 1, 1, 0.2) && best((int64_t[]){2}, 1, 1, 0.19));
}

static void arms_above(void)
{
    double furthest;
    const int64_t both[] = {1, 2}, all[] = {1, 2, 3}, low[] = {1, 2, 3, 0}, twice[] = {1, 2, 1};
    /* arms whose mean equals the threshold may be in the answer or not */
    assert(!pb_score_above(MEANS, N, both, 2, 0.7, 0.0, marks, &furthest) && furthest == 0.0);
    assert(!pb_score_above(MEANS, N, all, 3, 0.6, 0.0, marks, &furthest) && furthest == 0.0);
    assert(pb_score_above(MEANS, N, both, 2, 0.6, 0.0, marks, &furthest));
    assert(furthest == 0.7 - 0.6);
    assert(pb_score_above(MEANS, N, low, 4, 0.6, 0.05, marks, &furthest));
    assert(furthest == 0.6 - 0.5);
    assert(!pb_score_above(MEANS, N, low, 4, 0.6, 0.1, marks, &furthest) && furthest > 0.0);
    assert(pb_score_above(MEANS, N, twice, 3, 0.7, 0.0, marks, &furthest) && furthest == 0.0);
    assert(pb_score_above(MEANS, N, both, 0, 0.6, 0.0, marks, &furthest));
    assert(furthest == 0.9 - 0.6);
}

static void sets(void)
{
    const unsigned char right[N] = {0, 1, 1, 0, 0};
    double n_wrong;
    assert(!pb_score_set(right, N, (int64_t[]){2, 1}, 2, marks, &n_wrong) && n_wrong == 0.0);
    assert(pb_score_set(right, N, (int64_t[]){1, 4}, 2, marks, &n_wrong) && n_wrong == 2.0);
    assert(pb_score_set(right, N, (int64_t[]){1, 2, 2}, 3, marks, &n_wrong) && n_wrong == 0.0);
}

static void regrets(void)
{
    const double gaps[N] = {0.25, 0.0, 0.5, 1.0, 2.0};
    assert(pb_score_gap(MEANS, (int64_t[]){4, 1}, 2, 0.75) == 0.75 - (0.1 + 0.9) / 2.0);
    assert(isnan(pb_score_gap(MEANS, NULL, 0, 0.75)));
    assert(pb_score_lost(gaps, (int64_t[]){4, 100, 2, 1, 3}, N) == 9.0);
}

int main(void)
{
    best_arms();
    arms_above();
    sets();
    regrets();
    return 0;
}
