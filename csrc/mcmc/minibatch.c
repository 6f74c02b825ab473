/*
 * Exact tests on minibatches (pybandit/mcmc/minibatch.h).
 *
 * The bound. r = r_i is a function of D = x_i'(theta - mode) = w'z, w = L'x_i, and
 * r(0) = r'(0) = r''(0) = 0, |r'''| <= third. So |r'(D)| <= third D^2 / 2, and
 *   |r(D') - r(D)| <= |integral from D to D' of third s^2 / 2| = third / 6 |D'^3 - D^3|
 *                  <= third / 6 |w|^3 max over |v| = 1 of |(v'z')^3 - (v'z)^3| = c_i M.
 * The middle bound costs three multiplications once D and D' are known. If the uniform number used
 * for thinning is above this bound, the row cannot reject, and no exponential is computed.
 *
 * Rows that depend on theta through more than one number: let k_i bound the norm of the third
 * derivative as a form on x = theta - mode, |T(v, v, v)| <= k_i |v|^3. Then
 * |T(u, v, a)| <= k_i |u| |v| |a|, because a symmetric form attains its norm on the diagonal
 * (Banach). r_i and its first two derivatives are 0 at 0. So the second derivative at x satisfies
 * |r_i''(v, a)| <= k_i |x| |v| |a|, the first |r_i'(a)| <= k_i |x|^2 |a| / 2, and from x to x'
 *   |r(x') - r(x)| <= k_i / 2 times the integral of |x + t a|^2 |a| = c_i M.
 *
 * If more than `most` rows are expected, all rows are read and the standard test is used. The
 * expected number is the same for the move from z' to z, so both directions of a move use the same
 * test, and each test satisfies detailed balance.
 */
#include "remainders.h"

static double square(const double *x, int64_t d)
{
    double sum = 0.0;
    for (int64_t i = 0; i < d; i++)
        sum += x[i] * x[i];
    return sum;
}

/*
 * With a = z' - z and m = (z + z') / 2, (v'z')^3 - (v'z)^3 = v'a (3 (v'm)^2 + (v'a)^2 / 4).
 * The maximum is in the plane of a and m. There, if t is the tangent of the angle between v
 * and a, the value is |a| g(t) / (1 + t^2)^(3/2), g = A + B t + C t^2. All three coefficients are
 * at least 0, so the maximum is at t >= 0. The derivative has the sign of
 *   h(t) = B + (2C - 3A) t - 2B t^2 - C t^3,
 * which is concave for t >= 0, at least 0 at 0 and at most 0 at sqrt 2: Newton's method started
 * at sqrt 2 decreases to the root.
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
        if (!(change > 1e-6))  /* the maximum is flat: its value is accurate to 1e-12 */
            break;
        t -= change;
    }
    const double tall = 1.0 + t * t;
    return sqrt(aa) * (A + t * (B + t * C)) / (3.0 * tall * sqrt(tall));
}

double pb_minibatch_spread_any(const double *x, const double *next, int64_t d)
{
    double aa = 0.0, mm = 0.0;
    for (int64_t i = 0; i < d; i++) {
        const double a = next[i] - x[i], m = 0.5 * (next[i] + x[i]);
        aa += a * a;
        mm += m * m;
    }
    return sqrt(aa) * (mm + aa / 12.0);
}

void pb_chain_place(pb_chain *chain)
{
    pb_move_multiply(chain->problem->factor, chain->z, chain->problem->glm.n_parameters,
                     chain->point);
    chain->is_known = 0;
}

/* Returns the change of the quadratic part; sets *norm to the larger of |z|^2 and |z'|^2. */
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

/* Draws up to AHEAD rows in proportion to their bounds and prefetches them. */
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
        if (!problem->glm.features)
            continue;
        const char *x = (const char *)(problem->glm.features + rows[k] * d);
        for (int64_t byte = 0; byte < d * 8 + LINE; byte += LINE)
            PREFETCH(x + (byte < d * 8 ? byte : d * 8 - 1));
    }
    return count;
}

/* Sets *accepted to 1 if no row rejects: with gamma = 0 a kept point means rejection. */
static pb_status survives(pb_chain *chain, double spread, int64_t n, pb_bitgen *bitgen,
                          int *accepted)
{
    int64_t rows[AHEAD];
    int rejects[AHEAD];
    double values[AHEAD];
    *accepted = 1;
    while (n > 0) {
        const int64_t count = draw_rows(chain, n, bitgen, rows);
        pb_status status = PB_OK;
        n -= count;
        if (chain->own)
            status = thin_own(chain, rows, count, spread, 0.0, bitgen, rejects, values);
        for (int64_t k = 0; k < count; k++) {
            if (!chain->own)
                status = thin(chain, rows[k], spread, 0.0, bitgen, rejects + k, values + k);
            *accepted = status == PB_OK && !rejects[k];
            if (!*accepted)
                return status;
        }
    }
    return PB_OK;
}

/*
 * Draws counts s_i ~ Poisson(mu_i), where mu_i = gamma c_i M + max(0, -difference) for the move
 * and gamma c_i M + max(0, difference) for its reverse. Adds the sum of
 * s_i log(mu_i reverse / mu_i forward) to the log ratio. The remainders' own ratio,
 * e^(sum of differences), cancels, because mu_i forward - mu_i reverse = -difference.
 */
static pb_status add_counts(pb_chain *chain, double spread, int64_t n, pb_bitgen *bitgen,
                            double *log_ratio)
{
    const double gamma = chain->problem->gamma;
    int64_t rows[AHEAD];
    int counts[AHEAD];
    double values[AHEAD];
    while (n > 0) {
        const int64_t count = draw_rows(chain, n, bitgen, rows);
        pb_status status = PB_OK;
        n -= count;
        if (chain->own)
            status = thin_own(chain, rows, count, spread, gamma, bitgen, counts, values);
        for (int64_t k = 0; k < count; k++) {
            const double base = gamma * (chain->problem->rows[rows[k]].bound * spread);
            if (!chain->own)
                status = thin(chain, rows[k], spread, gamma, bitgen, counts + k, values + k);
            if (status != PB_OK)
                return status;
            if (counts[k])
                *log_ratio += log((base + fmax(0.0, values[k])) / (base + fmax(0.0, -values[k])));
        }
    }
    return PB_OK;
}

static int passes(double log_ratio, pb_bitgen *bitgen)
{
    /* 1 - u is in (0, 1]; a NaN log ratio is rejected */
    return log_ratio >= 0.0 || log(1.0 - uniform(bitgen)) < log_ratio;
}

/*
 * Runs the standard test on all rows. As in a textbook chain, the sum at the current point is kept,
 * so that a step is one pass over the rows; the sum at next_point is written to *next.
 */
static pb_status decide_by_all(pb_chain *chain, double spread, double log_ratio,
                               pb_bitgen *bitgen, int *accepted, double *next)
{
    const pb_minibatch *problem = chain->problem;
    pb_status status = PB_OK;
    if (chain->own) {
        status = add_all_own(chain, spread, &log_ratio);
    } else {
        if (!chain->is_known)
            chain->remainders = pb_glm_remainders(&problem->glm, problem->rows, chain->point);
        chain->is_known = 1;
        *next = pb_glm_remainders(&problem->glm, problem->rows, chain->next_point);
        log_ratio += *next - chain->remainders;
    }
    if (status == PB_OK) {
        chain->n_evaluations += problem->glm.n_rows;
        chain->n_exact++;
    }
    *accepted = status == PB_OK && passes(log_ratio, bitgen);
    return status;
}

/* Computes the proposal's next_point and, for user-defined rows, both points as theta. */
static void place_next(pb_chain *chain)
{
    const pb_minibatch *problem = chain->problem;
    const int64_t d = problem->glm.n_parameters;
    pb_move_multiply(problem->factor, chain->next_z, d, chain->next_point);
    if (!chain->own)
        return;
    for (int64_t i = 0; i < d; i++) {
        chain->own->points[i] = problem->mode[i] + chain->point[i];
        chain->own->points[d + i] = problem->mode[i] + chain->next_point[i];
    }
}

/* Computes M. All forms except LINE require place_next first. */
static pb_status find_spread(pb_chain *chain, double *spread)
{
    const int64_t d = chain->problem->glm.n_parameters;
    if (chain->problem->form == PB_MINIBATCH_LINE) {
        *spread = pb_minibatch_spread(chain->z, chain->next_z, d);
    } else if (chain->problem->form == PB_MINIBATCH_SPACE) {
        *spread = pb_minibatch_spread_any(chain->point, chain->next_point, d);
    } else if (chain->own->spread(chain->own->spread_data, spread)) {
        return PB_CALLBACK;
    } else if (!(*spread >= 0.0 && *spread < INFINITY)) {
        keep_bad(chain, -1, *spread, INFINITY);
        return PB_NOT_FINITE;
    }
    return PB_OK;
}

/*
 * Decides whether to accept the proposal; if it is accepted, next_point is computed. Writes the sum
 * of the remainders there to *next if all rows of glm were read.
 */
static pb_status decide(pb_chain *chain, double log_ratio, double norm, pb_bitgen *bitgen,
                        int *accepted, double *next)
{
    const pb_minibatch *problem = chain->problem;
    const int is_factorised = problem->test == PB_MINIBATCH_FACTORISED;
    const int is_line = problem->form == PB_MINIBATCH_LINE;
    const double total = problem->total * (is_factorised ? 1.0 : 1.0 + problem->gamma);
    double spread;
    *accepted = 0;
    if (!(log_ratio > -INFINITY) || !isfinite(norm) || sqrt(norm) > problem->radius)
        return PB_OK;
    /* M <= 2 norm^(3/2): most proposals of a walk are rejected here, before M is computed */
    const int is_near = is_line && total * 2.0 * norm * sqrt(norm) <= problem->most;
    if (is_factorised && is_near && !passes(log_ratio, bitgen))
        return PB_OK;
    if (!is_line)
        place_next(chain);
    pb_status status = find_spread(chain, &spread);
    if (status != PB_OK)
        return status;
    const int reads_all = !(total * spread <= problem->most);
    if (is_factorised && !is_near && !reads_all && !passes(log_ratio, bitgen))
        return PB_OK;
    if (is_line)
        place_next(chain);
    if (reads_all)
        return decide_by_all(chain, spread, log_ratio, bitgen, accepted, next);
    const int64_t n = chain->poisson(bitgen, total * spread);
    if (is_factorised)
        return survives(chain, spread, n, bitgen, accepted);
    status = add_counts(chain, spread, n, bitgen, &log_ratio);
    *accepted = status == PB_OK && passes(log_ratio, bitgen);
    return status;
}

static void move_on(pb_chain *chain, double remainders)
{
    double *z = chain->z, *point = chain->point;
    chain->z = chain->next_z;
    chain->point = chain->next_point;
    chain->next_z = z;
    chain->next_point = point;
    chain->remainders = remainders;
    chain->is_known = !isnan(remainders);
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
    double norm, next = NAN;
    const double log_ratio = quadratic(chain, &norm) + correction;
    const int64_t n_exact = chain->n_exact;
    int accepted;
    const pb_status status = decide(chain, log_ratio, norm, bitgen, &accepted, &next);
    if (status != PB_OK)
        return status;
    if (accepted)
        move_on(chain, next);
    if (chain->adapts)
        pb_move_adapt(move, accepted, chain->n_exact > n_exact);
    return PB_OK;
}
