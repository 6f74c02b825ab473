#include "../../_shared/c/check.h"

#include "pybandit/montecarlo/variance.h"

static void below_two_values_there_is_none(void)
{
    assert(pb_variance(0, 0.0, 0.0) == 0.0);
    assert(pb_variance(1, 3.0, 0.0) == 0.0);
    assert(pb_variance(2, 3.0, 0.5) == 0.5);
    assert(pb_variance(5, -10.0, 8.0) == 2.0);
}

static void rounding_is_no_variance(void)
{
    /* ten values of 0.1 */
    assert(pb_variance(10, 1.0, 1e-33) == 0.0);
    assert(pb_variance(10, 1e9, 1e-13) == 0.0);
    assert(pb_variance(10, 0.0, 1e-33) > 0.0);
    assert(pb_variance(10, 1.0, 1e-20) > 0.0);
}

static void the_least_leaves_out_zeros(void)
{
    int64_t *pulls = allocate(4, sizeof *pulls);
    double *sums = allocate(4, sizeof *sums), *deviations = allocate(4, sizeof *deviations);
    for (int i = 0; i < 4; i++) {
        pulls[i] = 3;
        sums[i] = 0.0;
    }
    deviations[0] = 2.0; /* variances 1, 0, 4, 1/2 */
    deviations[1] = 0.0;
    deviations[2] = 8.0;
    deviations[3] = 1.0;
    assert(pb_variance_least(pulls, sums, deviations, 4) == 0.5);
    assert(pb_variance_least(pulls, sums, deviations, 3) == 1.0);
    assert(pb_variance_least(pulls, sums, deviations + 1, 1) == 0.0);
    pulls[0] = 1;
    assert(pb_variance_least(pulls, sums, deviations, 1) == 0.0);
    free(pulls);
    free(sums);
    free(deviations);
}

/* Four estimators with 9, 9, 16, 1 values, variances 1, 4, 1, none, and costs 1, 1/8, 1, 1. */
static pb_spreads four(int64_t *pulls, double *sums, double *deviations, double *costs)
{
    const int64_t n[] = {9, 9, 16, 1};
    const double variance[] = {1.0, 4.0, 1.0, 0.0}, cost[] = {1.0, 0.125, 1.0, 1.0};
    for (int i = 0; i < 4; i++) {
        pulls[i] = n[i];
        sums[i] = 3.0 * (double)n[i];
        deviations[i] = variance[i] * (double)(n[i] - 1);
        costs[i] = cost[i] * (double)n[i];
    }
    return (pb_spreads){4, pulls, sums, deviations, costs};
}

/* Returns numbers from a list, and records the shapes requested. */
typedef struct {
    double gives[4], shapes[4];
    int n;
} listed;

static double next_gamma(void *state, double shape)
{
    listed *list = state;
    list->shapes[list->n] = shape;
    return list->gives[list->n++];
}

static void choices_of_four(void)
{
    int64_t *pulls = allocate(4, sizeof *pulls);
    double *sums = allocate(4, sizeof *sums), *deviations = allocate(4, sizeof *deviations);
    double *costs = allocate(4, sizeof *costs);
    const pb_spreads spreads = four(pulls, sums, deviations, costs);
    assert(pb_spreads_optimistic(&spreads, 100.0) == 1);
    costs[1] = 2.25; /* 4 * 1/4: ties with the first */
    assert(pb_spreads_optimistic(&spreads, 100.0) == 0);
    costs[1] *= 1.0000001;
    assert(pb_spreads_optimistic(&spreads, 100.0) == 0);
    /* at t = 100 the wider term of 9 values offsets log .8; at t = 1 it does not */
    deviations[2] = 0.8 * 15.0;
    assert(pb_spreads_optimistic(&spreads, 100.0) == 0);
    assert(pb_spreads_optimistic(&spreads, 1.0) == 2);
    deviations[2] = 0.0;
    assert(pb_spreads_optimistic(&spreads, 100.0) == 2);

    deviations[2] = 15.0;
    costs[1] = 2.25;
    listed list = {.gives = {4.0, 5.0, 7.5}};
    assert(pb_spreads_drawn(&spreads, next_gamma, &list) == 1);
    assert(list.n == 3 && list.shapes[0] == 4.0 && list.shapes[1] == 4.0 && list.shapes[2] == 7.5);
    listed ties = {.gives = {4.0, 4.0, 7.5}};
    assert(pb_spreads_drawn(&spreads, next_gamma, &ties) == 0);
    listed third = {.gives = {4.0, 4.0, 7.6}};
    assert(pb_spreads_drawn(&spreads, next_gamma, &third) == 2);

    const int64_t asked[] = {0, 0, 0, 3};
    assert(pb_spreads_lacking(&spreads, asked, 12) == 3);
    assert(pb_spreads_lacking(&spreads, asked, 11) == -1);
    pulls[0] = pulls[1] = 1;
    assert(pb_spreads_lacking(&spreads, asked, 0) == 0);
    pulls[2] = 0;
    assert(pb_spreads_optimistic(&spreads, 5.0) == -1);
    assert(pb_spreads_drawn(&spreads, next_gamma, &list) == -1);
    free(pulls);
    free(sums);
    free(deviations);
    free(costs);
}

int main(void)
{
    choices_of_four();
    below_two_values_there_is_none();
    rounding_is_no_variance();
    the_least_leaves_out_zeros();
    return 0;
}
