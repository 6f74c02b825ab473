/*
 * Factors from a table (pybandit/racing/pairwise.h). Totals count labels first, so that each
 * row of the table is read once. There are four counts per label: with one, two equal labels
 * in succession would wait for each other's addition.
 */
#include "pybandit/racing/pairwise.h"

#include <math.h>
#include <stddef.h>

#include "pybandit/_shared/read_once.h"

enum { LANES = 4 };

/* Returns a factor's label, or -1 if it is out of range. */
static inline int64_t label_of(const pb_pairwise *p, int64_t n)
{
    const int64_t label = pb_read_once(p->labels + (p->members ? p->members[n] : n));
    return label >= 0 && label < p->n_labels ? label : -1;
}

int pb_pairwise_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                     int64_t n_states, double *out, void *user_data)
{
    const pb_pairwise *p = user_data;
    for (int64_t f = 0; f < n_factors; f++) {
        const int64_t label = label_of(p, factors[f]);
        const double *row = p->table + (label < 0 ? 0 : label) * p->n_states;
        double weight = p->weights ? p->weights[factors[f]] : 1.0;
        if (label < 0)
            weight = NAN;
        for (int64_t s = 0; s < n_states; s++)
            out[f * n_states + s] = weight * row[states[s]];
    }
    return 0;
}

/* Adds factor n's weight to the count of its label. Returns 0 if the label is out of range. */
static inline int add(const pb_pairwise *p, int64_t n, const int32_t *members,
                      const double *weights, double *counts)
{
    const int64_t label = pb_read_once(p->labels + (members ? members[n] : n));
    if ((uint64_t)label >= (uint64_t)p->n_labels)
        return 0;
    counts[LANES * label + n % LANES] += weights ? weights[n] : 1.0;
    return 1;
}

/* Inlined for each combination of NULL arguments, so that the loop does not test for NULL. */
static inline int64_t count_of(const pb_pairwise *p, int64_t n_factors, const int32_t *members,
                               const double *weights, double *counts)
{
    int64_t n = 0;
    while (n < n_factors && add(p, n, members, weights, counts))
        n++;
    return n < n_factors ? n : -1;
}

/* Sums weights by label, in LANES parts. Returns the first factor with a bad label, or -1. */
static int64_t count(const pb_pairwise *p, int64_t n_factors, double *counts)
{
    for (int64_t i = 0; i < LANES * p->n_labels; i++)
        counts[i] = 0.0;
    if (p->members && p->weights)
        return count_of(p, n_factors, p->members, p->weights, counts);
    if (p->members)
        return count_of(p, n_factors, p->members, NULL, counts);
    return count_of(p, n_factors, NULL, p->weights, counts);
}

int64_t pb_pairwise_totals(const pb_pairwise *p, int64_t n_factors, double *work,
                           double *totals)
{
    const int64_t bad = count(p, n_factors, work);
    for (int64_t s = 0; s < p->n_states; s++)
        totals[s] = bad < 0 ? 0.0 : NAN;
    for (int64_t label = 0; bad < 0 && label < p->n_labels; label++) {
        const double *lanes = work + LANES * label, *row = p->table + label * p->n_states;
        const double sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        for (int64_t s = 0; s < p->n_states; s++)
            totals[s] += sum * row[s];
    }
    return bad;
}
