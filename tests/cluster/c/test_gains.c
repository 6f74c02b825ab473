#include "stage.h"

#include "pybandit/cluster/gains.h"

static double plain_loss(const stage *s)
{
    double loss = 0.0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t first, second;
        plain_two(s, i, &first, &second);
        loss += weight_of(s, i) * between(s, s->km.medoids[first], i);
    }
    return loss;
}

static void read_all(const pb_kmedoids *km, pb_swap_trial *t)
{
    double d[PB_TILE];
    uint64_t near;
    for (int64_t i = km->starts[t->stratum]; i < km->starts[t->stratum + 1]; i++) {
        assert(pb_tile_read_near(km->tiles + i, &km->distances, &t->row, 1, NULL,
                                 km->d2 + i * PB_TILE, d, &near) == PB_OK);
        pb_swap_add_own(km, t, d, near);
    }
    for (int64_t i = 0; i * PB_TILE < km->n_mixed; i++) {
        assert(pb_tile_read_near(km->mixed_tiles + i, &km->distances, &t->row, 1, NULL,
                                 km->mixed_d2 + i * PB_TILE, d, &near) == PB_OK);
        pb_swap_add_mixed(km, t, d, near);
    }
    t->n_own = km->sizes[t->stratum];
    t->n_mixed = km->n_mixed;
}

/* If all points were read, the estimates are the exact gains, with errors of 0. */
static void estimates_become_exact(void)
{
    uint64_t counter = 21;
    for (int run = 0; run < 24; run++) {
        const int64_t n = 10 + (int64_t)(splitmix_next(&counter) % 300);
        const int64_t k = 2 + (int64_t)(splitmix_next(&counter) % 6);
        stage s;
        make_points(&s, &counter, n, 1 + run % 3, k, run % 2, run % 4 > 1);
        make_stage(&s, n);
        pb_kmedoids *const km = &s.km;
        pb_swap_trial t;
        start_trial(&t, k);
        const double before = plain_loss(&s), slack = 1e-9 * (1.0 + before);
        for (int64_t i = 0; i < n; i += 1 + n / 8) {
            const int is_medoid = km->d1[km->slots[i]] == 0.0;
            const pb_swap_decision first = pb_swap_begin(km, &t, i);
            assert(first == (is_medoid ? PB_SWAP_PASS : PB_SWAP_OWN));
            if (is_medoid)
                continue;
            assert(t.row == s.order[i]);
            read_all(km, &t);
            const pb_swap_decision decision = pb_swap_decide(km, &t);
            double best = -INFINITY;
            for (int64_t l = 0; l < k; l++) {
                const int64_t kept = km->medoids[l];
                km->medoids[l] = t.row;
                const double gain = before - plain_loss(&s);
                km->medoids[l] = kept;
                double error;
                assert(close_to(pb_swap_estimate(km, &t, l, &error), gain, slack));
                assert(error == 0.0);
                best = fmax(best, gain);
            }
            assert(close_to(t.gain, best, slack));
            const double least = km->tolerance * km->loss;
            assert(fabs(best - least) <= slack ||
                   decision == (best > least ? PB_SWAP_ASK : PB_SWAP_DROP));
        }
        free_trial(&t);
        free_stage(&s);
    }
}

/* A trial reads at least the first samples, at most everything, and ends with a decision. */
static void trials_end(void)
{
    uint64_t counter = 31;
    for (int run = 0; run < 12; run++) {
        stage s;
        make_points(&s, &counter, 2000, 2, 5, run % 2, run % 4 > 1);
        make_stage(&s, run % 3 ? 1000 : 2000);
        const pb_kmedoids *const km = &s.km;
        pb_swap_trial t;
        start_trial(&t, s.k);
        pb_tile scratch = {.memory = NULL};
        double d[PB_TILE];
        for (int64_t i = 0; i < 200; i++) {
            pb_swap_decision decision;
            assert(pb_swap_try(km, &t, i, &scratch, d, &decision) == PB_OK);
            if (decision == PB_SWAP_PASS) {
                assert(km->d1[km->slots[i]] == 0.0 && t.n_read == 0);
                continue;
            }
            assert(decision == PB_SWAP_ASK || decision == PB_SWAP_DROP);
            const int64_t size = km->sizes[t.stratum];
            assert(t.n_own >= (size < 64 ? size : 64) && t.n_own <= size);
            assert(t.n_mixed >= 128 && t.n_mixed <= km->n_mixed);
            assert(t.n_read >= t.n_own && t.n_read <= t.n_own + t.n_mixed && isfinite(t.gain));
            digest_double(t.gain);
        }
        free_trial(&t);
        free_stage(&s);
    }
}

int main(void)
{
    estimates_become_exact();
    trials_end();
    return 0;
}
