#ifndef PYBANDIT_SCORE_H
#define PYBANDIT_SCORE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Scores of answers, O(n_arms) each. Not checked: the arms of an answer must be in [0, n_arms),
 * and means must be finite. `marks` is scratch memory of the caller, one byte per arm. An answer
 * that names an arm twice is an error. If epsilon is above 0, a difference exceeds it only if it
 * does so by more than 4 ulp of the numbers subtracted, so that .8 and .7 differ by .1.
 */

/*
 * Returns 1 if the chosen arms are not the k best: if their number is not k, or an arm left out
 * is better than a chosen one by more than epsilon. With epsilon = 0 any of equal arms is right.
 */
int pb_score_best(const double *means, int64_t n_arms, const int64_t *chosen, int64_t n_chosen,
                  int64_t k, double epsilon, unsigned char *marks);

/*
 * Returns 1 if the chosen arms are not those above a threshold: if an arm on the wrong side is
 * further than epsilon from it. Sets *furthest to the largest distance of an arm on the wrong
 * side, 0 if there is none. An arm on the threshold may be chosen or left out.
 */
int pb_score_above(const double *means, int64_t n_arms, const int64_t *chosen, int64_t n_chosen,
                   double threshold, double epsilon, unsigned char *marks, double *furthest);

/* Returns 1 if the chosen arms are not those flagged in `right`; counts wrong arms in *n_wrong. */
int pb_score_set(const unsigned char *right, int64_t n_arms, const int64_t *chosen,
                 int64_t n_chosen, unsigned char *marks, double *n_wrong);

/* Returns `best` minus the mean of the chosen arms' means; NaN if no arm is chosen. */
double pb_score_gap(const double *means, const int64_t *chosen, int64_t n_chosen, double best);

/* Returns the sum over arms of pulls times gaps, added in index order. */
double pb_score_lost(const double *gaps, const int64_t *pulls, int64_t n_arms);

#ifdef __cplusplus
}
#endif

#endif
