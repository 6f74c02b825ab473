/*
 * BatchSAR, O(1) per stage. Means change only between batches, so the survivors are ranked
 * once after a batch, and the stages that need no new pulls remove arms from the two
 * ends of the ranking. The boundary between the k best and the rest does not move,
 * because every arm removed above it is accepted.
 */
#include "pybandit/policies/batch/batch_sar.h"

#include <math.h>
#include <string.h>

static int64_t ceiling_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Rounds up, but treats values within rounding error of an integer as that integer. */
static int64_t round_up(double x)
{
    const double nearest = round(x), slack = 1e-9 * (fabs(x) > 1.0 ? fabs(x) : 1.0);
    return (int64_t)(fabs(x - nearest) <= slack ? nearest : ceil(x));
}

static int64_t last_size(int64_t n, int64_t size, int64_t repeats)
{
    const int64_t needed = ceiling_of(size, repeats);
    return least(n, needed > 2 ? needed : 2);
}

int64_t pb_batch_sar_least(int64_t n, int64_t size, int64_t repeats)
{
    const int64_t n_tilde = last_size(n, size, repeats);
    int64_t pulls = size + n_tilde * least(repeats, ceiling_of(size, 2)) + n;
    for (int64_t i = n_tilde + 1; i <= n; i++)
        pulls += ceiling_of(size, i);
    return pulls / size + 1;
}

/* Returns m_s, the pulls that every survivor needs before this stage removes one. */
static int64_t stage_pulls(const pb_batch_sar *sar)
{
    const double half = 0.5 * (double)sar->n_tilde;
    const int64_t budget = sar->size * sar->max_batches;
    const int64_t last = sar->size + sar->n_tilde * sar->r_tilde;
    const int64_t stage_arms = sar->n_left > sar->n_tilde ? sar->n_left : 2;
    /* Eq. 10 uses the actual number of pulls; m_s assumes the worst case from the start */
    const int64_t among = sar->improved ? sar->n_left : sar->n;
    const int64_t used = sar->improved ? sar->removed_pulls : 0;
    const int64_t spare = budget - used - sar->ceilings[among] - (last + among);
    const int64_t pulls =
        round_up((double)spare / (half + sar->harmonic[among]) / (double)stage_arms);
    return pulls > 1 ? pulls : 1;  /* spare is positive, so at least one pull is affordable */
}

static int has_pulls(const pb_batch_sar *sar)
{
    if (sar->n_left <= sar->n_tilde && sar->improved)
        return sar->n_batches >= sar->max_batches;
    return sar->ring.rounds + (sar->n_behind == 0) >= stage_pulls(sar);
}

/* Returns the mean of all rewards. */
static double grand_mean(int64_t n, const int64_t *pulls, const double *sums)
{
    double sum = 0.0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += sums[i];
        count += pulls[i];
    }
    return count ? sum / (double)count : 0.0;
}

/* Ranks the survivors; an arm that lost all its pulls gets the mean of all rewards. */
static void rank(pb_batch_sar *sar, const int64_t *pulls, const double *sums)
{
    const int64_t n = sar->ring.n_arms;
    double grand = NAN;
    for (int64_t i = 0; i < n; i++) {
        const int64_t arm = sar->ring.arms[i];
        if (pulls[arm] == 0 && isnan(grand))
            grand = grand_mean(sar->n, pulls, sums);
        sar->means[arm] = pulls[arm] ? sums[arm] / (double)pulls[arm] : grand;
    }
    pb_ranking_sort(sar->ring.arms, n, sar->means, sar->ranked, sar->ranked + sar->n);
    sar->top = 0;
    sar->bottom = n;
    sar->is_ranked = 1;
}

static double mean_at(const pb_batch_sar *sar, int64_t rank)
{
    return sar->means[sar->ranked[rank].arm];
}

static int accepts_top(const pb_batch_sar *sar)
{
    const int64_t boundary = sar->top + sar->n_open;
    const double above = mean_at(sar, sar->top) - mean_at(sar, boundary);
    const double below = mean_at(sar, boundary - 1) - mean_at(sar, sar->bottom - 1);
    if (above == below)
        return sar->lower_index &&
               sar->ranked[sar->top].arm < sar->ranked[sar->bottom - 1].arm;
    return above > below;
}

static void remove_one(pb_batch_sar *sar)
{
    const int accepts = accepts_top(sar);
    const int64_t arm =
        sar->ranked[accepts ? sar->top++ : --sar->bottom].arm;
    if (accepts) {
        sar->accepted[arm] = 1;
        sar->n_open--;
    }
    sar->alive[arm] = 0;
    sar->n_left--;
    sar->n_behind -= arm >= sar->ring.arms[sar->ring.cursor];
    sar->removed_pulls += pb_round_robin_pulls(&sar->ring, arm);
}

/* Accepts the best remaining arms until k are accepted. */
static void finish(pb_batch_sar *sar)
{
    if (sar->n_open == sar->n_left) {
        for (int64_t i = 0; i < sar->ring.n_arms; i++)
            sar->accepted[sar->ring.arms[i]] |= sar->alive[sar->ring.arms[i]];
    } else {
        for (int64_t i = 0; i < sar->n_open; i++)
            sar->accepted[sar->ranked[sar->top + i].arm] = 1;
    }
    sar->done = 1;
}

/* Runs the stages that need no more pulls. */
static void run_stages(pb_batch_sar *sar, const int64_t *pulls, const double *sums)
{
    while (!sar->done) {
        if (sar->n_open == 0 || sar->n_open == sar->n_left) {
            finish(sar);
        } else if (!has_pulls(sar)) {
            break;
        } else {
            if (!sar->is_ranked)
                rank(sar, pulls, sums);
            if (sar->n_left > sar->n_tilde)
                remove_one(sar);
            else
                finish(sar);
        }
    }
    if (sar->is_ranked && !sar->done)
        pb_round_robin_keep(&sar->ring, sar->alive);
}

void pb_batch_sar_begin(pb_batch_sar *sar)
{
    const int64_t n = sar->n;
    sar->n_tilde = last_size(n, sar->size, sar->repeats);
    sar->r_tilde = least(sar->repeats, ceiling_of(sar->size, 2));
    for (int64_t i = 0; i <= sar->n_tilde; i++) {
        sar->harmonic[i] = 0.0;
        sar->ceilings[i] = 0;
    }
    for (int64_t i = sar->n_tilde + 1; i <= n; i++) {
        sar->harmonic[i] = sar->harmonic[i - 1] + 1.0 / (double)i;
        sar->ceilings[i] = sar->ceilings[i - 1] + ceiling_of(sar->size, i);
    }
    memset(sar->alive, 1, (size_t)n);
    memset(sar->accepted, 0, (size_t)n);
    pb_round_robin_begin(&sar->ring, n);
    sar->n_left = sar->n_behind = n;
    sar->n_open = sar->k;
    sar->n_batches = sar->removed_pulls = sar->top = sar->bottom = 0;
    sar->is_ranked = sar->done = 0;
    /* runs no stage: none may end before the first reward, however small the budget */
    if (sar->n_open == 0 || sar->n_open == n)
        finish(sar);
}

pb_batch pb_batch_sar_next(const pb_batch_sar *sar)
{
    return pb_round_robin_next(&sar->ring, sar->size, sar->repeats);
}

void pb_batch_sar_advance(pb_batch_sar *sar, const int64_t *pulls, const double *sums)
{
    pb_round_robin_pulled(&sar->ring, pb_batch_sar_next(sar).n_pulls);
    sar->n_batches++;
    sar->n_behind = sar->ring.n_arms - sar->ring.cursor;
    sar->is_ranked = 0;
    run_stages(sar, pulls, sums);
}
