#include "../../_shared/c/check.h"

#include "pybandit/mcmc/glm.h"

static const double X[] = {1.0, 0.5, -2.0, 0.25, 0.0, -1.0, 0.5, 3.0};
static const double LABELS[] = {1.0, 0.0, 1.0, 0.0};
static const double TRIALS[] = {3.0, 1.0, 7.0, 2.0}, COUNTS[] = {2.0, 0.0, 7.0, 1.0};
static const double NUMBERS[] = {0.3, -4.0, 2.5, 0.0};

static const pb_glm FAMILIES[] = {
    {PB_GLM_LOGISTIC, 4, 2, X, LABELS, NULL, 1.0, 1.0, 0.0},
    {PB_GLM_LOGISTIC, 4, 2, X, COUNTS, TRIALS, 1.0, 1.0, 0.0},
    {PB_GLM_PROBIT, 4, 2, X, LABELS, NULL, 1.0, 1.0, 0.0},
    {PB_GLM_STUDENT, 4, 2, X, NUMBERS, NULL, 3.0, 0.5, 0.0},
    {PB_GLM_POISSON, 4, 2, X, COUNTS, NULL, 1.0, 1.0, 20.0},
};
enum { N_FAMILIES = 5 };

/* Returns the log likelihood of a row in long double, up to terms that do not depend on s. */
static long double value_at(const pb_glm *glm, int64_t i, long double s)
{
    const long double y = glm->labels[i], n = glm->trials ? glm->trials[i] : 1.0L;
    if (glm->family == PB_GLM_STUDENT) {
        const long double u = (y - s) / glm->scale;
        return -0.5L * (glm->df + 1.0L) * log1pl(u * u / glm->df);
    }
    if (glm->family == PB_GLM_PROBIT)
        return logl(0.5L * erfcl((y > 0 ? -s : s) * 0.70710678118654752440L));
    if (glm->family == PB_GLM_POISSON)
        return y * s - expl(s);
    return y * s - n * (s > 0 ? s + log1pl(expl(-s)) : log1pl(expl(s)));
}

static void sums_are_derivatives(void)
{
    const double theta[] = {0.3, -0.4}, h = 1e-5;
    for (int f = 0; f < N_FAMILIES; f++) {
        const pb_glm *glm = FAMILIES + f;
        double value = 0.0, gradient[2] = {0}, hessian[4] = {0, 99.0, 0, 0};
        pb_glm_sums(glm, 0, 4, 1, 0, theta, &value, gradient, hessian);
        assert(hessian[1] == 99.0);  /* above the diagonal */
        long double expected = 0.0L;
        for (int64_t i = 0; i < 4; i++)
            expected += value_at(glm, i, X[2 * i] * theta[0] + X[2 * i + 1] * theta[1]);
        assert(close_to(value, (double)expected, 1e-14 * 20));
        for (int j = 0; j < 2; j++) {
            double moved[2] = {theta[0], theta[1]}, up = 0.0, g_up[2] = {0}, ignored[4] = {0};
            double down = 0.0, g_down[2] = {0};
            moved[j] += h;
            pb_glm_sums(glm, 0, 4, 1, 0, moved, &up, g_up, ignored);
            moved[j] -= 2 * h;
            pb_glm_sums(glm, 0, 4, 1, 0, moved, &down, g_down, ignored);
            assert(close_to((up - down) / (2 * h), gradient[j], 1e-7));
            for (int k = 0; k <= j; k++)
                assert(close_to((g_up[k] - g_down[k]) / (2 * h), hessian[2 * j + k], 1e-6));
        }
        /* sums of the even and of the odd rows add up to the sum of all rows */
        double again = 0.0, parts[2] = {0}, squares[4] = {0};
        pb_glm_sums(glm, 0, 4, 2, 0, theta, &again, parts, squares);
        pb_glm_sums(glm, 1, 4, 2, 0, theta, &again, parts, squares);
        assert(close_to(again, value, 1e-13) && close_to(parts[1], gradient[1], 1e-13));
    }
}

/* Checks that safe Newton steps never lower the log likelihood, and that Hessians are negative. */
static void safe_steps_of_student(void)
{
    const double x[] = {1.0, 1.0, 1.0}, y[] = {-3.0, 0.0, 8.0};
    const pb_glm glm = {PB_GLM_STUDENT, 3, 1, x, y, NULL, 1.0, 0.5, 0.0};
    for (double theta = -20.0; theta < 20.0; theta += 0.37) {
        double value = 0.0, gradient = 0.0, hessian = 0.0, after = 0.0, ignored = 0.0;
        pb_glm_sums(&glm, 0, 3, 1, 1, &theta, &value, &gradient, &hessian);
        assert(hessian < 0.0);
        const double next = theta - gradient / hessian;
        pb_glm_sums(&glm, 0, 3, 1, 1, &next, &after, &ignored, &ignored);
        assert(after >= value - 1e-12);
    }
}

/* Compares remainders with values in long double, and checks their bounds and rounding errors. */
static void remainders(void)
{
    const double mode[] = {0.2, -0.3}, factor[] = {0.5, 99.0, -0.1, 0.3};
    for (int f = 0; f < N_FAMILIES; f++) {
        const pb_glm *glm = FAMILIES + f;
        pb_glm_row rows[4];
        double work[2];
        pb_glm_anchor(glm, 0, 4, mode, factor, rows, work);
        for (int64_t i = 0; i < 4; i++) {
            const double *x = X + 2 * i;
            const long double s = (long double)x[0] * mode[0] + (long double)x[1] * mode[1];
            const double w0 = 0.5 * x[0] - 0.1 * x[1], w1 = 0.3 * x[1];
            const double length = sqrt(w0 * w0 + w1 * w1);
            const double trials = glm->trials ? glm->trials[i] : 1.0;
            double third = trials * pb_glm_third(glm);
            if (glm->family == PB_GLM_POISSON) {
                assert(third == INFINITY);  /* no bound holds for all s */
                third = exp((double)s + 20.0 * length);
                assert(20.0 * length > 6.0);  /* at least as large as the changes below */
            }
            assert(close_to(rows[i].third, third, 1e-13 * third));
            assert(close_to(rows[i].bound / third, length * length * length / 2, 1e-13));
            /* derivatives by differences in long double */
            const long double h = 1e-4L;
            const long double at = value_at(glm, i, s), up = value_at(glm, i, s + h);
            const long double down = value_at(glm, i, s - h);
            const long double slope = (up - down) / (2 * h), bend = (up - 2 * at + down) / (h * h);
            for (double change = -6.0; change <= 6.0; change += 0.2537) {
                const double found = pb_glm_remainder(glm, rows + i, change);
                const long double expected = value_at(glm, i, s + change) - at -
                                             change * (slope + change * bend / 2);
                assert(close_to(found, (double)expected,
                                1e-6 * fmax(trials, rows[i].weight) * fabs(change)));
                assert(fabs(found) <= rows[i].third / 6 * fabs(change * change * change) +
                                          pb_glm_rounding(glm, rows + i, change));
            }
            for (double change = 1e-7; change < 1e-3; change *= 3.0)
                assert(fabs(pb_glm_remainder(glm, rows + i, change)) <=
                       rows[i].third / 6 * change * change * change +
                           pb_glm_rounding(glm, rows + i, change));
        }
    }
}

/* Checks that values far from the mode are neither NaN nor infinite. */
static void far_away(void)
{
    const double x[] = {1.0}, one[] = {1.0}, zero[] = {0.0}, mode[] = {0.0, 30.0, -30.0, 600.0};
    const double factor[] = {1.0};
    const pb_glm far[] = {{PB_GLM_LOGISTIC, 1, 1, x, one, NULL, 1.0, 1.0, 0.0},
                          {PB_GLM_PROBIT, 1, 1, x, zero, NULL, 1.0, 1.0, 0.0},
                          {PB_GLM_PROBIT, 1, 1, x, one, NULL, 1.0, 1.0, 0.0},
                          {PB_GLM_STUDENT, 1, 1, x, one, NULL, 3.0, 0.5, 0.0}};
    for (int f = 0; f < 4; f++)
        for (int m = 0; m < 4; m++) {
            pb_glm_row row;
            double work, value = 0.0, gradient = 0.0, hessian = 0.0;
            pb_glm_sums(far + f, 0, 1, 1, 0, mode + m, &value, &gradient, &hessian);
            assert(isfinite(value) && isfinite(gradient) && isfinite(hessian));
            pb_glm_anchor(far + f, 0, 1, mode + m, factor, &row, &work);
            for (double change = -3000.0; change <= 3000.0; change += 37.0) {
                const double r = pb_glm_remainder(far + f, &row, change);
                assert(isfinite(r));
                assert(fabs(r) <= row.third / 6 * fabs(change * change * change) +
                                      pb_glm_rounding(far + f, &row, change));
            }
        }
}

/* The sum over all rows is that of single rows, near the mode and far away, for any size. */
static void sum_of_remainders(void)
{
    enum { N = 37, D = 19 };
    double x[N * D], labels[N], ones[N], mode[D], factor[D * D] = {0.0}, work[D];
    uint64_t seed = 5;
    for (int i = 0; i < N * D; i++)
        x[i] = 2.0 * splitmix_double(&seed) - 1.0;
    for (int i = 0; i < N; i++) {
        labels[i] = i % 3 == 0;
        ones[i] = 1.0;
    }
    for (int j = 0; j < D; j++) {
        mode[j] = splitmix_double(&seed) - 0.5;
        factor[j * D + j] = 0.1;
    }
    const pb_glm glms[] = {{PB_GLM_LOGISTIC, N, D, x, labels, NULL, 1.0, 1.0, 0.0},
                           {PB_GLM_LOGISTIC, N, D, x, labels, ones, 1.0, 1.0, 0.0},
                           {PB_GLM_PROBIT, N, D, x, labels, NULL, 1.0, 1.0, 0.0},
                           {PB_GLM_STUDENT, N, D, x, labels, NULL, 3.0, 0.5, 0.0}};
    for (int f = 0; f < 4; f++)
        for (double far = 0.01; far < 1e4; far *= 10.0) {
            pb_glm_row rows[N];
            double point[D], sum = 0.0, size = 0.0;
            pb_glm_anchor(glms + f, 0, N, mode, factor, rows, work);
            for (int j = 0; j < D; j++)
                point[j] = far * (splitmix_double(&seed) - 0.5);
            for (int i = 0; i < N; i++) {
                double change = 0.0;
                for (int j = 0; j < D; j++)
                    change += x[i * D + j] * point[j];
                sum += pb_glm_remainder(glms + f, rows + i, change);
                size += fabs(change) * (1.0 + fabs(change));
            }
            const double found = pb_glm_remainders(glms + f, rows, point);
            assert(isfinite(found) && fabs(found - sum) <= 1e-13 * (1.0 + size));
        }
}

int main(void)
{
    sum_of_remainders();
    sums_are_derivatives();
    safe_steps_of_student();
    remainders();
    far_away();
    return 0;
}
