#include "../../_shared/c/check.h"

#include "pybandit/policies/batch/screening.h"

static pb_screening screen_new(int64_t n, int64_t k, int64_t size, int64_t repeats, int64_t batches)
{
    pb_screening s = {.k = k, .size = size, .repeats = repeats, .belief = {.n = n}};
    const int64_t pieces =
        pb_screening_near(n, size) * pb_screening_levels(repeats * batches);
    int64_t *order = allocate(n, sizeof(int64_t));
    for (int64_t i = 0; i < n; i++)
        order[i] = n - 1 - i;
    s.order = order;
    s.belief.means = allocate(n, sizeof(double));
    s.belief.variances = allocate(n, sizeof(double));
    s.belief.keys = allocate(n, sizeof(double));
    s.belief.line = allocate(n, sizeof(int64_t));
    s.belief.ranked = allocate(2 * n, sizeof(pb_ranked));
    s.planned = allocate(n, sizeof(int64_t));
    s.limits = allocate(n, sizeof(int64_t));
    s.slopes = allocate(pieces, sizeof(double));
    s.ends = allocate(pieces, sizeof(double));
    s.counts = allocate(n, sizeof(int64_t));
    s.chosen = allocate(n, sizeof(int64_t));
    s.wells = allocate(n, sizeof(int64_t));
    return s;
}

static void screen_free(pb_screening *s)
{
    void *all[] = {(void *)s->order, s->belief.means, s->belief.variances, s->belief.keys,
                   s->belief.line,   s->belief.ranked, s->planned, s->slopes,
                   s->limits,
                   s->ends,          s->counts,        s->chosen,  s->wells};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

typedef struct {
    int64_t *pulls;
    double *sums, *deviations;
} books;

/* Carries out a batch; every well is lost with probability `lost`. */
static void pull(const pb_screening *s, books *b, uint64_t *random, double lost, double scale)
{
    for (int64_t i = 0; i < s->n_chosen; i++) {
        const int64_t arm = s->chosen[i];
        for (int64_t j = 0; j < s->wells[i]; j++) {
            if (splitmix_double(random) < lost)
                continue;
            const double reward = scale * ((double)arm + 4.0 * splitmix_double(random));
            const double before =
                b->pulls[arm] ? b->sums[arm] / (double)b->pulls[arm] : reward;
            b->sums[arm] += reward;
            b->pulls[arm]++;
            b->deviations[arm] +=
                (reward - before) * (reward - b->sums[arm] / (double)b->pulls[arm]);
        }
    }
}

/* Every batch is full, lists arms in order, repeats none too often, and takes unseen arms first. */
static void check_batch(const pb_screening *s, const books *b)
{
    int64_t sum = 0, unseen = 0, unseen_chosen = 0;
    for (int64_t i = 0; i < s->belief.n; i++) {
        assert(s->counts[i] >= 0 && s->counts[i] <= s->repeats);
        unseen += b->pulls[i] == 0;
        unseen_chosen += b->pulls[i] == 0 && s->counts[i] > 0;
    }
    for (int64_t i = 0; i < s->n_chosen; i++) {
        assert(i == 0 || s->chosen[i] > s->chosen[i - 1]);
        assert(s->wells[i] == s->counts[s->chosen[i]] && s->wells[i] > 0);
        sum += s->wells[i];
    }
    assert(sum == s->size);
    assert(unseen_chosen == (unseen < s->size ? unseen : s->size));
}

static void batches_are_full(void)
{
    uint64_t random = 11;
    int64_t found = 0, wanted = 0;
    for (int run = 0; run < 600; run++) {
        const int64_t n = 2 + (int64_t)(splitmix_next(&random) % 60);
        const int64_t k = 1 + (int64_t)(splitmix_next(&random) % (uint64_t)(n - 1));
        const int64_t repeats = 1 + (int64_t)(splitmix_next(&random) % 6);
        int64_t size = 1 + (int64_t)(splitmix_next(&random) % 40);
        size = size > n * repeats ? n * repeats : size;
        const int64_t batches = (n + size - 1) / size + 6;
        const double lost = run % 4 == 3 ? 0.5 : run % 16 == 1 ? 1.0 : 0.0;
        const double scale = run % 5 == 4 ? 0.0 : run % 25 == 2 ? 1e306 : 1.0;
        pb_screening s = screen_new(n, k, size, repeats < size ? repeats : size, batches);
        books b = {allocate(n, 8), allocate(n, 8), allocate(n, 8)};
        memset(b.pulls, 0, (size_t)n * 8);
        memset(b.sums, 0, (size_t)n * 8);
        memset(b.deviations, 0, (size_t)n * 8);
        const pb_seen seen = {b.pulls, b.sums, b.deviations};
        for (int64_t batch = 0; batch < batches; batch++) {
            pb_screening_choose(&s, &seen, batches - batch);
            check_batch(&s, &b);
            pull(&s, &b, &random, lost, scale);
        }
        if (lost == 0.0 && scale == 1.0) {
            pb_normal_means_fit(&s.belief, &seen);
            for (int64_t i = n - k; i < n; i++) {
                int64_t better = 0;
                for (int64_t j = 0; j < n; j++)
                    better += s.belief.means[j] > s.belief.means[i];
                found += better < k;
            }
            wanted += k;
        }
        free(b.pulls);
        free(b.sums);
        free(b.deviations);
        screen_free(&s);
    }
    assert(wanted > 3000 && found > wanted * 96 / 100);
}

static void levels(void)
{
    assert(pb_screening_levels(1) == 1 && pb_screening_levels(2) == 2);
    assert(pb_screening_levels(3) == 3 && pb_screening_levels(5) == 4);
    assert(pb_screening_levels(8) == 6 && pb_screening_levels(INT64_MAX) == 80);
    assert(pb_screening_near(10, 384) == 10 && pb_screening_near(5000, 384) == 1536);
    assert(pb_screening_near(INT64_MAX, 60000) == 60000);
}

int main(void)
{
    batches_are_full();
    levels();
    return 0;
}
