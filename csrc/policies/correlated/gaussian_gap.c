/*
 * A round of BayesGap (pybandit/policies/correlated/gaussian_gap.h). The maximum over the other
 * arms is the overall maximum or, for the arm that attains it, the second largest.
 *
 * Two passes over means and standard deviations, one block of arms at a time. The first keeps only
 * each block's largest bounds at three standard deviations: beta depends on all arms through H,
 * which changes with every reward. Once beta is known, those maxima tell which blocks may contain
 * the largest bounds.
 */
#include <math.h>

#include "pybandit/policies/correlated/gaussian_gap.h"
#include "pybandit/policies/protocol/scan.h"
#include "../../_shared/wide.h"

enum { BLOCK = 256, NUMBERS = 3 };

ALWAYS_INLINE double lane_of_most(const vector *v)
{
    return larger(larger(LANE(*v, 0), LANE(*v, 1)), larger(LANE(*v, 2), LANE(*v, 3)));
}

ALWAYS_INLINE int64_t blocks_of(int64_t n) { return (n + BLOCK - 1) / BLOCK; }

int64_t pb_gaussian_gap_size(int64_t n_arms)
{
    return NUMBERS * blocks_of(n_arms);
}

/* The arms of a round; per block, the maxima of mean + 3 std, mean - 3 std and std. */
typedef struct {
    int64_t n;
    const double *means, *deviations;  /* to be multiplied by scale */
    double scale, *uppers, *lowers, *widest;
} arms;

/* First arm and size of a block. */
typedef struct {
    int64_t first, size;
} part;

ALWAYS_INLINE part part_of(const arms *all, int64_t block)
{
    const int64_t first = block * BLOCK;
    return (part){first, first + BLOCK < all->n ? BLOCK : all->n - first};
}

WIDE static void bounds_of(const arms *all, part here, double factor, double *restrict out)
{
    const double *means = all->means + here.first, *deviations = all->deviations + here.first;
    for (int64_t i = 0; i < here.size; i++)
        out[i] = means[i] + factor * (all->scale * deviations[i]);
}

/* Records a block's maxima of mean + 3 std, mean - 3 std and std. */
WIDE static void note_tops(arms *all, part here, int64_t block)
{
    const double *means = all->means + here.first, *deviations = all->deviations + here.first;
    vector upper = ALL(-INFINITY), lower = upper, widest = ALL(0.0);
    int64_t i = 0;
    for (; i + LANES <= here.size; i += LANES) {
        const vector mean = LOAD(means + i);
        VECTOR(std, all->scale * LOAD(deviations + i) L);
        VECTOR(wide, 3.0 * std L);
        EACH upper L = LARGER(upper L, mean L + wide L);
        EACH lower L = LARGER(lower L, mean L - wide L);
        EACH widest L = LARGER(widest L, std L);
    }
    for (; i < here.size; i++) {
        const double std = all->scale * deviations[i], wide = 3.0 * std;
        LANE(upper, 0) = larger(LANE(upper, 0), means[i] + wide);
        LANE(lower, 0) = larger(LANE(lower, 0), means[i] - wide);
        LANE(widest, 0) = larger(LANE(widest, 0), std);
    }
    all->uppers[block] = lane_of_most(&upper);
    all->lowers[block] = lane_of_most(&lower);
    all->widest[block] = lane_of_most(&widest);
}

/* The two largest values so far, ties to the lowest index. */
typedef struct {
    pb_two values;
    int64_t first, second;
} ranking;

static void rank_one(ranking *top, double value, int64_t arm)
{
    if (value > top->values.first || (value == top->values.first && arm < top->first)) {
        top->values.second = top->values.first;
        top->second = top->first;
        top->values.first = value;
        top->first = arm;
    } else if (value > top->values.second
               || (value == top->values.second && arm < top->second)) {
        top->values.second = value;
        top->second = arm;
    }
}

static void rank_part(ranking *top, const double *values, part here)
{
    const pb_two two = pb_scan_two(values, here.size);
    if (!(two.first >= top->values.second))
        return;
    const int64_t first = pb_scan_position(values, here.size, two.first, -1);
    rank_one(top, two.first, here.first + first);
    if (here.size > 1)
        rank_one(top, two.second, here.first
                 + pb_scan_position(values, here.size, two.second, first));
}

/* Returns an upper bound of mean + factor std over a block's arms, including rounding errors. */
static double block_bound(const arms *all, int64_t block, double factor)
{
    const double width = all->widest[block], upper = all->uppers[block];
    const double lower = all->lowers[block];
    const double bound = factor > 0.0 ? upper + larger(0.0, factor - 3.0) * width
                                      : lower + larger(0.0, factor + 3.0) * width;
    return bound + 1e-14 * (fabs(upper) + fabs(lower) + (fabs(factor) + 6.0) * width);
}

/* Finds the two arms of largest mean + factor std; searches the block of `likely` first. */
static ranking highest(const arms *all, double factor, int64_t likely)
{
    double values[BLOCK];
    ranking top = {{-INFINITY, -INFINITY}, 0, 1};
    const int64_t begin = likely / BLOCK;
    for (int64_t i = -1; i < blocks_of(all->n); i++) {
        const int64_t block = i < 0 ? begin : i;
        if (i == begin || block_bound(all, block, factor) < top.values.second)
            continue;
        const part here = part_of(all, block);
        bounds_of(all, here, factor, values);
        rank_part(&top, values, here);
    }
    return top;
}

/* Returns an arm of the block with the largest entry. */
static int64_t arm_of(const double *tops, int64_t n_blocks)
{
    return BLOCK * pb_scan_position(tops, n_blocks, pb_scan_largest(tops, n_blocks), -1);
}

ALWAYS_INLINE double term(double over, double under, double epsilon)
{
    const double gap = larger(epsilon, 0.5 * (larger(over, under) + epsilon));
    return 1.0 / (gap * gap);
}

WIDE static void gap_terms(const arms *all, part here, double high, double low, double epsilon,
                           double *restrict out)
{
    const double *means = all->means + here.first, *deviations = all->deviations + here.first;
    for (int64_t i = 0; i < here.size; i++) {
        const double wide = 3.0 * (all->scale * deviations[i]);
        out[i] = term(high - (means[i] - wide), means[i] + wide - low, epsilon);
    }
}

/* Returns H for the largest gaps that mean +- 3 std allows. */
static double complexity(const arms *all, const ranking *high, const ranking *low,
                         double epsilon)
{
    double terms[BLOCK], sum = 0.0;
    for (int64_t block = 0; block < blocks_of(all->n); block++) {
        const part here = part_of(all, block);
        gap_terms(all, here, high->values.first, low->values.first, epsilon, terms);
        for (int pass = 0; pass < 2; pass++) {
            const int64_t k = pass ? low->first : high->first;
            const double wide = 3.0 * (all->scale * all->deviations[k]);
            if (k / BLOCK != block)
                continue;
            terms[k - here.first] = term(
                (k == high->first ? high->values.second : high->values.first)
                    - (all->means[k] - wide),
                all->means[k] + wide
                    - (k == low->first ? low->values.second : low->values.first), epsilon);
        }
        sum += pb_scan_sum(terms, here.size);
    }
    return sum;
}

/* Finds the least B and the first arm that attains it, given the largest upper bounds. */
static void least_gap(const arms *all, const ranking *top, int64_t likely,
                      pb_gaussian_gap *round)
{
    double values[BLOCK];
    const int64_t begin = likely / BLOCK;
    round->bound = INFINITY;
    round->best = 0;
    for (int64_t i = -1; i < blocks_of(all->n); i++) {
        const int64_t block = i < 0 ? begin : i;
        const int is_own = top->first / BLOCK == block;
        const double bound = top->values.first - block_bound(all, block, -round->beta);
        if (i == begin || (!is_own && bound > round->bound))
            continue;
        const part here = part_of(all, block);
        bounds_of(all, here, -round->beta, values);
        for (int64_t k = 0; k < here.size; k++)
            values[k] = (is_own && here.first + k == top->first ? top->values.second
                                                                : top->values.first) - values[k];
        const double least = pb_scan_least(values, here.size);
        const int64_t arm = here.first + pb_scan_position(values, here.size, least, -1);
        if (least < round->bound || (least == round->bound && arm < round->best)) {
            round->bound = least;
            round->best = arm;
        }
    }
}

pb_gaussian_gap pb_gaussian_gap_round(const double *means, const double *deviations, int64_t n,
                                      double numerator, double epsilon, double scale,
                                      double *memory)
{
    const int64_t n_blocks = blocks_of(n);
    arms all = {n, means, deviations, scale, memory, memory + n_blocks, memory + 2 * n_blocks};
    pb_gaussian_gap round;
    for (int64_t block = 0; block < n_blocks; block++)
        note_tops(&all, part_of(&all, block), block);
    const ranking high = highest(&all, 3.0, arm_of(all.uppers, n_blocks));
    const ranking low = highest(&all, -3.0, arm_of(all.lowers, n_blocks));
    /* keeps beta finite if H is tiny */
    round.beta = fmin(1e150, sqrt(numerator / (4.0 * complexity(&all, &high, &low, epsilon))));
    const ranking top = highest(&all, round.beta, high.first);
    least_gap(&all, &top, low.first, &round);
    round.rival = round.best == top.first ? top.second : top.first;
    const double best = deviations[round.best], rival = deviations[round.rival];
    const int rival_wins = rival > best || (rival == best && round.rival < round.best);
    round.chosen = rival_wins ? round.rival : round.best;
    return round;
}
