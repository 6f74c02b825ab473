/* Screens on few plates: batches are full and ordered, and unmeasured arms come first. */
#include "fuzz.h"

#include "pybandit/policies/batch/screening.h"

typedef struct {
    int64_t *pulls;
    double *sums, *deviations;
} books;

static void check(const pb_screening *s, const books *b)
{
    const int64_t n = s->belief.n;
    int64_t sum = 0, unseen = 0, unseen_chosen = 0, chosen = 0;
    for (int64_t i = 0; i < n; i++) {
        HOLDS(s->counts[i] >= 0 && s->counts[i] <= s->repeats);
        sum += s->counts[i];
        unseen += b->pulls[i] == 0;
        unseen_chosen += b->pulls[i] == 0 && s->counts[i] > 0;
        chosen += s->counts[i] > 0;
    }
    HOLDS(sum == s->size && chosen == s->n_chosen);
    HOLDS(unseen_chosen == (unseen < s->size ? unseen : s->size));
    for (int64_t i = 0; i < chosen; i++)
        HOLDS(s->wells[i] == s->counts[s->chosen[i]] && s->wells[i] > 0 &&
              (i == 0 || s->chosen[i] > s->chosen[i - 1]));
}

static void believe(pb_screening *s, const books *b, int is_odd)
{
    const pb_seen seen = {b->pulls, b->sums, b->deviations};
    int64_t n_seen = 0;
    for (int64_t i = 0; i < s->belief.n; i++)
        n_seen += b->pulls[i] > 0;
    if (!n_seen)
        return;
    const double noise = pb_normal_means_fit(&s->belief, &seen);
    HOLDS(noise > 0.0 || is_odd);
    for (int64_t i = 0; i < s->belief.n && !is_odd; i++)
        HOLDS(isfinite(s->belief.means[i]) && s->belief.variances[i] >= 0.0);
}

/* Carries out a batch; some wells are lost. */
static void pull(const pb_screening *s, books *b, choices *c, double scale)
{
    const int64_t lost = choose(c, 0, 3);
    for (int64_t i = 0; i < s->n_chosen; i++) {
        const int64_t arm = s->chosen[i];
        for (int64_t j = 0; j < s->wells[i]; j++) {
            if (lost == 3 || (lost == 2 && choose_byte(c) & 1))
                continue;
            const double reward = scale * choose_number(c, 1e6);
            const double before = b->pulls[arm] ? b->sums[arm] / (double)b->pulls[arm] : reward;
            b->sums[arm] += reward;
            b->pulls[arm]++;
            b->deviations[arm] += (reward - before) *
                                  (reward - b->sums[arm] / (double)b->pulls[arm]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 2, 12), k = choose(&c, 1, n - 1);
    int64_t repeats = choose(&c, 1, 4);
    const int64_t most = n * repeats < 24 ? n * repeats : 24, wells = choose(&c, 1, most);
    repeats = repeats < wells ? repeats : wells;
    const int64_t batches = choose(&c, 1, 4);
    const int64_t pieces = pb_screening_near(n, wells) * pb_screening_levels(repeats * batches);
    const uint8_t flags = choose_byte(&c);
    const double scale = flags < 16 ? 1e150 : flags < 32 ? 0.0 : 1.0;
    int64_t *order = TAKE(&p, n, int64_t);
    double *prior = TAKE(&p, n, double);
    for (int64_t i = 0; i < n; i++)
        order[i] = flags & 32 ? n - 1 - i : i;
    for (int64_t i = 0; i < n; i++)
        prior[i] = choose_byte(&c) / 48.0 - 2.5;
    pb_screening s = {.k = k, .size = wells, .repeats = repeats, .order = order,
                      .belief = {.n = n, .prior = flags & 64 ? prior : NULL,
                                 .noise = flags & 128 ? choose_unit(&c) : 0.0,
                                 .means = TAKE(&p, n, double), .variances = TAKE(&p, n, double),
                                 .keys = TAKE(&p, n, double), .line = TAKE(&p, n, int64_t),
                                 .ranked = TAKE(&p, 2 * n, pb_ranked)},
                      .planned = TAKE(&p, n, int64_t), .limits = TAKE(&p, n, int64_t),
                      .slopes = TAKE(&p, pieces, double), .ends = TAKE(&p, pieces, double),
                      .counts = TAKE(&p, n, int64_t), .chosen = TAKE(&p, n, int64_t),
                      .wells = TAKE(&p, n, int64_t)};
    books b = {ZEROS(&p, n, int64_t), ZEROS(&p, n, double), ZEROS(&p, n, double)};
    const pb_seen seen = {b.pulls, b.sums, b.deviations};
    for (int64_t left = batches; left > 0 && c.at < c.end; left--) {
        pb_screening_choose(&s, &seen, left);
        check(&s, &b);
        pull(&s, &b, &c, scale);
        if (choose_byte(&c) < 32)
            believe(&s, &b, scale > 1.0);
    }
    pb_screening_list(&s);
    pool_free(&p);
    return 0;
}
