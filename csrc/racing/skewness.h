#ifndef SKEWNESS_H
#define SKEWNESS_H

/*
 * What Student's t must exceed where values are skewed: private to the races.
 *
 * The mean of skewed values and their deviation go together, so one tail of t is
 * heavier than Student's and the other lighter. To first order (Johnson 1978)
 *
 *     t + c0 + c2 t^2,   c0 = r / 6,   c2 = (3 c - r) / 6
 *
 * has Student's tails again: r is the skewness of the mean and c its covariance with
 * the variance, both in standard errors. For T of N values read without replacement,
 * share = 1 - (T - 1) / (N - 1) and g their skewness,
 *
 *     r = g (2 share - 1) / sqrt(T share),   c = g sqrt(share / T)
 *
 * which is g (1 + 2 t^2) / (6 sqrt(T)) where T is small beside N.
 */
#include <math.h>
#include <stdint.h>

/*
 * Past -c2 = MOST_SKEWED (g / sqrt(T) = -0.1 where T is small beside N) the tail is too
 * heavy for the expansion, and the look waits. On the light side no more is believed
 * than that. Waiting there as well gains nothing: the heavy tail errs as often, and on
 * normal values twice as many looks wait (1.8 % of those at 50 do now).
 */
#define MOST_SKEWED (0.1 / 3.0)

/* Rows that must differ from the first one before a deviation is believed. */
enum { LEAST_OTHERS = 5 };

/* c0 and c2; c2 is NaN where a variance was 0. */
typedef struct {
    double c0, c2;
} correction;

static inline correction correction_of(double r, double c)
{
    correction k = {r * (1.0 / 6.0), 0.5 * c - r * (1.0 / 6.0)};
    if (k.c2 > MOST_SKEWED) {
        k.c0 *= MOST_SKEWED / k.c2;
        k.c2 = MOST_SKEWED;
    }
    return k;
}

/* Whether t is beyond `quantile`; past its largest value the parabola is not followed. */
static inline int skewed_exceeds(double t, double quantile, double r, double c)
{
    const correction k = correction_of(r, c);
    if (!(k.c2 > -MOST_SKEWED))
        return 0;
    if (2.0 * k.c2 * t < -1.0)
        t = -0.5 / k.c2;
    return t + k.c0 + k.c2 * t * t > quantile;
}

/* The t from which on that is so; INFINITY where the look has to wait. */
static inline double skewed_quantile(double quantile, double r, double c)
{
    const correction k = correction_of(r, c);
    const double root = 1.0 + 4.0 * k.c2 * (quantile - k.c0);
    if (!(k.c2 > -MOST_SKEWED) || root < 0.0)
        return INFINITY;
    return 2.0 * (quantile - k.c0) / (1.0 + sqrt(root));
}

/* What all states share at a look at one population's values. */
typedef struct {
    double quantile;
    double unit, per_unit;  /* the standard error of a mean where sd is 1, and 1 / it */
    double per_count;
    double r, c;            /* of values whose skewness is 1 */
} skew_look;

static inline skew_look skew_look_at(double scale, double unit, int64_t n_read,
                                     int64_t n_factors)
{
    const double read = (double)n_read;
    const double share = 1.0 - (read - 1.0) / ((double)n_factors - 1.0);
    const double per = 1.0 / sqrt(read * share);
    return (skew_look){scale / unit, unit, 1.0 / unit, 1.0 / read, (2.0 * share - 1.0) * per,
                       share * per};
}

/* Natural variance and third central moment of values of these sums. */
typedef struct {
    double variance, third;
} spread;

static inline spread spread_of(const skew_look *look, double sum, double square, double cube)
{
    const double mean = sum * look->per_count, second = square * look->per_count;
    return (spread){second - mean * mean, cube * look->per_count -
                                              mean * (3.0 * second - 2.0 * mean * mean)};
}

/* Whether a gap, the excess of a mean of values of this spread, is significant. */
static inline int skewed_clear(const skew_look *look, double gap, spread of)
{
    /* a variance of 0, or below it by rounding, makes NaN */
    const double per_sd = 1.0 / sqrt(of.variance);
    const double skewness = of.third * per_sd * per_sd * per_sd;
    return skewed_exceeds(gap * per_sd * look->per_unit, look->quantile, skewness * look->r,
                          skewness * look->c);
}

/* How far a mean of values of this spread may be overestimated. */
static inline double skewed_width(const skew_look *look, spread of)
{
    const double sd = sqrt(of.variance), skewness = of.third / (of.variance * sd);
    const double quantile =
        skewed_quantile(look->quantile, skewness * look->r, skewness * look->c);
    return quantile < INFINITY ? look->unit * quantile * sd : INFINITY;
}

#endif
