#include "../../_shared/c/check.h"

#include "pybandit/policies/batch/batch_sar.h"

enum { MOST = 12 };

static pb_batch_sar sar_new(int64_t n, int64_t k, int64_t size, int64_t repeats)
{
    pb_batch_sar sar = {.n = n, .k = k, .size = size, .repeats = repeats};
    sar.max_batches = pb_batch_sar_least(n, size, repeats);
    sar.ring.arms = allocate(n, sizeof(int64_t));
    sar.harmonic = allocate(n + 1, sizeof(double));
    sar.ceilings = allocate(n + 1, sizeof(int64_t));
    sar.alive = allocate(n, 1);
    sar.accepted = allocate(n, 1);
    sar.means = allocate(n, sizeof(double));
    sar.ranked = allocate(2 * n, sizeof(pb_ranked));
    return sar;
}

static void sar_free(pb_batch_sar *sar)
{
    void *all[] = {sar->ring.arms, sar->harmonic, sar->ceilings, sar->alive,
                   sar->accepted,  sar->means,    sar->ranked};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* The rules on plain arrays; every stage is computed from scratch. */
typedef struct {
    int64_t asked[MOST], pulls[MOST], n_left, n_open, removed, n_batches, n_tilde, r_tilde;
    double sums[MOST];
    int state[MOST]; /* 0 survivor, 1 accepted, -1 rejected */
    int done;
} plain;

static int64_t ceiling(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/* Returns ceil(spare / (n_tilde / 2 + sum of 1 / i) / arms) in integers, over lcm(1 ... 12). */
static int64_t pulls_needed(const plain *p, const pb_batch_sar *s)
{
    const int64_t unit = 27720, until = s->improved ? p->n_left : s->n;
    int64_t spare = s->size * s->max_batches - (s->improved ? p->removed : 0) -
                    (s->size + p->n_tilde * p->r_tilde + until);
    int64_t shares = p->n_tilde * (unit / 2);
    for (int64_t i = p->n_tilde + 1; i <= until; i++) {
        spare -= ceiling(s->size, i);
        shares += unit / i;
    }
    return ceiling(spare * unit, shares * (p->n_left > p->n_tilde ? p->n_left : 2));
}

static double mean_of(const plain *p, int64_t n, int64_t arm)
{
    double sum = 0.0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += p->sums[i];
        count += p->pulls[i];
    }
    return p->pulls[arm] ? p->sums[arm] / (double)p->pulls[arm]
           : count       ? sum / (double)count
                         : 0.0;
}

/* Returns the survivor with this rank by mean; rank 0 is the largest mean. */
static int64_t at_rank(const plain *p, int64_t n, int64_t rank)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t before = 0;
        for (int64_t j = 0; j < n; j++) {
            const double a = mean_of(p, n, i), b = mean_of(p, n, j);
            before += p->state[j] == 0 && (b > a || (b == a && j < i));
        }
        if (p->state[i] == 0 && before == rank)
            return i;
    }
    assert(0);
    return -1;
}

static void fill(plain *p, int64_t n, int64_t places)
{
    int64_t chosen[MOST];
    for (int64_t i = 0; i < places; i++)
        chosen[i] = at_rank(p, n, i);
    for (int64_t i = 0; i < places; i++)
        p->state[chosen[i]] = 1;
    p->done = 1;
}

static void run_plain(plain *p, const pb_batch_sar *s)
{
    while (!p->done) {
        int64_t least = INT64_MAX;
        for (int64_t i = 0; i < s->n; i++)
            least = p->state[i] == 0 && p->asked[i] < least ? p->asked[i] : least;
        const int last = p->n_left <= p->n_tilde;
        if (p->n_open == 0 || p->n_open == p->n_left) {
            fill(p, s->n, p->n_open);
        } else if (last && s->improved ? p->n_batches < s->max_batches
                                       : least < pulls_needed(p, s)) {
            return;
        } else if (last) {
            fill(p, s->n, p->n_open);
        } else {
            const int64_t top = at_rank(p, s->n, 0), bottom = at_rank(p, s->n, p->n_left - 1);
            const double above =
                mean_of(p, s->n, top) - mean_of(p, s->n, at_rank(p, s->n, p->n_open));
            const double below = mean_of(p, s->n, at_rank(p, s->n, p->n_open - 1)) -
                                 mean_of(p, s->n, bottom);
            const int accepts = above == below ? s->lower_index && top < bottom : above > below;
            const int64_t arm = accepts ? top : bottom;
            p->state[arm] = accepts ? 1 : -1;
            p->n_open -= accepts;
            p->n_left--;
            p->removed += p->asked[arm];
        }
    }
}

/* After every batch, survivors and accepted arms match the rules computed from scratch. */
static void equals_the_rules_from_nothing(void)
{
    uint64_t random = 7;
    int64_t early = 0, accepted = 0, spent = 0;
    for (int run = 0; run < 1500; run++) {
        const int64_t n = 2 + (int64_t)(splitmix_next(&random) % (MOST - 1));
        const int64_t k = (int64_t)(splitmix_next(&random) % (uint64_t)(n + 1));
        const int64_t repeats = 1 + (int64_t)(splitmix_next(&random) % 6);
        int64_t size = 1 + (int64_t)(splitmix_next(&random) % 20);
        size = size > n * repeats ? n * repeats : size;
        pb_batch_sar sar = sar_new(n, k, size, repeats < size ? repeats : size);
        sar.max_batches += (int64_t)(splitmix_next(&random) % 6);
        sar.improved = run % 2;
        sar.lower_index = run / 2 % 2;
        const double lost = run % 5 ? 0.0 : 0.5;
        const uint64_t steps = 1 + splitmix_next(&random) % 4;
        plain p = {.n_left = n, .n_open = k};
        const int64_t fewest = ceiling(size, sar.repeats), half = ceiling(size, 2);
        p.n_tilde = fewest > 2 ? fewest : 2;
        p.n_tilde = p.n_tilde < n ? p.n_tilde : n;
        p.r_tilde = half < sar.repeats ? half : sar.repeats;
        pb_batch_sar_begin(&sar);
        run_plain(&p, &sar);
        while (!sar.done) {
            const pb_batch batch = pb_batch_sar_next(&sar);
            assert(batch.n_pulls == size);
            for (int64_t j = 0; j < batch.n_pulls; j++) {
                const int64_t arm = batch.arms[(batch.first + j) % batch.n_arms];
                p.asked[arm]++;
                if (splitmix_double(&random) < lost)
                    continue;
                p.pulls[arm]++;
                p.sums[arm] += (double)(splitmix_next(&random) % (steps + 1)) / (double)steps;
            }
            pb_batch_sar_advance(&sar, p.pulls, p.sums);
            p.n_batches++;
            run_plain(&p, &sar);
            assert(sar.done == p.done);
            for (int64_t i = 0, position = 0; i < n; i++) {
                assert(sar.accepted[i] == (p.state[i] == 1));
                if (!sar.done && p.state[i] == 0)
                    assert(sar.ring.arms[position++] == i && position <= sar.ring.n_arms);
            }
            accepted += !sar.done && sar.n_open < k;
        }
        int64_t chosen = 0;
        for (int64_t i = 0; i < n; i++)
            chosen += sar.accepted[i];
        assert(chosen == k && p.done && sar.n_batches == p.n_batches);
        assert(sar.n_batches <= sar.max_batches - 2 * !sar.improved);
        early += sar.n_batches < sar.max_batches && sar.improved && k > 0 && k < n;
        spent += sar.n_batches == sar.max_batches;
        sar_free(&sar);
    }
    assert(early > 20 && accepted > 500 && spent > 300);
}

/* In float64, m_1 comes out above the integers 12 and 24; it must not become 13 or 25 rounds. */
static void integer_quotients(void)
{
    const int64_t budgets[] = {118, 225};
    for (int i = 0; i < 2; i++) {
        pb_batch_sar sar = sar_new(5, 2, 1, 1);
        int64_t pulls[5] = {0};
        const double sums[5] = {0.0};
        sar.max_batches = budgets[i];
        pb_batch_sar_begin(&sar);
        while (sar.n_left == 5) {
            const pb_batch batch = pb_batch_sar_next(&sar);
            pulls[batch.arms[batch.first]]++;
            pb_batch_sar_advance(&sar, pulls, sums);
        }
        assert(sar.n_batches == 5 * 12 * (i + 1));
        sar_free(&sar);
    }
}

static void the_smallest_budgets(void)
{
    assert(pb_batch_sar_least(522062, 60000, 12) == 22);
    assert(pb_batch_sar_least(12979, 384, 384) == 75);
    assert(pb_batch_sar_least(100, 1, 1) == 202);
    assert(pb_batch_sar_least(12979, 384, 1) == 69);
}

int main(void)
{
    equals_the_rules_from_nothing();
    integer_quotients();
    the_smallest_budgets();
    return 0;
}
