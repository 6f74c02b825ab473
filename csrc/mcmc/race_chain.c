/* Metropolis-Hastings chains with racing tests (pybandit/mcmc/race_chain.h). */
#include "pybandit/mcmc/race_chain.h"

#include <math.h>
#include <string.h>

#include "pybandit/mcmc/minibatch.h"
#include "pybandit/racing/control.h"

static pb_status prior_at(const pb_race_chain *chain, const double *theta, double *out)
{
    const int64_t d = chain->n_parameters;
    double value = 0.0;
    if (chain->log_prior && chain->log_prior(theta, chain->prior_data, &value))
        return PB_CALLBACK;
    for (int64_t i = 0; chain->precision && i < d; i++) {
        double slope = 0.0;
        for (int64_t j = 0; j < d; j++)
            slope += chain->precision[i * d + j] * theta[j];
        value -= 0.5 * theta[i] * slope;
    }
    *out = value;
    return PB_OK;
}

pb_status pb_race_chain_begin(pb_race_chain *chain)
{
    return prior_at(chain, chain->points, &chain->log_density);
}

/* Computes z = inverse (theta - center). */
static void whiten(const pb_race_chain *chain, const double *theta, double *work, double *z)
{
    for (int64_t i = 0; i < chain->n_parameters; i++)
        work[i] = theta[i] - chain->center[i];
    pb_move_multiply(chain->inverse, work, chain->n_parameters, z);
}

static void set_range(pb_race_chain *chain)
{
    const int64_t d = chain->n_parameters;
    double *z = chain->work + d, *next = z + d;
    whiten(chain, chain->points, chain->work, z);
    whiten(chain, chain->points + d, chain->work, next);
    const double spread =
        chain->is_line ? pb_minibatch_spread(z, next, d) : pb_minibatch_spread_any(z, next, d);
    const double most = chain->largest * spread * (1.0 + 1e-9) + chain->slack;
    chain->test->betting->items.low = -most;
    chain->test->betting->items.high = most;
}

static double squared_distance(const double *a, const double *b, int64_t d)
{
    double sum = 0.0;
    for (int64_t i = 0; i < d; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static void move_on(pb_race_chain *chain, double log_density)
{
    const int64_t d = chain->n_parameters;
    const size_t size = (size_t)d * sizeof(double);
    memcpy(chain->points, chain->points + d, size);
    chain->log_density = log_density;
    chain->n_accepted++;
    if (chain->farthest && squared_distance(chain->points, chain->start, d) >
                               squared_distance(chain->farthest, chain->start, d))
        memcpy(chain->farthest, chain->points, size);
}

/* Tests sum_n log ratio_n > threshold by a race. */
static pb_status test(pb_race_chain *chain, double threshold, pb_bitgen *bitgen, int *accepted)
{
    pb_accept *race = chain->test;
    *accepted = 0;
    if (isnan(threshold))  /* the point is so far away that its density overflows */
        return PB_OK;
    if (chain->inverse)
        set_range(chain);
    const pb_status status = pb_accept_run(race, threshold, bitgen);
    if (status != PB_OK)
        return status;
    *accepted = race->accepted;
    chain->n_looks += race->n_looks;
    chain->n_evaluations += race->n_evaluations;
    chain->n_exact += race->exact;
    return PB_OK;
}

pb_status pb_race_chain_step(pb_race_chain *chain, pb_bitgen *bitgen, int *is_test)
{
    const int64_t d = chain->n_parameters;
    pb_move *move = chain->moves;
    double after;
    int accepted = 0;
    *is_test = 0;
    if (chain->n_moves > 1) {
        const double u = bitgen->next_double(bitgen->state);
        while (move < chain->moves + chain->n_moves - 1 && u >= move->below)
            move++;
    }
    const double correction = pb_move_propose(move, chain->points, d, chain->normal, bitgen,
                                              chain->points + d, chain->work);
    const pb_status status = prior_at(chain, chain->points + d, &after);
    if (status != PB_OK)
        return status;
    if (after > -INFINITY) {
        double threshold = chain->log_density - after - correction - chain->exponential(bitgen);
        if (chain->center)
            threshold -= pb_control_quadratic_change(d, chain->gradient, chain->hessian,
                                                     chain->center, chain->points);
        *is_test = 1;
        const pb_status of_test = test(chain, threshold, bitgen, &accepted);
        if (of_test != PB_OK)
            return of_test;
    }
    chain->n_steps++;
    if (accepted)
        move_on(chain, after);
    if (chain->adapts)
        pb_move_adapt(move, accepted, 0);
    return PB_OK;
}
