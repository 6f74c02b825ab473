/*
 * The hot loops of the library: every reward that is read passes here once.
 *
 * A tile of rows is taken a few columns at a time, so that their moments stay
 * in registers while the rows, fetched by the first group of columns, are in
 * the first-level cache for the next. `width` and `contiguous` are constants at
 * every call of the inline functions: the inner loops unroll and vectorise.
 */
#include "pybandit/moments.h"

#include <stddef.h>

#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

enum { TILE = 128 };  /* rows a pass of pb_moments_stream keeps in cache */

static int64_t entry(const int64_t *columns, int64_t i) { return columns ? columns[i] : i; }

static double difference(const double *row, int64_t reference, int64_t column)
{
    return (reference < 0 ? 0.0 : row[reference]) - row[column];
}

ALWAYS_INLINE void add_columns(pb_moments *m, const double *const *rows, int64_t n_rows,
                               int64_t first, const int width, const int contiguous,
                               const int referenced)
{
    double sum[8], square[8], shift[8];
    int64_t column[8];
    for (int w = 0; w < width; w++) {
        sum[w] = m->sum[first + w];
        square[w] = m->square[first + w];
        shift[w] = m->shift[first + w];
        column[w] = contiguous ? first + w : m->columns[first + w];
    }
    for (int64_t r = 0; r < n_rows; r++) {
        const double *row = rows[r];
        const double base = referenced ? row[m->reference] : 0.0;
        for (int w = 0; w < width; w++) {
            const double d = base - row[contiguous ? first + w : column[w]] - shift[w];
            sum[w] += d;
            square[w] += d * d;
        }
    }
    for (int w = 0; w < width; w++) {
        m->sum[first + w] = sum[w];
        m->square[first + w] = square[w];
    }
}

ALWAYS_INLINE void add_rows(pb_moments *m, const double *const *rows, int64_t n_rows,
                            const int contiguous, const int referenced)
{
    int64_t i = 0;
    for (; i + 8 <= m->n_columns; i += 8)
        add_columns(m, rows, n_rows, i, 8, contiguous, referenced);
    if (i + 4 <= m->n_columns) {
        add_columns(m, rows, n_rows, i, 4, contiguous, referenced);
        i += 4;
    }
    if (i + 2 <= m->n_columns) {
        add_columns(m, rows, n_rows, i, 2, contiguous, referenced);
        i += 2;
    }
    if (i < m->n_columns)
        add_columns(m, rows, n_rows, i, 1, contiguous, referenced);
}

void pb_moments_add(pb_moments *moments, const double *const *rows, int64_t n_rows)
{
    if (n_rows == 0)
        return;
    if (moments->count == 0)
        for (int64_t i = 0; i < moments->n_columns; i++) {
            moments->shift[i] =
                difference(rows[0], moments->reference, entry(moments->columns, i));
            moments->sum[i] = moments->square[i] = 0.0;
        }
    if (moments->columns && moments->reference >= 0)
        add_rows(moments, rows, n_rows, 0, 1);
    else if (moments->columns)
        add_rows(moments, rows, n_rows, 0, 0);
    else if (moments->reference >= 0)
        add_rows(moments, rows, n_rows, 1, 1);
    else
        add_rows(moments, rows, n_rows, 1, 0);
    moments->count += n_rows;
}

double pb_moments_mean(const pb_moments *moments, int64_t column)
{
    return moments->shift[column] + moments->sum[column] / (double)moments->count;
}

double pb_moments_variance(const pb_moments *moments, int64_t column)
{
    const double n = (double)moments->count;
    const double mean = moments->sum[column] / n;
    const double variance = moments->square[column] / n - mean * mean;
    return variance > 0.0 ? variance : 0.0;
}

ALWAYS_INLINE void stream_columns(const double *matrix, int64_t n_rows, int64_t stride,
                                  const int64_t *columns, double *sum, int64_t first,
                                  const int width, const int contiguous)
{
    double even[8] = {0.0}, odd[8] = {0.0};  /* two chains hide the latency of an addition */
    int64_t column[8];
    for (int w = 0; w < width; w++)
        column[w] = contiguous ? first + w : columns[first + w];
    int64_t r = 0;
    for (; r + 2 <= n_rows; r += 2) {
        const double *row = matrix + r * stride, *next = row + stride;
        for (int w = 0; w < width; w++) {
            even[w] += row[contiguous ? first + w : column[w]];
            odd[w] += next[contiguous ? first + w : column[w]];
        }
    }
    if (r < n_rows)
        for (int w = 0; w < width; w++)
            even[w] += matrix[r * stride + column[w]];
    for (int w = 0; w < width; w++)
        sum[first + w] += even[w] + odd[w];
}

ALWAYS_INLINE void stream_rows(const double *matrix, int64_t n_rows, int64_t stride,
                               const int64_t *columns, int64_t n_columns, double *sum,
                               const int contiguous)
{
    int64_t i = 0;
    for (; i + 8 <= n_columns; i += 8)
        stream_columns(matrix, n_rows, stride, columns, sum, i, 8, contiguous);
    if (i + 4 <= n_columns) {
        stream_columns(matrix, n_rows, stride, columns, sum, i, 4, contiguous);
        i += 4;
    }
    if (i + 2 <= n_columns) {
        stream_columns(matrix, n_rows, stride, columns, sum, i, 2, contiguous);
        i += 2;
    }
    if (i < n_columns)
        stream_columns(matrix, n_rows, stride, columns, sum, i, 1, contiguous);
}

void pb_moments_stream(const double *matrix, int64_t n_rows, int64_t stride,
                       const int64_t *columns, int64_t n_columns, double *sum)
{
    for (int64_t r = 0; r < n_rows; r += TILE) {
        const int64_t count = n_rows - r < TILE ? n_rows - r : TILE;
        if (columns)
            stream_rows(matrix + r * stride, count, stride, columns, n_columns, sum, 0);
        else
            stream_rows(matrix + r * stride, count, stride, NULL, n_columns, sum, 1);
    }
}

void pb_moments_extremes(const double *const *rows, int64_t n_rows, int64_t reference,
                         const int64_t *columns, int64_t n_columns,
                         double *low, double *high)
{
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t i = 0; i < n_columns; i++) {
            const double d = difference(rows[r], reference, entry(columns, i));
            low[i] = d < low[i] ? d : low[i];
            high[i] = d > high[i] ? d : high[i];
        }
}
