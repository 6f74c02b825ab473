#include "../../_shared/c/check.h"

#include "pybandit/racing/b_normal.h"
#include "pybandit/_shared/bounds.h"

/* Writes first_fraction, 2 first_fraction, 4 first_fraction, ... below 1; returns their number. */
static int64_t doubling(double first_fraction, double *fractions)
{
    int64_t n = 0;
    for (double fraction = first_fraction; fraction < 1.0; fraction *= 2.0)
        fractions[n++] = fraction;
    return n;
}

static double solve(double delta, const double *fractions, int64_t n, pb_convention convention)
{
    double boundary = NAN;
    double *workspace = allocate(pb_b_normal_memory(fractions, n), sizeof *workspace);
    assert(pb_b_normal_solve(delta, fractions, n, convention, workspace, &boundary) == PB_OK);
    free(workspace);
    return boundary;
}

static double error(double boundary, const double *fractions, int64_t n,
                    pb_convention convention)
{
    double *workspace = allocate(pb_b_normal_memory(fractions, n), sizeof *workspace);
    const double value = pb_b_normal_error(boundary, fractions, n, convention, workspace);
    free(workspace);
    return value;
}

static void matches_reference(void)
{
    static const struct {
        double delta, first_fraction, one_sided, two_sided, together;
    } cells[] = {
        {1e-06, 5e-05, 5.27060267585, 5.27060266397, 5.27420426841},
        {0.001, 0.0005, 3.71863623899, 3.71862355087, 3.74302493054},
        {0.05, 0.001, 2.46972930369, 2.46775659283, 2.57582930355},
        {0.49, 5e-05, 1.43513418938, 0.99625685714, 1.84297039322},
        {2e-07, 1e-06, 5.60940795588, 5.60940795228, 5.61200124417},
        {0.49, 0.1, 0.78368417940, 0.42514888352, 1.16257987484},
        {0.05, 0.3, 1.91110392526, 1.91107042798, 1.95996398454},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        double fractions[64];
        const int64_t n = doubling(cells[i].first_fraction, fractions);
        const double delta = cells[i].delta;
        assert(close_to(solve(delta, fractions, n, PB_ONE_SIDED), cells[i].one_sided, 1e-9));
        assert(close_to(solve(delta, fractions, n, PB_TWO_SIDED), cells[i].two_sided, 1e-9));
        assert(close_to(solve(delta, fractions, n, PB_UNION), cells[i].together, 1e-9));
    }
}

static void solves_its_own_equation(void)
{
    const double uneven[] = {0.01, 0.011, 0.3, 0.31, 0.99};
    const pb_convention conventions[] = {PB_ONE_SIDED, PB_TWO_SIDED, PB_UNION};
    for (int k = 0; k < 3; k++)
        for (double delta = 0.4; delta > 1e-12; delta *= 0.1) {
            const double b = solve(delta, uneven, 5, conventions[k]);
            assert(close_to(error(b, uneven, 5, conventions[k]) / delta, 1.0, 1e-8));
        }
}

/* With one look, B is the normal quantile; two looks far apart are nearly independent. */
static void limits(void)
{
    const double one[] = {0.25}, apart[] = {1e-9, 1.0 - 1e-9};
    assert(close_to(solve(0.05, one, 1, PB_ONE_SIDED), 1.6448536269514722, 1e-9));
    const double tail = pb_bounds_normal_tail(2.0);
    assert(close_to(error(2.0, apart, 2, PB_ONE_SIDED), 1.0 - (1.0 - tail) * (1.0 - tail),
                    1e-9));
    assert(error(2.0, apart, 2, PB_UNION) == 2.0 * tail);
}

static void rejects_delta_without_solution(void)
{
    const double fractions[] = {0.25, 0.5}, deltas[] = {0.0, -1.0, 0.5, 1.0, NAN};
    double workspace[1024], boundary = 7.0;
    assert(pb_b_normal_memory(fractions, 2) <= 1024);
    for (int i = 0; i < 5; i++)
        assert(pb_b_normal_solve(deltas[i], fractions, 2, PB_ONE_SIDED, workspace,
                                 &boundary) == PB_NO_SOLUTION);
    assert(boundary == 7.0);
}

int main(void)
{
    matches_reference();
    solves_its_own_equation();
    limits();
    rejects_delta_without_solution();
    return 0;
}
