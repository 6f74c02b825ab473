/* Metropolis-Hastings tests on a matrix or a function, in exactly the memory that they require. */
#include "fuzz.h"
#include "looks.h"

#include "pybandit/racing/accept.h"

typedef struct {
    const double *values;
    int64_t n, n_calls, fails_at;
} source;

static int look_up(const int64_t *factors, int64_t n_factors, const int64_t *states,
                   int64_t n_states, double *out, void *user_data)
{
    source *s = user_data;
    HOLDS(n_factors >= 1 && n_states == 1 && states[0] == 0);
    if (s->n_calls++ == s->fails_at)
        return 2;
    for (int64_t f = 0; f < n_factors; f++) {
        HOLDS(factors[f] >= 0 && factors[f] < s->n);
        out[f] = s->values[factors[f]];
    }
    return 0;
}

static void decide(pb_accept *accept, const source *s, double threshold, pb_bitgen *bitgen,
                   int is_odd)
{
    int64_t accepted = -7, n_evaluations = -7;
    const pb_status status = pb_accept_decide(accept, threshold, bitgen, &accepted, &n_evaluations);
    HOLDS(status == accept->status && status != PB_GROW);
    HOLDS(n_evaluations >= 0 && n_evaluations <= s->n && n_evaluations == accept->n_evaluations);
    HOLDS(accepted == 0 || accepted == 1);
    if (status != PB_OK) {
        HOLDS(accepted == 0 && (is_odd || (status == PB_CALLBACK && s->fails_at >= 0)));
        HOLDS(accept->bad_factor < s->n);
        return;
    }
    HOLDS(accepted == accept->accepted && accept->n_looks <= accept->schedule.n_looks);
    double total = 0.0, size = fabs(threshold);
    for (int64_t i = 0; i < s->n; i++) {
        total += s->values[i];
        size += fabs(s->values[i]);
    }
    if (n_evaluations == s->n && !is_odd && fabs(total - threshold) > 1e-9 * size)
        HOLDS(accepted == (total > threshold));
    if (isinf(threshold))
        HOLDS(accepted == (threshold < 0.0));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const pb_subsample_kind kinds[] = {PB_SUBSAMPLE_PERMUTATION, PB_SUBSAMPLE_REJECTION,
                                              PB_SUBSAMPLE_KEYED};
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 1, 400), first_look = choose(&c, 2, 300);
    const int64_t flags = choose(&c, 0, 255);
    const pb_subsample_kind kind = kinds[choose(&c, 0, 2)];
    const double fraction = choose_unit(&c);
    uint64_t counter = choose_bits(&c);
    double *values = TAKE(&p, n, double);
    pb_schedule schedule;
    choose_looks(&c, n, first_look, fraction,
                 pool_take(&p, pb_schedule_memory(n, first_look, fraction), 1), &schedule);
    for (int64_t i = 0; i < n; i++)
        values[i] = choose_number(&c, 1e3);
    const int is_odd = (flags & 7) == 7;
    if (is_odd)
        values[choose(&c, 0, n - 1)] = flags & 8 ? NAN : -1e200;
    source s = {values, n, 0, flags & 16 ? choose(&c, 0, 9) : -1};
    const pb_factors factors = flags & 32 ? (pb_factors){n, 1, values, NULL, NULL, 0}
                                          : (pb_factors){n, 1, NULL, look_up, &s, 0};
    pb_accept accept;
    pb_accept_init(&accept, &factors, &schedule, kind,
                   pool_take(&p, pb_accept_memory(&factors, kind), 1));
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    for (int64_t i = choose(&c, 1, 4); i > 0; i--) {
        const double threshold = choose_number(&c, 1e3);
        decide(&accept, &s, choose_byte(&c) == 1 ? (flags & 64 ? INFINITY : -INFINITY) : threshold,
               &bitgen, is_odd);
    }
    pool_free(&p);
    return 0;
}
