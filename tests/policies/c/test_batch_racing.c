#include "../../_shared/c/check.h"

#include "pybandit/policies/batch/batch_racing.h"

enum { MOST = 10 };

static int open_at(const int *state, int64_t n)
{
    int open = 0;
    for (int64_t i = 0; i < n; i++)
        open += state[i] == 0;
    return open;
}

/* Returns the rank-th largest value of the survivors (ranks start at 1), by counting. */
static double nth(const double *values, const int *state, int64_t n, int64_t rank)
{
    if (rank < 1)
        return INFINITY;
    for (int64_t i = 0; i < n; i++) {
        int64_t above = 0, same = 0;
        for (int64_t j = 0; j < n && state[i] == 0; j++) {
            above += state[j] == 0 && values[j] > values[i];
            same += state[j] == 0 && values[j] == values[i];
        }
        if (state[i] == 0 && above < rank && rank <= above + same)
            return values[i];
    }
    return -INFINITY;
}

/* Sets the state of every survivor: 1 if accepted, -1 if rejected, 0 otherwise. */
static void judge_all(int *state, const pb_batch_racing *race, const int64_t *pulls,
                      const double *sums)
{
    double lower[MOST], upper[MOST];
    int64_t k = race->k;
    for (int64_t i = 0; i < race->n; i++) {
        const double t = (double)pulls[i];
        const double width = race->scale * sqrt(4.0 * log(log2(2.0 * t) / race->omega) / t);
        lower[i] = pulls[i] ? sums[i] / t - width : -INFINITY;
        upper[i] = pulls[i] ? sums[i] / t + width : INFINITY;
        k -= state[i] == 1;
    }
    const double reject_below = nth(lower, state, race->n, k);
    const double accept_above = nth(upper, state, race->n, k + 1);
    for (int64_t i = 0; i < race->n; i++)
        if (state[i] == 0)
            state[i] = lower[i] > accept_above ? 1 : upper[i] < reject_below ? -1 : 0;
}

static pb_batch_racing race_new(int64_t n, int64_t k, int64_t size, int64_t repeats,
                                double delta, double sigma)
{
    pb_batch_racing race = {.n = n, .k = k, .size = size, .repeats = repeats,
                            .omega = sqrt(delta / (6.0 * (double)n)), .scale = 2.0 * sigma};
    race.ring.arms = allocate(n, sizeof(int64_t));
    race.lower = allocate(n, sizeof(double));
    race.upper = allocate(n, sizeof(double));
    race.members = allocate(n, sizeof(int64_t));
    for (int i = 0; i < 2; i++) {
        pb_top *top = i ? &race.uppers : &race.lowers;
        top->order = allocate(n, sizeof(int64_t));
        top->place = allocate(n, sizeof(int64_t));
    }
    race.alive = allocate(n, 1);
    race.accepted = allocate(n, 1);
    pb_batch_racing_begin(&race);
    return race;
}

static void race_free(pb_batch_racing *race)
{
    void *all[] = {race->ring.arms, race->lower, race->upper, race->members, race->alive,
                   race->accepted, race->lowers.order, race->lowers.place, race->uppers.order,
                   race->uppers.place};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* After every batch, survivors and accepted arms match the rules applied to all arms. */
static void equals_the_rules_on_all_arms(void)
{
    uint64_t random = 5;
    int n_done = 0, n_accepted = 0;
    for (int run = 0; run < 400; run++) {
        const int64_t n = 2 + (int64_t)(splitmix_next(&random) % (MOST - 1));
        const int64_t k = 1 + (int64_t)(splitmix_next(&random) % (uint64_t)(n - 1));
        const int64_t size = 1 + (int64_t)(splitmix_next(&random) % 25);
        const int64_t repeats = 1 + (int64_t)(splitmix_next(&random) % 6);
        const double lost = run % 3 ? 0.0 : 0.4;
        pb_batch_racing race = race_new(n, k, size, repeats, 0.3, run % 2 ? 0.05 : 0.5);
        int64_t pulls[MOST] = {0};
        double sums[MOST] = {0.0};
        int state[MOST] = {0};
        while (!race.done && race.n_batches < 250) {
            const pb_batch batch = pb_batch_racing_next(&race);
            for (int64_t j = 0; j < batch.n_pulls; j++) {
                const int64_t arm = batch.arms[(batch.first + j) % batch.n_arms];
                if (splitmix_double(&random) < lost)
                    continue;
                pulls[arm]++;
                /* on a grid, so that bounds tie */
                sums[arm] += (double)((uint64_t)arm / 2 + splitmix_next(&random) % 3) / 8.0;
            }
            pb_batch_racing_advance(&race, pulls, sums);
            judge_all(state, &race, pulls, sums);
            assert(race.ring.n_arms == open_at(state, n));
            for (int64_t i = 0, position = 0; i < n; i++) {
                assert(race.accepted[i] == (state[i] == 1));
                if (state[i] == 0)
                    assert(race.ring.arms[position++] == i);
                n_accepted += state[i] == 1 && !race.done;
            }
        }
        assert(race.done == (open_at(state, n) == 0));
        if (race.done) {
            int64_t total = 0;
            for (int64_t i = 0; i < n; i++)
                total += race.accepted[i];
            assert(total == k);
            n_done++;
        }
        race_free(&race);
    }
    assert(n_done > 60 && n_done < 395 && n_accepted > 100);
}

static void ends_at_once(void)
{
    for (int64_t k = 0; k <= 3; k += 3) {
        pb_batch_racing race = race_new(3, k, 2, 1, 0.1, 0.5);
        assert(race.done);
        for (int i = 0; i < 3; i++)
            assert(race.accepted[i] == (k == 3));
        race_free(&race);
    }
}

static void deviation_by_hand(void)
{
    assert(close_to(pb_batch_racing_deviation(1, 0.5), sqrt(4.0 * log(2.0)), 1e-15));
    assert(close_to(pb_batch_racing_deviation(8, 0.25), sqrt(4.0 * log(16.0) / 8.0), 1e-15));
}

int main(void)
{
    equals_the_rules_on_all_arms();
    ends_at_once();
    deviation_by_hand();
    return 0;
}
