/* Draws by races from a matrix, or a function that may fail or return infinite values or NaN. */
#include "fuzz.h"
#include "looks.h"

#include "pybandit/racing/sampler.h"

typedef struct {
    int64_t n, d;
    const double *matrix;
    unsigned char *asked;  /* (n, d), 1 if read in this draw */
    int64_t n_calls, fails_at;
} source;

static int look_up(const int64_t *factors, int64_t n_factors, const int64_t *states,
                   int64_t n_states, double *out, void *user_data)
{
    source *s = user_data;
    HOLDS(n_factors >= 1 && n_states >= 1 && n_states <= s->d);
    HOLDS(n_factors <= PB_RACE_CALL_ROWS);
    for (int64_t i = 0; i < n_states; i++) {
        HOLDS(states[i] >= 0 && states[i] < s->d);
        HOLDS(i == 0 || states[i] > states[i - 1]);
    }
    if (s->n_calls++ == s->fails_at)
        return 1;
    for (int64_t f = 0; f < n_factors; f++) {
        HOLDS(factors[f] >= 0 && factors[f] < s->n);
        for (int64_t i = 0; i < n_states; i++) {
            const int64_t at = factors[f] * s->d + states[i];
            HOLDS(!s->asked[at]);
            s->asked[at] = 1;
            out[f * n_states + i] = s->matrix[at];
        }
    }
    return 0;
}

/* Returns the state with the largest offset + sum, and its gap to the next, by a plain loop. */
static int64_t plain(const source *s, const double *offsets, double *gap, double *size)
{
    int64_t best = -1;
    double largest = -INFINITY, second = -INFINITY;
    *size = 0.0;
    for (int64_t i = 0; i < s->d; i++) {
        double total = offsets[i];
        for (int64_t f = 0; f < s->n; f++) {
            total += s->matrix[f * s->d + i];
            *size += fabs(s->matrix[f * s->d + i]);
        }
        if (total > largest) {
            second = largest;
            largest = total;
            best = i;
        } else if (total > second) {
            second = total;
        }
    }
    *gap = largest - second;
    return best;
}

static void draw(pb_sampler *sampler, source *s, pb_bitgen *bitgen, int looks_once, int is_odd)
{
    int64_t state = -7;
    memset(s->asked, 0, (size_t)(s->n * s->d));
    const pb_status status = pb_sampler_draw(sampler, bitgen, &state);
    const pb_race *race = &sampler->race;
    HOLDS(status == sampler->status && status != PB_GROW && status != PB_RANGE);
    HOLDS(race->n_evaluations >= 0 && race->n_evaluations <= s->n * s->d);
    if (status != PB_OK) {
        HOLDS(state == -1 && (is_odd || (status == PB_CALLBACK && s->fails_at >= 0)));
        return;
    }
    HOLDS(state >= 0 && state < s->d && state == race->winner);
    HOLDS(!sampler->log_prior || sampler->log_prior[state] > -INFINITY);
    HOLDS(race->n_looks >= 0 && race->n_looks <= race->schedule.n_looks);
    if (looks_once && !is_odd) {
        double gap, size;
        const int64_t best = plain(s, sampler->offsets, &gap, &size);
        HOLDS(race->exact);
        HOLDS(state == best || gap <= 1e-9 * (1.0 + size));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const pb_subsample_kind kinds[] = {PB_SUBSAMPLE_PERMUTATION, PB_SUBSAMPLE_REJECTION,
                                              PB_SUBSAMPLE_KEYED};
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 1, 90), d = choose(&c, 1, 6);
    const int64_t first_look = choose(&c, 2, 100);
    const pb_convention convention = (pb_convention)choose(&c, 0, 2);
    const int64_t flags = choose(&c, 0, 255);
    const pb_subsample_kind kind = kinds[choose(&c, 0, 2)];
    const double delta = choose_unit(&c), fraction = choose_unit(&c);
    uint64_t counter = choose_bits(&c);
    double *matrix = TAKE(&p, n * d, double), *prior = TAKE(&p, d, double);
    pb_schedule schedule;
    void *looks = pool_take(&p, pb_schedule_memory(n, first_look, fraction), 1);
    HOLDS(pb_schedule_memory(n, first_look, fraction) <= 1536);
    pb_status solved = PB_OK;
    if (choose(&c, 0, 31) == 31)
        solved = pb_schedule_normal(delta, convention, n, d, first_look, fraction, looks, &schedule);
    else
        choose_looks(&c, n, first_look, fraction, looks, &schedule);
    if (solved != PB_OK) {
        HOLDS(solved == PB_NO_SOLUTION && !(delta / (double)(d > 1 ? d - 1 : 1) < 0.5));
        pool_free(&p);
        return 0;
    }
    HOLDS(schedule.n_looks >= 1 && schedule.rows[schedule.n_looks - 1] == n);
    for (int64_t t = 1; t < schedule.n_looks; t++)
        HOLDS(schedule.rows[t] > schedule.rows[t - 1]);
    for (int64_t i = 0; i < d; i++)
        prior[i] = i > 0 && choose_byte(&c) < 64 ? -INFINITY : choose_number(&c, 1e3);
    for (int64_t i = 0; i < n * d; i++)
        matrix[i] = choose_number(&c, 1e3);
    const int is_odd = (flags & 7) == 7;
    if (is_odd)
        matrix[choose(&c, 0, n * d - 1)] = flags & 8 ? NAN : 1e200;
    source s = {n, d, matrix, TAKE(&p, n * d, unsigned char), 0, flags & 16 ? choose(&c, 0, 9) : -1};
    const pb_factors factors = flags & 32 ? (pb_factors){n, d, matrix, NULL, NULL, 0}
                                          : (pb_factors){n, d, NULL, look_up, &s, 0};
    void *memory = pool_take(&p, pb_sampler_memory(&factors, &schedule, kind), 1);
    pb_sampler sampler;
    pb_sampler_init(&sampler, &factors, &schedule, flags & 64 ? prior : NULL, kind, memory);
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    for (int64_t i = choose(&c, 1, 4); i > 0; i--)
        draw(&sampler, &s, &bitgen, schedule.n_looks == 1, is_odd);
    pool_free(&p);
    return 0;
}
