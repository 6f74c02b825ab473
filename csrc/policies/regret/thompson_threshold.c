/*
 * Placement of the threshold of Thompson sampling (pybandit/policies/regret/thompson_threshold.h).
 *
 * If it is too low, many arms are above it, and each is drawn. If it is too high, often none is,
 * and all are drawn. A bisection with a normal approximation of the posteriors finds a good
 * threshold in O(n_arms) per step; Newton's method on the posteriors themselves corrects it.
 */
#include "pybandit/policies/regret/thompson_threshold.h"

#include <math.h>

#include "thompson_law.h"

/* For a threshold: the expected number of arms above it, and -log P(none is above). */
typedef struct {
    double above, rate;
} burden;

/*
 * Returns a positive number if a threshold is too high. One choice in exp(rate) draws all thetas,
 * and each arm above the threshold but one is drawn. At the cheapest threshold the cost of the
 * former is about that of the latter, limited to one draw.
 */
static double balance(const pb_thompson *thompson, burden found)
{
    const double several = found.above - 1.0 + exp(-found.rate);
    return log((double)thompson->n_arms) - found.rate - log(fmin(fmax(several, 1e-12), 1.0));
}

/* Approximates posteriors as normal, and their tails as 1 / (1 + exp(1.5976 z + 0.07056 z^3)). */
static burden guess(const pb_thompson *thompson, double threshold)
{
    burden found = {0.0, 0.0};
    for (int64_t k = 0; k < thompson->n_arms; k++) {
        const pb_thompson_arm *const arm = &thompson->arms[k];
        const double z = (threshold - arm->below) * arm->density;
        if (z > 6.0)
            continue;
        const double odds = exp(-(1.5976 + 0.07056 * z * z) * fmax(z, -6.0));
        const double above = odds / (1.0 + odds);
        found.above += above;
        found.rate += above < 1e-4 ? above : log1p(odds);
    }
    return found;
}

static burden measured(const pb_thompson *thompson)
{
    burden found = {0.0, 0.0};
    for (int64_t k = 0; k < thompson->n_arms; k++) {
        found.above += 1.0 - thompson->arms[k].below;
        found.rate -= log(thompson->chances[k]);
    }
    return found;
}

/* Stores centres and 1 / standard deviations of the posteriors in `below` and `density`. */
static void place_by_guess(pb_thompson *thompson)
{
    double low = -INFINITY, high = -INFINITY, sharpest = 0.0;
    for (int64_t k = 0; k < thompson->n_arms; k++) {
        pb_thompson_arm *const arm = &thompson->arms[k];
        double centre = -INFINITY, variance = 1.0;
        if (!has_theta(thompson, arm)) {
            centre = -INFINITY;
        } else if (!is_gaussian(thompson)) {
            pb_logit_beta_moments(a_of(thompson, arm), b_of(thompson, arm), &centre, &variance);
        } else {
            centre = arm->gained / arm->lost;
            variance = thompson->alpha * thompson->alpha / arm->lost;
        }
        arm->below = centre;
        arm->density = 1.0 / sqrt(variance);
        sharpest = fmax(sharpest, arm->density);
        low = fmax(low, centre - 6.0 / arm->density);
        high = fmax(high, centre + 6.0 / arm->density);
    }
    for (int step = 0; step < 50 && (high - low) * sharpest > 0.1; step++) {
        const double middle = low + 0.5 * (high - low);
        if (balance(thompson, guess(thompson, middle)) > 0.0)
            high = middle;
        else
            low = middle;
    }
    pb_thompson_place(thompson, low + 0.5 * (high - low));
}

/* Returns Newton's step for the balance; densities are the derivatives of P(above). */
static double correction(const pb_thompson *thompson, burden found)
{
    double density = 0.0, hazard = 0.0;
    for (int64_t k = 0; k < thompson->n_arms; k++) {
        density += thompson->arms[k].density;
        hazard += thompson->arms[k].density / thompson->chances[k];
    }
    const double none = exp(-found.rate), several = found.above - 1.0 + none;
    const double slope =
        several > 1e-12 && several < 1.0 ? (density - none * hazard) / several : 0.0;
    return -balance(thompson, found) / (hazard + fmax(slope, 0.0));
}

void pb_thompson_threshold_refresh(pb_thompson *thompson)
{
    place_by_guess(thompson);
    /* with few rewards or few successes the logit is far from normal */
    for (int step = 0; step < 3 && !is_gaussian(thompson); step++) {
        const burden found = measured(thompson);
        const double move = correction(thompson, found);
        if (fabs(balance(thompson, found)) < 1.5 || !(fabs(move) < 1e3))
            break;
        pb_thompson_place(thompson, thompson->threshold.at + move);
    }
}
