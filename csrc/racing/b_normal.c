/*
 * First-passage probabilities of a Gauss-Markov chain by quadrature.
 *
 * f_t(z), the density of z_t on paths that have not crossed yet, satisfies
 * f_t(z') = int f_{t-1}(z) N(z'; rho z, 1 - rho^2) dz over the corridor below B.
 * It is smooth there, so Gauss-Legendre quadrature has spectral accuracy. E(B) is the
 * sum over looks of int f_{t-1}(z) P(z_t > B | z) dz, which has only positive terms. The
 * two-sided corridor is symmetric, so its upper half suffices. The kernel's exponentials
 * are not cached from one B to the next: that needs nodes^2 memory per look, for a
 * solve that takes less than a millisecond.
 */
#include "pybandit/racing/b_normal.h"

#include <math.h>

#include "pybandit/_shared/bounds.h"

/* Lower end of the grid: P(z < -DEPTH) = 1e-11; paths from below add less than 1e-11 of E. */
static const double DEPTH = 6.7;
/* terms below exp(-40) times the density at B do not change the last digit */
static const double NEGLIGIBLE = 40.0;
/* The number of nodes is constant for B up to NEAR and grows up to FAR, where P(z > B) = 0. */
static const double NEAR = 4.0, FAR = 39.0;

typedef struct {
    int64_t n;
    double *points, *weights;   /* Gauss-Legendre on [0, 1] */
    double *z, *density, *next;
} grid;

static double odds(double fraction) { return fraction / (1.0 - fraction); }

static double correlation(const double *fractions, int64_t t)
{
    return sqrt(odds(fractions[t - 1]) / odds(fractions[t]));
}

/*
 * Returns the number of nodes; their spacing follows the narrowest step of the chain. These
 * counts keep the error of B below 1e-10 for delta down to 1e-300. The mirrored corridor is
 * half as wide.
 */
static int64_t n_nodes(const double *fractions, int64_t n_looks, int mirrored, double boundary)
{
    double narrowest = 1.0;
    for (int64_t t = 1; t < n_looks; t++) {
        const double rho = correlation(fractions, t);
        narrowest = fmin(narrowest, sqrt(1.0 - rho * rho));
    }
    const double lowest = mirrored ? 0.0 : -DEPTH;
    const double wider = fmax(1.0, (fmin(boundary, FAR) - lowest) / (NEAR - lowest));
    return mirrored ? 6 + (int64_t)(7.0 * wider / narrowest)
                    : 8 + (int64_t)(15.0 * wider / narrowest);
}

int64_t pb_b_normal_memory(const double *fractions, int64_t n_looks)
{
    const int64_t n = n_nodes(fractions, n_looks, 0, FAR);
    const int64_t n_mirrored = n_nodes(fractions, n_looks, 1, FAR);
    return 5 * (n > n_mirrored ? n : n_mirrored);
}

/* Computes nodes on [0, 1] by Newton's method on the polynomial P_n from Tricomi's guess. */
static void gauss_legendre(int64_t n, double *points, double *weights)
{
    const double pi = 3.14159265358979323846;
    for (int64_t i = 0; i < (n + 1) / 2; i++) {
        double x = cos(pi * ((double)i + 0.75) / ((double)n + 0.5)), slope = 1.0;
        for (int step = 0; step < 10; step++) {
            double below = 1.0, value = x;
            for (int64_t k = 2; k <= n; k++) {
                const double above = (double)(2 * k - 1) / (double)k * x * value -
                                     (double)(k - 1) / (double)k * below;
                below = value;
                value = above;
            }
            slope = (double)n * (x * value - below) / (x * x - 1.0);
            const double change = value / slope;
            x -= change;
            if (fabs(change) < 1e-15)
                break;
        }
        points[i] = 0.5 * (1.0 - x);
        points[n - 1 - i] = 0.5 * (1.0 + x);
        weights[i] = weights[n - 1 - i] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
}

static void grid_init(grid *g, int64_t n, double *workspace)
{
    g->n = n;
    g->points = workspace;
    g->weights = workspace + g->n;
    g->z = workspace + 2 * g->n;
    g->density = workspace + 3 * g->n;
    g->next = workspace + 4 * g->n;
    gauss_legendre(g->n, g->points, g->weights);
}

static double gaussian(double x, double negligible)
{
    const double exponent = 0.5 * x * x;
    return exponent > negligible ? 0.0 : exp(-exponent);
}

/* Advances the density of uncrossed paths by one look; `density` is f times the weights. */
static void advance(grid *g, double rho, double width, double boundary, int mirrored)
{
    const double negligible = NEGLIGIBLE + 0.5 * boundary * boundary;
    const double unit = 1.0 / sqrt(1.0 - rho * rho), drift = rho * unit;
    const double scale = width * 0.39894228040143267794 * unit;
    for (int64_t j = 0; j < g->n; j++) {
        double total = 0.0;
        for (int64_t i = 0; i < g->n; i++) {
            double kernel = gaussian(unit * g->z[j] - drift * g->z[i], negligible);
            if (mirrored)
                kernel += gaussian(unit * g->z[j] + drift * g->z[i], negligible);
            total += g->density[i] * kernel;
        }
        g->next[j] = total * scale * g->weights[j];
    }
    double *swapped = g->density;
    g->density = g->next;
    g->next = swapped;
}

/* Returns P(z_t > B, no crossing before t). */
static double crossing(const grid *g, double boundary, double rho, int mirrored)
{
    const double sd = sqrt(1.0 - rho * rho);
    double mass = 0.0;
    for (int64_t i = 0; i < g->n; i++) {
        double tail = pb_bounds_normal_tail((boundary - rho * g->z[i]) / sd);
        if (mirrored)
            tail += pb_bounds_normal_tail((boundary + rho * g->z[i]) / sd);
        mass += g->density[i] * tail;
    }
    return mass;
}

static double error_on_grid(grid *g, double boundary, const double *fractions,
                            int64_t n_looks, int mirrored)
{
    const double lowest = mirrored ? 0.0 : -DEPTH;
    const double width = boundary - lowest;
    double error = pb_bounds_normal_tail(boundary);
    for (int64_t i = 0; i < g->n; i++) {
        g->z[i] = lowest + width * g->points[i];
        g->density[i] = width * g->weights[i] * 0.39894228040143267794 *
                        exp(-0.5 * g->z[i] * g->z[i]);
    }
    for (int64_t t = 1; t < n_looks; t++) {
        const double rho = correlation(fractions, t);
        error += crossing(g, boundary, rho, mirrored);
        if (t + 1 < n_looks)
            advance(g, rho, width, boundary, mirrored);
    }
    return error;
}

double pb_b_normal_error(double boundary, const double *fractions, int64_t n_looks,
                         pb_convention convention, double *workspace)
{
    if (convention == PB_UNION)
        return (double)n_looks * pb_bounds_normal_tail(boundary);
    const int mirrored = convention == PB_TWO_SIDED;
    grid g;
    grid_init(&g, n_nodes(fractions, n_looks, mirrored, boundary), workspace);
    return error_on_grid(&g, boundary, fractions, n_looks, mirrored);
}

/*
 * Solves log(E / delta) = 0, which is nearly linear in B, by the secant method inside
 * [low, high]. The first slope is that of a single look. Stops if a step is below tolerance.
 */
static double secant(grid *g, double start, double tolerance, double delta,
                     const double *fractions, int64_t n_looks, int mirrored,
                     double low, double high)
{
    double b = start, previous = 0.0, value_previous = 0.0;
    for (int step = 0; step < 60; step++) {
        const double value = log(error_on_grid(g, b, fractions, n_looks, mirrored) / delta);
        const double slope =
            step == 0 ? -0.39894228040143267794 * exp(-0.5 * b * b) / pb_bounds_normal_tail(b)
                      : (value - value_previous) / (b - previous);
        if (value > 0.0)
            low = b;
        else
            high = b;
        double next = b - value / slope;
        if (!(next >= low && next <= high))
            next = 0.5 * (low + high);
        if (fabs(next - b) <= tolerance)
            return next;
        previous = b;
        value_previous = value;
        b = next;
    }
    return b;
}

/* Half the nodes give B to 1e-3 at a quarter of the cost per evaluation; all then refine B. */
pb_status pb_b_normal_solve(double delta, const double *fractions, int64_t n_looks,
                            pb_convention convention, double *workspace, double *boundary)
{
    if (!(delta > 0.0 && delta < 0.5))
        return PB_NO_SOLUTION;
    /* E is at least the tail of one look, and at most n_looks tails by the union bound */
    const double low = pb_bounds_normal_tail_inverse(delta);
    const double high = pb_bounds_normal_tail_inverse(delta / (double)n_looks);
    if (convention == PB_UNION || n_looks == 1) {
        *boundary = high;
        return PB_OK;
    }
    const int mirrored = convention == PB_TWO_SIDED;
    const int64_t n = n_nodes(fractions, n_looks, mirrored, high);
    grid g;
    grid_init(&g, n / 2, workspace);
    const double start = secant(&g, 0.5 * (low + high), 1e-3, delta, fractions, n_looks,
                                mirrored, low, high);
    grid_init(&g, n, workspace);
    *boundary =
        secant(&g, start, 1e-10, delta, fractions, n_looks, mirrored, low, high);
    return PB_OK;
}
