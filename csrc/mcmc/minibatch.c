/*
 * Exact tests on minibatches (pybandit/mcmc/minibatch.h).
 *
 * The bound. r = r_i is a function of D = x_i'(theta - mode) = w'z, w = L'x_i, and
 * r(0) = r'(0) = r''(0) = 0, |r'''| <= third. So |r'(D)| <= third D^2 / 2, and
 *   |r(D') - r(D)| <= |integral from D to D' of third s^2 / 2| = third / 6 |D'^3 - D^3|
 *                  <= third / 6 |w|^3 max over |v| = 1 of |(v'z')^3 - (v'z)^3| = c_i M.
 * The middle one costs three multiplications once D and D' are there: where the thinning's
 * uniform number is above it, the row cannot reject, and no exponential is taken.
 *
 * Where more than `most` rows are expected, all are read and the test is the common one.
 * The expectation is the same from z' to z, so both directions of a move take the same
 * test, each of which satisfies detailed balance.
 */
#include "pybandit/mcmc/minibatch.h"

#include <math.h>

enum { AHEAD = 16 };  /* rows that are on their way from memory together */

#define LINE 64
#define SLACK 1e-9    /* rounding of a bound, relative */

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

static double uniform(pb_bitgen *bitgen) { return bitgen->next_double(bitgen->state); }

static double square(const double *x, int64_t d)
{
    double sum = 0.0;
    for (int64_t i = 0; i < d; i++)
        sum += x[i] * x[i];
    return sum;
}

/*
 * With a = z' - z and m = (z + z') / 2, (v'z')^3 - (v'z)^3 = v'a (3 (v'm)^2 + (v'a)^2 / 4).
 * Only the plane of a and m counts; there, with tan t the slope of v against a,
 *   |a| g(t) / (1 + t^2)^(3/2), g = A + B t + C t^2, all at least 0: the largest is at t >= 0.
 * Its derivative has the sign of h(t) = B + (2C - 3A) t - 2B t^2 - C t^3, which is concave for
 * t >= 0, at least 0 at 0 and at most 0 at sqrt 2: Newton from there comes down to the root.
 */
double pb_minibatch_spread(const double *z, const double *next, int64_t d)
{
    double aa = 0.0, mm = 0.0, am = 0.0, t = 1.4142135623730951;
    for (int64_t i = 0; i < d; i++) {
        const double a = next[i] - z[i], m = 0.5 * (next[i] + z[i]);
        aa += a * a;
        mm += m * m;
        am += a * m;
    }
    if (!(aa > 0.0))
        return 0.0;
    const double along = fabs(am) / sqrt(aa), across = sqrt(fmax(0.0, mm - along * along));
    const double A = 3.0 * along * along + 0.25 * aa, B = 6.0 * along * across;
    const double C = 3.0 * across * across;
    for (int step = 0; step < 50; step++) {
        const double h = B + t * ((2.0 * C - 3.0 * A) - t * (2.0 * B + C * t));
        const double change = h / ((2.0 * C - 3.0 * A) - t * (4.0 * B + 3.0 * C * t));
        if (!(change > 1e-6))  /* the maximum is flat: its value is good to 1e-12 */
            break;
        t -= change;
    }
    const double tall = 1.0 + t * t;
    return sqrt(aa) * (A + t * (B + t * C)) / (3.0 * tall * sqrt(tall));
}

void pb_chain_place(pb_chain *chain)
{
    pb_move_multiply(chain->problem->factor, chain->z, chain->problem->glm.n_parameters,
                     chain->point);
}

/* The change of the quadratic part; `norm` gets the larger one of |z|^2 and |z'|^2. */
static double quadratic(const pb_chain *chain, double *norm)
{
    const int64_t d = chain->problem->glm.n_parameters;
    const double before = square(chain->z, d), after = square(chain->next_z, d);
    double linear = 0.0;
    for (int64_t i = 0; i < d; i++)
        linear += chain->problem->slope[i] * (chain->next_z[i] - chain->z[i]);
    *norm = fmax(before, after);
    return linear - 0.5 * (after - before);
}

/* Where a row is now and would be, and how far apart its remainders can be. */
typedef struct {
    double now, next, bound;
} place;

static place place_of(const pb_chain *chain, int64_t i)
{
    const pb_minibatch *problem = chain->problem;
    const int64_t d = problem->glm.n_parameters;
    const double *x = problem->glm.features + i * d;
    place at = {0.0, 0.0, 0.0};
    for (int64_t j = 0; j < d; j++) {
        at.now += x[j] * chain->point[j];
        at.next += x[j] * chain->next_point[j];
    }
    at.bound = problem->rows[i].third / 6.0 * fabs(at.next - at.now) *
               (at.now * at.now + at.now * at.next + at.next * at.next);
    return at;
}

/* Whether |value| is within the bound of row i; else that is kept. */
static int is_within(pb_chain *chain, int64_t i, double value, double bound, double rounding)
{
    if (fabs(value) <= bound * (1.0 + SLACK) + rounding)
        return 1;
    chain->bad_row = i;
    chain->bad_difference = value;
    chain->bad_bound = bound;
    return 0;
}

/* r_i(z') - r_i(z); whether it is within its bound. */
static int difference(pb_chain *chain, int64_t i, place at, double *value)
{
    const pb_glm *glm = &chain->problem->glm;
    const pb_glm_row *row = chain->problem->rows + i;
    *value = pb_glm_remainder(glm, row, at.next) - pb_glm_remainder(glm, row, at.now);
    return is_within(chain, i, *value, at.bound,
                     pb_glm_rounding(glm, row, at.next) + pb_glm_rounding(glm, row, at.now));
}

/* All rows, in order; adds the differences up. */
static pb_status add_all(pb_chain *chain, double *log_ratio)
{
    const int64_t n = chain->problem->glm.n_rows;
    double value, sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (!difference(chain, i, place_of(chain, i), &value))
            return PB_RANGE;
        sum += value;
    }
    chain->n_evaluations += n;
    chain->n_exact++;
    *log_ratio += sum;
    return PB_OK;
}

/* Draws rows by their bounds, at most AHEAD, and has them come from memory. */
static int64_t draw_rows(const pb_chain *chain, int64_t n, pb_bitgen *bitgen, int64_t *rows)
{
    const pb_minibatch *problem = chain->problem;
    const int64_t d = problem->glm.n_parameters;
    const int64_t count = n < AHEAD ? n : AHEAD;
    double shares[AHEAD];
    for (int64_t k = 0; k < count; k++) {
        rows[k] = pb_bitgen_below(bitgen, (uint32_t)problem->glm.n_rows);
        shares[k] = uniform(bitgen);
        PREFETCH(problem->alias + rows[k]);
    }
    for (int64_t k = 0; k < count; k++) {
        const pb_alias *column = problem->alias + rows[k];
        if (shares[k] >= column->share)
            rows[k] = column->other;
        PREFETCH(problem->rows + rows[k]);
        const char *x = (const char *)(problem->glm.features + rows[k] * d);
        for (int64_t byte = 0; byte < d * 8 + LINE; byte += LINE)
            PREFETCH(x + (byte < d * 8 ? byte : d * 8 - 1));
    }
    return count;
}

/*
 * A point of the Poisson process of rate (1 + gamma) c_i M of row i, thinned: it is kept with
 * probability (gamma c_i M + max(0, -difference)) over that. The difference is evaluated only
 * where the row's own bound does not tell already; 0 stands for it else.
 */
static pb_status thin(pb_chain *chain, int64_t row, double spread, double gamma,
                      pb_bitgen *bitgen, int *kept, double *value)
{
    const double bound = chain->problem->rows[row].bound * spread, base = gamma * bound;
    const double level = uniform(bitgen) * (1.0 + gamma) * bound;
    const place at = place_of(chain, row);
    *kept = 0;
    *value = 0.0;
    chain->n_evaluations++;
    if (!is_within(chain, row, at.bound, bound, 1e-300))
        return PB_RANGE;
    if (level >= base + at.bound)
        return PB_OK;
    if (!difference(chain, row, at, value))
        return PB_RANGE;
    *kept = level < base + fmax(0.0, -*value);
    return PB_OK;
}

/* Whether no row rejects: with gamma = 0 none keeps a point, at probability e^-max(0, -r). */
static pb_status survives(pb_chain *chain, double spread, int64_t n, pb_bitgen *bitgen,
                          int *accepted)
{
    int64_t rows[AHEAD];
    *accepted = 1;
    while (n > 0) {
        const int64_t count = draw_rows(chain, n, bitgen, rows);
        n -= count;
        for (int64_t k = 0; k < count; k++) {
            double value;
            int rejects;
            const pb_status status = thin(chain, rows[k], spread, 0.0, bitgen, &rejects, &value);
            *accepted = status == PB_OK && !rejects;
            if (!*accepted)
                return status;
        }
    }
    return PB_OK;
}

/*
 * Counts s_i ~ Poisson(mu_i), mu_i = gamma c_i M + max(0, -difference) forward, with
 * max(0, difference) back. Adds sum s_i log(mu_i back / mu_i forward) to the log ratio; of
 * the remainders' own ratio e^(sum of differences) nothing is left, for mu_i forward - mu_i
 * back is -difference.
 */
static pb_status add_counts(pb_chain *chain, double spread, int64_t n, pb_bitgen *bitgen,
                            double *log_ratio)
{
    const double gamma = chain->problem->gamma;
    int64_t rows[AHEAD];
    while (n > 0) {
        const int64_t count = draw_rows(chain, n, bitgen, rows);
        n -= count;
        for (int64_t k = 0; k < count; k++) {
            const double base = gamma * (chain->problem->rows[rows[k]].bound * spread);
            double value;
            int counts;
            const pb_status status = thin(chain, rows[k], spread, gamma, bitgen, &counts, &value);
            if (status != PB_OK)
                return status;
            if (counts)
                *log_ratio += log((base + fmax(0.0, value)) / (base + fmax(0.0, -value)));
        }
    }
    return PB_OK;
}

static int passes(double log_ratio, pb_bitgen *bitgen)
{
    /* 1 - u is in (0, 1]; NaN does not pass */
    return log_ratio >= 0.0 || log(1.0 - uniform(bitgen)) < log_ratio;
}

/* The common test, on all rows. */
static pb_status decide_by_all(pb_chain *chain, double log_ratio, pb_bitgen *bitgen,
                               int *accepted)
{
    const pb_status status = add_all(chain, &log_ratio);
    *accepted = status == PB_OK && passes(log_ratio, bitgen);
    return status;
}

/* Whether the proposal is accepted; next_point is made where it may be. */
static pb_status decide(pb_chain *chain, double log_ratio, double norm, pb_bitgen *bitgen,
                        int *accepted)
{
    const pb_minibatch *problem = chain->problem;
    const int is_factorised = problem->test == PB_MINIBATCH_FACTORISED;
    const double total = problem->total * (is_factorised ? 1.0 : 1.0 + problem->gamma);
    *accepted = 0;
    if (!(log_ratio > -INFINITY) || !isfinite(norm))
        return PB_OK;
    /* M <= 2 norm^(3/2): most proposals of a walk end here, M unknown */
    const int is_near = total * 2.0 * norm * sqrt(norm) <= problem->most;
    if (is_factorised && is_near && !passes(log_ratio, bitgen))
        return PB_OK;
    const double spread =
        pb_minibatch_spread(chain->z, chain->next_z, problem->glm.n_parameters);
    const int reads_all = !(total * spread <= problem->most);
    if (is_factorised && !is_near && !reads_all && !passes(log_ratio, bitgen))
        return PB_OK;
    pb_move_multiply(problem->factor, chain->next_z, problem->glm.n_parameters,
                     chain->next_point);
    if (reads_all)
        return decide_by_all(chain, log_ratio, bitgen, accepted);
    const int64_t n = chain->poisson(bitgen, total * spread);
    if (is_factorised)
        return survives(chain, spread, n, bitgen, accepted);
    const pb_status status = add_counts(chain, spread, n, bitgen, &log_ratio);
    *accepted = status == PB_OK && passes(log_ratio, bitgen);
    return status;
}

static void move_on(pb_chain *chain)
{
    double *z = chain->z, *point = chain->point;
    chain->z = chain->next_z;
    chain->point = chain->next_point;
    chain->next_z = z;
    chain->next_point = point;
    chain->n_accepted++;
}

pb_status pb_chain_step(pb_chain *chain, pb_bitgen *bitgen)
{
    pb_move *move = chain->moves;
    if (chain->n_moves > 1) {
        const double u = uniform(bitgen);
        while (move < chain->moves + chain->n_moves - 1 && u >= move->below)
            move++;
    }
    const double correction =
        pb_move_propose(move, chain->z, chain->problem->glm.n_parameters, chain->normal, bitgen,
                        chain->next_z, chain->work);
    double norm;
    const double log_ratio = quadratic(chain, &norm) + correction;
    int accepted;
    const pb_status status = decide(chain, log_ratio, norm, bitgen, &accepted);
    if (status != PB_OK)
        return status;
    if (accepted)
        move_on(chain);
    if (chain->adapts)
        pb_move_adapt(move, accepted);
    return PB_OK;
}
