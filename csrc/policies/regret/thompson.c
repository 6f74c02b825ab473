/*
 * Thompson sampling without most of its draws (pybandit/policies/regret/thompson.h).
 *
 * Theta k is above a threshold with probability p_k, independently. For a uniform u, the products
 * (1 - p_1) (1 - p_2) ... first fall below u at the first arm above the threshold; products
 * of whole blocks skip most arms. Continuing from the next arm finds all others. If one arm is
 * above, it is the argmax and no theta is drawn. If several are, their thetas are drawn
 * conditionally on being above. If none is, all thetas are drawn conditionally on being below.
 * The threshold may be any function of the past; a good one makes the last two cases rare.
 *
 * A reward changes p and the density of its own arm only, by a recursion.
 *
 * With few Gaussian arms all thetas are drawn: that takes less time than the tails of a normal
 * distribution. Then no arm is ever above the threshold.
 */
#include "pybandit/policies/regret/thompson.h"

#include <math.h>

#include "pybandit/_shared/bounds.h"
#include "pybandit/policies/regret/thompson_threshold.h"
#include "../../_shared/wide.h"
#include "thompson_law.h"

enum {
    BLOCK = 16,
    REFRESH_COST = 6,    /* cost of a placement in draws per arm */
    OLDEST = 1 << 15     /* rewards between placements: limits the recursion's error to ~1e-12 */
};

static const double LEAST = 1e-18;      /* minimum of P(below), so that no block product is 0 */
static const double VANISHED = 1e-250;  /* densities and products below this are imprecise */

static int64_t n_blocks(int64_t n_arms)
{
    return (n_arms + BLOCK - 1) / BLOCK;
}

/* `chances`: P(below) per arm, padded with ones to whole blocks; block products; total product. */
int64_t pb_thompson_chances(int64_t n_arms)
{
    return (BLOCK + 1) * n_blocks(n_arms) + 1;
}

static double *blocks_of(const pb_thompson *thompson)
{
    return thompson->chances + BLOCK * n_blocks(thompson->n_arms);
}

/* The total product; set to 0 once it is too small, until the next placement. */
static double *total_of(const pb_thompson *thompson)
{
    return thompson->chances + pb_thompson_chances(thompson->n_arms) - 1;
}

/* Sets mean and standard deviation of an arm's theta. */
static void set_direct(const pb_thompson *thompson, const pb_thompson_arm *arm)
{
    double *const mean = thompson->direct + (arm - thompson->arms);
    const int has = has_theta(thompson, arm);
    mean[0] = has ? arm->gained / arm->lost : -INFINITY;
    mean[thompson->n_arms] = has ? thompson->alpha / sqrt(arm->lost) : 0.0;
}

static void evaluate(const pb_thompson *thompson, pb_thompson_arm *arm)
{
    const pb_logit *const threshold = &thompson->threshold;
    arm->density = 0.0;
    if (thompson->direct)
        set_direct(thompson, arm);
    if (thompson->direct || !has_theta(thompson, arm)) {
        arm->below = 1.0;
    } else if (is_gaussian(thompson)) {
        const double z = (arm->gained / arm->lost - threshold->at) * sqrt(arm->lost);
        arm->below = pb_bounds_normal_tail(z / thompson->alpha);
    } else {
        const double a = a_of(thompson, arm), b = b_of(thompson, arm);
        arm->density = pb_logit_beta_density(a, b, threshold);
        arm->below = pb_logit_beta_below(a, b, threshold, arm->density);
    }
}

static double chance_of(const pb_thompson_arm *arm)
{
    return arm->below > LEAST ? (arm->below < 1.0 ? arm->below : 1.0) : LEAST;
}

static void multiply_total(const pb_thompson *thompson, double factor)
{
    const double total = *total_of(thompson) * factor;
    *total_of(thompson) = total > VANISHED ? total : 0.0;
}

static void set_chances(pb_thompson *thompson)
{
    double *const chances = thompson->chances, *const blocks = blocks_of(thompson);
    for (int64_t i = 0; i < pb_thompson_chances(thompson->n_arms); i++)
        chances[i] = 1.0;
    for (int64_t k = 0; k < thompson->n_arms; k++)
        blocks[k / BLOCK] *= chances[k] = chance_of(&thompson->arms[k]);
    for (int64_t block = 0; block < n_blocks(thompson->n_arms); block++)
        multiply_total(thompson, blocks[block]);
}

static int near(double value, double expected)
{
    return fabs(value - expected) <= 1e-6 * fmax(expected, 1e-12);
}

static int chances_fit(const pb_thompson *thompson)
{
    double total = 1.0;
    for (int64_t block = 0; block < n_blocks(thompson->n_arms); block++) {
        double product = 1.0;
        for (int64_t k = BLOCK * block; k < BLOCK * (block + 1); k++) {
            const double chance = k < thompson->n_arms ? chance_of(&thompson->arms[k]) : 1.0;
            if (!near(thompson->chances[k], chance))
                return 0;
            product *= chance;
        }
        if (!(fabs(blocks_of(thompson)[block] / product - 1.0) <= 1e-6))
            return 0;
        total *= product;
    }
    return *total_of(thompson) == 0.0 || fabs(*total_of(thompson) / total - 1.0) <= 1e-6;
}

int pb_thompson_resume(pb_thompson *thompson, double threshold)
{
    if (thompson->direct && threshold != 0.0)
        return 0;
    thompson->threshold = pb_logit_at(threshold);
    for (int64_t k = 0; k < thompson->n_arms; k++) {
        pb_thompson_arm *const arm = &thompson->arms[k], found = *arm;
        evaluate(thompson, arm);
        const int is_same = fabs(found.below - arm->below) <= 1e-6 &&
                            near(found.density, arm->density);
        *arm = found;
        if (!is_same)
            return 0;
    }
    return chances_fit(thompson);
}

/*
 * I_x(a + 1, b) = I_x(a, b) - d / a and I_x(a, b + 1) = I_x(a, b) + d / b, where
 * d = x^a y^b / B(a, b) is the density of the logit.
 */
static void shift(const pb_thompson *thompson, pb_thompson_arm *arm, int success)
{
    const double a = a_of(thompson, arm), b = b_of(thompson, arm);
    if (success) {
        arm->below -= arm->density / a;
        arm->density *= thompson->threshold.x * (a + b) / a;
    } else {
        arm->below += arm->density / b;
        arm->density *= thompson->threshold.y * (a + b) / b;
    }
}

/* Updates P(below) of an arm, its block's product and the total. */
static void change_chance(pb_thompson *thompson, int64_t k)
{
    const double chance = chance_of(&thompson->arms[k]), change = chance / thompson->chances[k];
    thompson->chances[k] = chance;
    blocks_of(thompson)[k / BLOCK] *= change;
    multiply_total(thompson, change);
}

void pb_thompson_look(pb_thompson *thompson, int64_t k)
{
    evaluate(thompson, &thompson->arms[k]);
    change_chance(thompson, k);
}

void pb_thompson_add(pb_thompson *thompson, int64_t k, double gained, double lost)
{
    pb_thompson_arm *const arm = &thompson->arms[k];
    const int whole = !is_gaussian(thompson) && (gained == 1.0 ? lost == 0.0
                                                               : gained == 0.0 && lost == 1.0);
    if (whole && arm->density > VANISHED)
        shift(thompson, arm, gained == 1.0);
    arm->gained += gained;
    arm->lost += lost;
    if (thompson->direct) {
        set_direct(thompson, arm);
        return;
    }
    if (!whole || arm->density <= VANISHED)
        evaluate(thompson, arm);
    change_chance(thompson, k);
    thompson->age++;
}

void pb_thompson_place(pb_thompson *thompson, double threshold)
{
    thompson->threshold = pb_logit_at(threshold);
    for (int64_t k = 0; k < thompson->n_arms; k++)
        evaluate(thompson, &thompson->arms[k]);
    set_chances(thompson);
    thompson->all_spent += thompson->spent;
    thompson->spent = 0.0;
    thompson->age = 0;
    /* the cost of a placement, plus a part of all draws so far so that placements get rarer */
    thompson->limit = REFRESH_COST * (double)(thompson->n_arms + 1) + thompson->all_spent / 8.0;
}

void pb_thompson_begin(pb_thompson *thompson)
{
    for (int64_t k = 0; k < thompson->n_arms; k++)
        thompson->arms[k] = (pb_thompson_arm){0.0, 0.0, 1.0, 0.0};
    pb_thompson_place(thompson, 0.0);
    thompson->spent = thompson->all_spent = thompson->limit = 0.0;
    thompson->age = 0;
}

static double normal(pb_bitgen *bitgen)
{
    for (;;) {
        const double u = 2.0 * pb_bitgen_open(bitgen) - 1.0;
        const double v = 2.0 * pb_bitgen_open(bitgen) - 1.0;
        const double square = u * u + v * v;
        if (square < 1.0)
            return u * sqrt(-2.0 * log(square) / square);
    }
}

/* Draws a standard normal above z: by rejection or, far out, from a thinned exponential. */
static double normal_above(double z, pb_bitgen *bitgen)
{
    for (;;) {
        const double step = z > 0.37 ? -log(pb_bitgen_open(bitgen)) / z : normal(bitgen) - z;
        if (z > 0.37 ? log(pb_bitgen_open(bitgen)) <= -0.5 * step * step : !(step <= 0.0))
            return z + step;
    }
}

/* Draws theta, or its logit, conditionally on being above the threshold or not above it. */
static double draw(pb_thompson *thompson, int64_t k, int above, pb_bitgen *bitgen)
{
    const pb_thompson_arm *const arm = &thompson->arms[k];
    thompson->spent += 1.0;
    if (!is_gaussian(thompson))
        return pb_logit_beta_draw_beyond(a_of(thompson, arm), b_of(thompson, arm),
                                         &thompson->threshold, arm->density, above, bitgen);
    const double deviation = thompson->alpha / sqrt(arm->lost), sign = above ? 1.0 : -1.0;
    const double mean = arm->gained / arm->lost;
    const double z = sign * (thompson->threshold.at - mean) / deviation;
    return mean + sign * deviation * normal_above(z, bitgen);
}

static int64_t largest_below(pb_thompson *thompson, pb_bitgen *bitgen)
{
    int64_t best = -1;
    double largest = -INFINITY;
    for (int64_t k = 0; k < thompson->n_arms; k++) {
        if (!has_theta(thompson, &thompson->arms[k]))
            continue;
        const double theta = draw(thompson, k, 0, bitgen);
        if (best < 0 || theta > largest) {
            largest = theta;
            best = k;
        }
    }
    return best;
}

/*
 * Returns the first arm from k on that is above the threshold, n_arms if there is none.
 * *passed becomes the product of all chances up to that arm.
 */
static int64_t next_above(const pb_thompson *thompson, int64_t k, double *passed, double u)
{
    const int64_t n = thompson->n_arms;
    const double *const chances = thompson->chances, *const blocks = blocks_of(thompson);
    const double total = *total_of(thompson);
    /* usually the rest can be skipped; if total is above 0, so is *passed */
    if (total > 0.0 && u * *passed <= total * (1.0 - 1e-9))
        return n;
    double product = 1.0, next;
    while (k < n) {
        if (k % BLOCK == 0 && (next = product * blocks[k / BLOCK]) >= u) {
            product = next;
            k += BLOCK;
        } else if ((next = product * chances[k]) >= u) {
            product = next;
            k++;
        } else {
            *passed *= next;
            return k;
        }
    }
    return n;
}

int64_t pb_thompson_choose(pb_thompson *thompson, pb_bitgen *bitgen)
{
    if (thompson->spent >= thompson->limit || thompson->age >= OLDEST)
        pb_thompson_threshold_refresh(thompson);
    const int64_t n = thompson->n_arms;
    double passed = 1.0, largest = NAN;
    const int64_t first = next_above(thompson, 0, &passed, pb_bitgen_open(bitgen));
    if (first >= n)
        return largest_below(thompson, bitgen);
    int64_t best = first, k = first;
    while ((k = next_above(thompson, k + 1, &passed, pb_bitgen_open(bitgen))) < n) {
        if (isnan(largest))
            largest = draw(thompson, first, 1, bitgen);
        const double theta = draw(thompson, k, 1, bitgen);
        if (theta > largest) {
            largest = theta;
            best = k;
        }
    }
    return best;
}

int64_t pb_thompson_choose_drawn(const pb_thompson *thompson, const double *normals)
{
    const int64_t n = thompson->n_arms;
    const double *const means = thompson->direct, *const deviations = means + n;
    double largest = -INFINITY;
    int64_t best = -1;
    UNROLL_8
    for (int64_t k = 0; k < n; k++) {
        const double theta = means[k] + deviations[k] * normals[k];
        best = UNPREDICTABLE(theta > largest) ? k : best;
        largest = larger(largest, theta);
    }
    return best;
}
