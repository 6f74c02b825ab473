#include "betting_logs.h"

#include "pybandit/betting/pairs.h"

static pb_pairs pairs_new(const problem *p, double slack, double threshold)
{
    const int64_t n = p->n_arms * p->n_arms;
    pb_pairs made = {.bets = p->bets, .items = p->items, .slack = slack, .threshold = threshold};
    made.n_slots = p->n_arms;
    made.memory = soiled(n * pb_bets_memory(&p->bets), sizeof(double));
    made.claims = soiled(n, 1);
    pb_pairs_begin(&made);
    return made;
}

static void pairs_free(pb_pairs *pairs)
{
    free(pairs->memory);
    free(pairs->claims);
}

/* Every claim is made at the same item as in logs, in any order of slots and after one leaves. */
static void claims_as_in_logs(void)
{
    uint64_t random = 21;
    int64_t n_claims = 0, n_open = 0;
    log_claims *logs = allocate(1, sizeof *logs);
    for (int k = 0; k < 48; k++) {
        const int n_arms = 2 + k % 5, endless = k / 2 % 2;
        const int64_t n_rows = 20 + (int64_t)(splitmix_next(&random) % 300);
        const double slack = k % 3 ? 0.3 : 0.0, threshold = k % 4 ? 20.0 : 1e6;
        problem p = problem_new(&random, bets_new(k % 5 > 2 ? PB_MIX_EBMIX : PB_MIX_PRODUCT,
                                                  k % 2 ? 16 : 12, k % 3), n_arms,
                                endless ? 0 : n_rows, n_rows, 0.1 * (1 + k % 9));
        pb_pairs pairs = pairs_new(&p, slack, threshold);
        log_claims_begin(logs, &p.bets, slack, threshold);
        double sums[MOST_ARMS] = {0.0};
        int used[MOST_ARMS];
        for (int i = 0; i < n_arms; i++)
            used[i] = 1;
        for (int64_t row = 0; row < n_rows; row++) {
            double rewards[MOST_ARMS];
            int before = 0, after = 0;
            if (row > 150)
                used[k % n_arms] = 0;
            const int64_t n = n_arms - (row > 150);
            int64_t *slots = allocate(n, sizeof *slots), filled = 0;
            double *own_sums = allocate(n, sizeof *own_sums);
            double *own_rewards = allocate(n, sizeof *own_rewards);
            for (int i = n_arms - 1; i >= 0; i--) {
                rewards[i] = reward_of(&p, row, i);
                if (!used[i])
                    continue;
                slots[filled] = i;
                own_sums[filled] = sums[i];
                own_rewards[filled++] = rewards[i];
            }
            for (int i = 0; i < n_arms * n_arms; i++)
                before += logs->made[i / n_arms][i % n_arms];
            log_claims_add(logs, &p.bets, &p.items, row, n_arms, used, sums, rewards);
            const int found = pb_pairs_add(&pairs, row, slots, n, own_sums, own_rewards);
            for (int i = 0; i < n_arms * n_arms; i++) {
                assert(pairs.claims[i] == logs->made[i / n_arms][i % n_arms]);
                after += pairs.claims[i];
            }
            assert(found == (after > before));
            for (int i = 0; i < n_arms; i++)
                sums[i] += rewards[i];
            free(slots);
            free(own_sums);
            free(own_rewards);
            n_claims += after - before;
            if (row == n_rows - 1)
                n_open += n_arms * (n_arms - 1) - after;
        }
        pairs_free(&pairs);
        problem_free(&p);
    }
    assert(n_claims > 100 && n_open > 100);
    free(logs);
}

/* Two items with a slack, by hand; the limit .9 / m is 2 or 3.6, or 1.64 for the other arm. */
static void two_items_by_hand(void)
{
    enum { N = 2, G = 4 };
    const double bets[G] = {.1, .5, 1., 2.}, tilt[N] = {1.0, 2.0};
    const double m[2][N] = {{.45, .25}, {.45, .55}}, x[2][N] = {{.65, .4}, {.35, .6}};
    const double sums[N][2] = {{0, 0}, {.7, .4}}, rewards[N][2] = {{.7, .4}, {.5, .7}};
    const int64_t slots[2] = {0, 1};
    problem p = {.bets = bets_of(.1, .5, 1., 2.), .items = {N, 0.0, 1.0, 1.0, NULL}, .n_arms = 2};
    pb_pairs pairs = pairs_new(&p, 0.1, 1e9);
    for (int t = 0; t < N; t++)
        assert(!pb_pairs_add(&pairs, t, slots, 2, sums[t], rewards[t]));
    for (int a = 0; a < 2; a++)
        for (int g = 0; g < G; g++) {
            double capital = 0.25;
            for (int t = 0; t < N; t++)
                capital *= 1.0 + fmin(bets[g] * tilt[t], .9 / m[a][t]) * (x[a][t] - m[a][t]);
            const double *process = pairs.memory + (2 * a + 1 - a) * pb_bets_memory(&p.bets);
            assert(close_to(process[g], capital, 1e-14));
        }
    pairs_free(&pairs);
    bets_free(&p.bets);
}

/*
 * A lead of more than the items left can reverse is claimed at once; an equal lead is not. The arm
 * behind claims nothing, even if the mean that it bets to exceed is above 1.
 */
static void claims_the_certain_at_once(void)
{
    const double sums[2] = {60.0, 9.0}, rewards[2] = {0.0, 1.0};
    const int64_t slots[2] = {0, 1};
    for (int ebmix = 0; ebmix < 2; ebmix++)
        for (int64_t left = 50; left < 53; left++) {
            problem p = {.items = {100, 0.0, 1.0, 1.0, NULL}, .n_arms = 2};
            p.bets = bets_new(ebmix ? PB_MIX_EBMIX : PB_MIX_PRODUCT, 16, 0);
            pb_pairs pairs = pairs_new(&p, 0.0, 1e12);
            const int found = pb_pairs_add(&pairs, 100 - left, slots, 2, sums, rewards);
            assert(found == (left < 51) && pairs.claims[1] == found && !pairs.claims[2]);
            /* a claim is permanent and is not reported again */
            assert(!found || !pb_pairs_add(&pairs, 101 - left, slots, 2, sums, rewards));
            pairs_free(&pairs);
            bets_free(&p.bets);
        }
}

/* Alternating coins shrink the wealth of both claims by e^-1500; then one arm wins every item. */
static void recovers_from_ruin(void)
{
    enum { COINS = 10600, N = 20000 };
    const int64_t slots[2] = {0, 1};
    const int mask[2] = {1, 1};
    log_claims *logs = allocate(1, sizeof *logs);
    for (int k = 0; k < 4; k++) {
        const int winner = k % 2;
        problem p = {.items = {k < 2 ? 0 : N, 0.0, 1.0, 1.0, NULL}, .n_arms = 2};
        p.bets = bets_of(1.0, 1.2, 1.4, 1.6);
        pb_pairs pairs = pairs_new(&p, 0.0, 40.0);
        log_claims_begin(logs, &p.bets, 0.0, 40.0);
        double sums[2] = {0.0, 0.0};
        int64_t claimed[2] = {-9, -9};  /* item of the claim in the kernel and in logs */
        for (int64_t row = 0; row < N && (claimed[0] < 0 || claimed[1] < 0); row++) {
            double rewards[2];
            for (int i = 0; i < 2; i++)
                rewards[i] = row < COINS ? (double)(row % 2 == i) : (double)(i == winner);
            log_claims_add(logs, &p.bets, &p.items, row, 2, mask, sums, rewards);
            if (pb_pairs_add(&pairs, row, slots, 2, sums, rewards))
                claimed[0] = row;
            if (claimed[1] < 0 && logs->made[winner][1 - winner])
                claimed[1] = row;
            assert((row + 1) % 64 || no_denormals(pairs.memory, 4 * pb_bets_memory(&p.bets)));
            sums[0] += rewards[0], sums[1] += rewards[1];
        }
        assert(pairs.claims[2 * winner + 1 - winner] && !pairs.claims[2 * (1 - winner) + winner]);
        assert(claimed[1] > COINS + 300 && llabs(claimed[0] - claimed[1]) <= 1);
        pairs_free(&pairs);
        bets_free(&p.bets);
    }
    free(logs);
}

int main(void)
{
    claims_as_in_logs();
    two_items_by_hand();
    claims_the_certain_at_once();
    recovers_from_ruin();
    return 0;
}
