/*
 * Physical limits: bare loops that read the same bytes as the kernels, with the minimum of
 * arithmetic for a race. Compiled when benchmarks run.
 */
#include <math.h>
#include <stdint.h>

typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *);
    uint32_t (*next_uint32)(void *);
} bits;

/* Sums and sums of squares of `n` rows, in the order of `indices`. */
void limit_gather(const double *matrix, int64_t stride, const int64_t *indices, int64_t n,
                  double *sum, double *square)
{
    for (int64_t i = 0; i < n; i++) {
        const double *row = matrix + indices[i] * stride;
        for (int64_t c = 0; c < stride; c++) {
            sum[c] += row[c];
            square[c] += row[c] * row[c];
        }
    }
}

/* The same with ten columns, a number known to the compiler. */
void limit_gather_10(const double *matrix, const int64_t *indices, int64_t n, double *sum,
                     double *square)
{
    double s[10] = {0}, q[10] = {0};
    for (int64_t i = 0; i < n; i++) {
        const double *row = matrix + indices[i] * 10;
        for (int c = 0; c < 10; c++) {
            s[c] += row[c];
            q[c] += row[c] * row[c];
        }
    }
    for (int c = 0; c < 10; c++) {
        sum[c] = s[c];
        square[c] = q[c];
    }
}

/* Returns index number i of a partial Fisher-Yates shuffle. */
static inline int64_t choose(bits *bits, int64_t *permutation, int64_t size, int64_t i)
{
    const uint64_t below = (uint64_t)(size - i);
    const int64_t j = i + (int64_t)((bits->next_uint32(bits->state) * below) >> 32);
    const int64_t chosen = permutation[j];
    permutation[j] = permutation[i];
    permutation[i] = chosen;
    return chosen;
}

/* Draws `n` indices by this shuffle; returns their sum, so that none is left out. */
int64_t limit_shuffle(bits *bits, int64_t *permutation, int64_t size, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += choose(bits, permutation, size, i);
    return sum;
}

/* Draws `n` indices by this shuffle, and adds up each row. */
void limit_shuffle_gather_10(bits *bits, int64_t *permutation, int64_t size,
                             const double *matrix, int64_t n, double *sum, double *square)
{
    double s[10] = {0}, q[10] = {0};
    for (int64_t i = 0; i < n; i++) {
        const int64_t chosen = choose(bits, permutation, size, i);
        const double *row = matrix + chosen * 10;
        for (int c = 0; c < 10; c++) {
            s[c] += row[c];
            q[c] += row[c] * row[c];
        }
    }
    for (int c = 0; c < 10; c++) {
        sum[c] = s[c];
        square[c] = q[c];
    }
}

/* The same with any number of columns. */
void limit_shuffle_gather(bits *bits, int64_t *permutation, int64_t size, const double *matrix,
                          int64_t stride, int64_t n, double *sum, double *square)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t chosen = choose(bits, permutation, size, i);
        const double *row = matrix + chosen * stride;
        for (int64_t c = 0; c < stride; c++) {
            sum[c] += row[c];
            square[c] += row[c] * row[c];
        }
    }
}

/* The same for one column: its sum and sum of squares. */
void limit_shuffle_gather_1(bits *bits, int64_t *permutation, int64_t size,
                            const double *values, int64_t n, double *moments)
{
    double sum = 0.0, square = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t chosen = choose(bits, permutation, size, i);
        sum += values[chosen];
        square += values[chosen] * values[chosen];
    }
    moments[0] = sum;
    moments[1] = square;
}

/* Column sums of the whole matrix, which the best exact sampler reads at every draw. */
void limit_stream_10(const double *matrix, int64_t n, double *sum)
{
    double s[10] = {0};
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 10; c++)
            s[c] += matrix[i * 10 + c];
    for (int c = 0; c < 10; c++)
        sum[c] = s[c];
}

/* The same with two columns, in eight sums. */
void limit_stream_2(const double *matrix, int64_t n, double *sum)
{
    double s[8] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int c = 0; c < 8; c++)
            s[c] += matrix[2 * i + c];
    for (; i < n; i++)
        for (int c = 0; c < 2; c++)
            s[c] += matrix[2 * i + c];
    for (int c = 0; c < 2; c++)
        sum[c] = (s[c] + s[c + 2]) + (s[c + 4] + s[c + 6]);
}

/* The same with any number of columns. */
void limit_stream(const double *matrix, int64_t n, int64_t stride, double *sum)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < stride; c++)
            sum[c] += matrix[i * stride + c];
}

/*
 * Multiplies the wealth of sixteen constant bets against `mean`, in one pass over the values: the
 * arithmetic that a betting bound cannot avoid.
 */
void limit_bets_16(const double *values, int64_t n, double mean, const double *bets,
                   double *capital)
{
    double c[16];
    for (int g = 0; g < 16; g++)
        c[g] = 1.0;
    for (int64_t i = 0; i < n; i++) {
        const double edge = values[i] - mean;
        for (int g = 0; g < 16; g++)
            c[g] *= 1.0 + bets[g] * edge;
    }
    for (int g = 0; g < 16; g++)
        capital[g] = c[g];
}

/* Adds up `n` rewards, one per arm in turn, as every policy must. */
void limit_add_rewards(const double *rewards, int64_t n_rewards, int64_t n, double *sums,
                       int64_t *pulls, int64_t n_arms)
{
    int64_t arm = 0, j = 0;
    for (int64_t i = 0; i < n; i++) {
        sums[arm] += rewards[j];
        pulls[arm]++;
        if (++arm == n_arms)
            arm = 0;
        if (++j == n_rewards)
            j = 0;
    }
}

/* Reads and adds up each row of a likelihood `repeats` times. */
double limit_margins(const double *margins, const double *column, int64_t n, int64_t repeats)
{
    double sums[8] = {0};
    for (int64_t k = 0; k < repeats; k++) {
        const double step = 1e-3 * (double)k;
        for (int64_t i = 0; i + 8 <= n; i += 8)
            for (int lane = 0; lane < 8; lane++)
                sums[lane] += margins[i + lane] + step * column[i + lane];
    }
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

/* Reads and writes `n` numbers once, as a rank-one update of a covariance does. */
void limit_update(double *values, int64_t n, double step)
{
    for (int64_t i = 0; i < n; i++)
        values[i] -= step;
}

/* Reads `n` rows of 20 numbers once, each multiplied by another 20. */
void limit_dot_20(const double *matrix, int64_t n, const double *vector, double *products)
{
    for (int64_t i = 0; i < n; i++) {
        double lanes[4] = {0};
        for (int j = 0; j < 20; j += 4)
            for (int lane = 0; lane < 4; lane++)
                lanes[lane] += matrix[i * 20 + j + lane] * vector[j + lane];
        products[i] = lanes[0] + lanes[1] + lanes[2] + lanes[3];
    }
}

/*
 * Advances a density on `n` points by `n_looks` looks: an exponential and a product for each
 * pair of points and look, as one evaluation of the error of a boundary needs.
 */
void limit_first_passage(const double *points, int64_t n, int64_t n_looks, double *density,
                         double *next)
{
    for (int64_t t = 0; t < n_looks; t++) {
        for (int64_t j = 0; j < n; j++) {
            double total = 0.0;
            for (int64_t i = 0; i < n; i++) {
                const double x = points[j] - 0.7 * points[i];
                total += density[i] * exp(-0.5 * x * x);
            }
            next[j] = total / (double)n;
        }
        for (int64_t i = 0; i < n; i++)
            density[i] = next[i];
    }
}
