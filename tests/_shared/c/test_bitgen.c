#include "check.h"

static uint64_t zeros(void *state) { (void)state; return 0; }
static uint64_t ones(void *state) { (void)state; return UINT64_MAX; }

static uint32_t scripted(void *state)
{
    const uint32_t **script = state;
    return *(*script)++;
}

static void below_is_uniform(void)
{
    enum { N = 70000, BOUND = 7 };
    uint64_t counter = 1;
    pb_bitgen bitgen = splitmix(&counter);
    int64_t counts[BOUND] = {0};
    for (int i = 0; i < N; i++) {
        const uint32_t value = pb_bitgen_below(&bitgen, BOUND);
        assert(value < BOUND);
        counts[value]++;
    }
    for (int k = 0; k < BOUND; k++)
        assert(binomial_fits(counts[k], N, 1.0 / BOUND));
    assert(pb_bitgen_below(&bitgen, 1) == 0);
}

/* With bound 3, only one of the 2^32 possible words must be drawn again: 0. */
static void below_rejects(void)
{
    const uint32_t bits[] = {0, 0, UINT32_MAX};
    const uint32_t *at = bits;
    pb_bitgen bitgen = {.state = &at, .next_uint32 = scripted};
    assert(pb_bitgen_below(&bitgen, 3) == 2);
    assert(at == bits + 3);
}

static void gumbel_is_finite_and_centred(void)
{
    enum { N = 20000 };
    double *draws = allocate(N, sizeof *draws);
    uint64_t counter = 2;
    pb_bitgen bitgen = splitmix(&counter);
    pb_bitgen_gumbel_many(&bitgen, N, draws);
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += draws[i];
    assert(close_to(sum / N, 0.5772156649015329, 5.0 * 1.2825498301618641 / sqrt(N)));

    bitgen.next_uint64 = zeros;
    pb_bitgen_gumbel_many(&bitgen, 1, draws);
    assert(isfinite(draws[0]) && draws[0] < -3.5);
    bitgen.next_uint64 = ones;
    pb_bitgen_gumbel_many(&bitgen, 1, draws);
    assert(isfinite(draws[0]) && draws[0] > 36.0);
    free(draws);
}

int main(void)
{
    below_is_uniform();
    below_rejects();
    gumbel_is_finite_and_centred();
    return 0;
}
