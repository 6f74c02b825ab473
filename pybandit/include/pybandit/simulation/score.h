#ifndef PYBANDIT_SCORE_H
#define PYBANDIT_SCORE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Whether an answer is right, and how wrong it is. Assumed, not checked: arms of an answer lie in
 * [0, n_arms), means are finite. `marks` is the caller's scratch, one byte an arm. An answer that
 * names an arm twice is an error. Differences beyond an epsilon above 0 are beyond it by more than
 * 4 ulp of what is subtracted: .8 and .7 are .1 apart. All are O(n_arms).
 */

/*
 * Of k arms, are they the best? An error where there are more or fewer than k, or an arm left
 * out is better by more than epsilon than one chosen. With epsilon = 0 either of equal arms does.
 */
int pb_score_best(const double *means, int64_t n_arms, const int64_t *chosen, int64_t n_chosen,
                  int64_t k, double epsilon, unsigned char *marks);

/*
 * Are they the arms above a threshold? An error where an arm on the wrong side is further than
 * epsilon from it; *furthest: how far the furthest of these is, 0 where there is none. An arm
 * on the threshold may be in or out.
 */
int pb_score_above(const double *means, int64_t n_arms, const int64_t *chosen, int64_t n_chosen,
                   double threshold, double epsilon, unsigned char *marks, double *furthest);

/* Are they the arms whose flag is set? *n_wrong: arms wrongly in or wrongly out. */
int pb_score_set(const unsigned char *right, int64_t n_arms, const int64_t *chosen,
                 int64_t n_chosen, unsigned char *marks, double *n_wrong);

/* `best`, a mean of means, less the mean of these arms' means; NaN of no arms. */
double pb_score_gap(const double *means, const int64_t *chosen, int64_t n_chosen, double best);

/* The sum over arms of pulls times gaps, in their order. */
double pb_score_lost(const double *gaps, const int64_t *pulls, int64_t n_arms);

#ifdef __cplusplus
}
#endif

#endif
