/*
 * Column sums of a whole table in one pass over memory (pybandit/racing/totals.h).
 *
 * Rows are summed in tiles from 0, and tiles are added to the totals: the total of many rows is
 * much larger, and adding small rows to it one by one would round them away. Floating-point cells
 * are summed in the same order whatever their type, so the sums of equal values are equal.
 */
#include "pybandit/racing/totals.h"

#include <stddef.h>

#include "../_shared/minimum.h"
#include "groups.h"

enum {
    TILE = 128,      /* rows that are summed from 0 */
    ACROSS = 256,    /* columns whose sums stay in the first cache, if there are many columns */
    COUNTERS = 256,  /* 16-bit sums that are kept at a time */
    LAST = 255,      /* cells of one byte that a 16-bit sum can hold */
};

/* LANES cells of a row as a vector; a macro because a function may not return a vector */
#define ANY_CELLS(row, entry)                                                       \
    FOUR(pb_cells_at(row, type, (entry)[0]), pb_cells_at(row, type, (entry)[1]),    \
         pb_cells_at(row, type, (entry)[2]), pb_cells_at(row, type, (entry)[3]))
#define CELLS(row, entry)                                                           \
    (contiguous && type == PB_FLOAT64   ? LOAD((const double *)(row) + (entry)[0])  \
     : contiguous && type == PB_FLOAT32 ? LOAD_FLOATS((const float *)(row) + (entry)[0]) \
                                        : ANY_CELLS(row, entry))

ALWAYS_INLINE double base_of(const void *row, int64_t reference, const pb_cell_type type)
{
    return reference < 0 ? 0.0 : pb_cells_at(row, type, reference);
}

/* Adds a tile of rows, `step` bytes apart, to the totals of a group of columns. */
ALWAYS_INLINE void add_group(const char *rows, int64_t n_rows, int64_t step, const group *g,
                             const int n_vectors, const int contiguous, const int64_t reference,
                             const pb_cell_type type, double *sum)
{
    /* two independent sums hide the latency of an addition */
    vector even[GROUP], odd[GROUP], total[GROUP];
    for (int v = 0; v < GROUP; v++)
        even[v] = odd[v] = total[v] = ALL(0.0);
    int64_t r = 0;
    for (; r + 2 <= n_rows; r += 2) {
        const char *row = rows + r * step, *next = row + step;
        const double base = base_of(row, reference, type);
        const double next_base = base_of(next, reference, type);
        UNROLL
        for (int v = 0; v < n_vectors; v++) {
            const vector here = CELLS(row, g->entry[v]), there = CELLS(next, g->entry[v]);
            EACH even[v] L += base - here L;
            EACH odd[v] L += next_base - there L;
        }
    }
    const char *last = rows + (n_rows - 1) * step;
    const double base = base_of(last, reference, type);
    UNROLL
    for (int v = 0; v < n_vectors; v++) {
        if (r < n_rows) {
            const vector here = CELLS(last, g->entry[v]);
            EACH even[v] L += base - here L;
        }
        gather(total + v, sum, g->position[v]);
        EACH total[v] L += even[v] L + odd[v] L;
    }
    scatter(sum, total, g);
}

ALWAYS_INLINE void add_groups(const char *rows, int64_t n_rows, int64_t step,
                              const int64_t *columns, int64_t n_columns, const int contiguous,
                              const int64_t reference, const pb_cell_type type, double *sum)
{
    for (int64_t first = 0; first < n_columns; first += GROUP * LANES) {
        const group g = make_group(first, columns, n_columns, GROUP);
        switch (g.n_vectors) {
        case 1: add_group(rows, n_rows, step, &g, 1, contiguous, reference, type, sum); break;
        case 2: add_group(rows, n_rows, step, &g, 2, contiguous, reference, type, sum); break;
        case 3: add_group(rows, n_rows, step, &g, 3, contiguous, reference, type, sum); break;
        default: add_group(rows, n_rows, step, &g, 4, contiguous, reference, type, sum); break;
        }
    }
}

/*
 * Returns the first column of vector v of a part of a row. The last vector may repeat columns; if
 * the part has fewer than LANES, it begins before the part.
 */
ALWAYS_INLINE int64_t column_at(int64_t v, int64_t n_columns)
{
    return minimum(v * LANES, n_columns - LANES);
}

/*
 * Adds up to ACROSS columns of a tile of contiguous rows to their totals, row by row: memory is
 * read in order, and the sums stay in the first cache. Each column is summed as by `add_group`.
 * Rows have at least LANES columns, of which the part begins at `first`.
 */
ALWAYS_INLINE void add_across(const char *rows, int64_t n_rows, int64_t step, int64_t first,
                              int64_t n_columns, const int64_t reference, const pb_cell_type type,
                              double *sum)
{
    static const int64_t lanes[LANES] = {0, 1, 2, 3};
    const int contiguous = 1;
    const int64_t size = pb_cells_size(type), n_vectors = (n_columns + LANES - 1) / LANES;
    vector even[ACROSS / LANES], odd[ACROSS / LANES];
    for (int64_t v = 0; v < n_vectors; v++)
        even[v] = odd[v] = ALL(0.0);
    for (int64_t r = 0; r < n_rows; r++) {
        const char *const row = rows + r * step;
        const double base = base_of(row, reference, type);
        vector *const part = r % 2 ? odd : even;
        for (int64_t v = 0; v < n_vectors; v++) {
            const char *const at = row + (first + column_at(v, n_columns)) * size;
            const vector here = CELLS(at, lanes);
            EACH part[v] L += base - here L;
        }
    }
    for (int64_t v = 0; v < n_vectors; v++) {
        EACH even[v] L += odd[v] L;
        for (int64_t lane = v * LANES - column_at(v, n_columns); lane < LANES; lane++)
            sum[first + column_at(v, n_columns) + lane] += LANE(even[v], lane);
    }
}

ALWAYS_INLINE void stream(const char *rows, int64_t n_rows, int64_t stride,
                          const int64_t *columns, int64_t n_columns, int64_t reference,
                          const pb_cell_type type, double *sum)
{
    const int64_t step = stride * pb_cells_size(type);
    const int contiguous = columns == NULL && n_columns >= LANES;
    for (int64_t r = 0; r < n_rows; r += TILE) {
        const int64_t count = minimum(TILE, n_rows - r);
        const char *const tile = rows + r * step;
        if (contiguous && n_columns > GROUP * LANES) {
            for (int64_t first = 0; first < n_columns; first += ACROSS)
                add_across(tile, count, step, first, minimum(ACROSS, n_columns - first), reference,
                           type, sum);
        } else if (contiguous) {
            add_groups(tile, count, step, NULL, n_columns, 1, reference, type, sum);
        } else {
            add_groups(tile, count, step, columns, n_columns, 0, reference, type, sum);
        }
    }
}

WIDE static void stream_doubles(const void *cells, int64_t n_rows, int64_t stride,
                                const int64_t *columns, int64_t n_columns, int64_t reference,
                                double *sum)
{
    stream(cells, n_rows, stride, columns, n_columns, reference, PB_FLOAT64, sum);
}

WIDE static void stream_floats(const void *cells, int64_t n_rows, int64_t stride,
                               const int64_t *columns, int64_t n_columns, int64_t reference,
                               double *sum)
{
    stream(cells, n_rows, stride, columns, n_columns, reference, PB_FLOAT32, sum);
}

static void stream_few_bytes(const void *cells, pb_cell_type type, int64_t n_rows, int64_t stride,
                             const int64_t *columns, int64_t n_columns, int64_t reference,
                             double *sum)
{
    if (type == PB_UINT8)
        stream(cells, n_rows, stride, columns, n_columns, reference, PB_UINT8, sum);
    else
        stream(cells, n_rows, stride, columns, n_columns, reference, PB_INT8, sum);
}

/* Adds a tile of rows of two columns: a vector holds two rows. */
ALWAYS_INLINE void add_pairs(const char *rows, int64_t n_rows, const int reference,
                             const pb_cell_type type, double *sum)
{
    static const int64_t entries[2][LANES] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    const int contiguous = 1;
    vector totals[2] = {ALL(0.0), ALL(0.0)};
    double rest[2] = {0.0, 0.0};
    int64_t r = 0;
    for (; r + 4 <= n_rows; r += 4) {
        UNROLL
        for (int k = 0; k < 2; k++) {
            const vector pair = CELLS(rows + 2 * r * pb_cells_size(type), entries[k]);
            vector base = ALL(0.0);
            if (reference == 0)
                base = FOUR(LANE(pair, 0), LANE(pair, 0), LANE(pair, 2), LANE(pair, 2));
            if (reference == 1)
                base = FOUR(LANE(pair, 1), LANE(pair, 1), LANE(pair, 3), LANE(pair, 3));
            EACH totals[k] L += base L - pair L;
        }
    }
    for (; r < n_rows; r++)
        for (int c = 0; c < 2; c++)
            rest[c] += (reference < 0 ? 0.0 : pb_cells_at(rows, type, 2 * r + reference)) -
                       pb_cells_at(rows, type, 2 * r + c);
    EACH totals[0] L += totals[1] L;
    for (int c = 0; c < 2; c++)
        sum[c] += (LANE(totals[0], c) + LANE(totals[0], c + 2)) + rest[c];
}

ALWAYS_INLINE void stream_pairs(const char *rows, int64_t n_rows, int64_t reference,
                                const pb_cell_type type, double *sum)
{
    for (int64_t r = 0; r < n_rows; r += TILE) {
        const char *const tile = rows + 2 * r * pb_cells_size(type);
        const int64_t count = minimum(TILE, n_rows - r);
        if (reference < 0)
            add_pairs(tile, count, -1, type, sum);
        else if (reference == 0)
            add_pairs(tile, count, 0, type, sum);
        else
            add_pairs(tile, count, 1, type, sum);
    }
}

WIDE static void stream_two_doubles(const void *cells, int64_t n_rows, int64_t reference,
                                    double *sum)
{
    stream_pairs(cells, n_rows, reference, PB_FLOAT64, sum);
}

WIDE static void stream_two_floats(const void *cells, int64_t n_rows, int64_t reference,
                                   double *sum)
{
    stream_pairs(cells, n_rows, reference, PB_FLOAT32, sum);
}

/* Adds n_groups times `length` bytes, `step` bytes apart, to 16-bit sums. */
#define COUNT(type, counter)                                      \
    do {                                                          \
        counter *const out = (counter *)sums;                     \
        for (int64_t i = 0; i < n_groups; i++) {                  \
            const type *const in = (const type *)from + i * step; \
            for (int64_t c = 0; c < length; c++)                  \
                out[c] = (counter)(out[c] + in[c]);               \
        }                                                         \
    } while (0)

WIDE static void count_uint8(const void *from, int64_t n_groups, int64_t step, int64_t length,
                             int16_t *sums)
{
    COUNT(uint8_t, uint16_t);
}

WIDE static void count_int8(const void *from, int64_t n_groups, int64_t step, int64_t length,
                            int16_t *sums)
{
    COUNT(int8_t, int16_t);
}

static int64_t integer_at(const char *cells, pb_cell_type type, int64_t at)
{
    return type == PB_UINT8 ? ((const uint8_t *)cells)[at] : ((const int8_t *)cells)[at];
}

/* Returns how many rows of n_columns bytes to add up as one: a multiple of 16 bytes if any is. */
static int64_t rows_together(int64_t n_columns)
{
    int64_t rows = COUNTERS / n_columns;
    for (int64_t fewer = rows; fewer > rows / 2; fewer--)
        if (fewer * n_columns % 16 == 0)
            return fewer;
    return rows > 1 ? rows : 1;
}

/* Adds up to LAST * together rows of `width` columns, of which `together` are added up as one. */
static void add_bytes(const char *rows, pb_cell_type type, int64_t n_rows, int64_t stride,
                      int64_t width, int64_t together, int64_t reference, int64_t base,
                      double *sum)
{
    int16_t counts[COUNTERS] = {0};
    int64_t totals[COUNTERS] = {0};
    const int64_t n_groups = n_rows / together, length = together * width;
    if (type == PB_UINT8)
        count_uint8(rows, n_groups, together * stride, length, counts);
    else
        count_int8(rows, n_groups, together * stride, length, counts);
    for (int64_t at = 0; at < length; at += width)
        for (int64_t c = 0; c < width; c++)
            totals[c] += type == PB_UINT8 ? (uint16_t)counts[at + c] : counts[at + c];
    for (int64_t r = n_groups * together; r < n_rows; r++)
        for (int64_t c = 0; c < width; c++)
            totals[c] += integer_at(rows, type, r * stride + c);
    if (reference >= 0)
        base = totals[reference];
    for (int64_t c = 0; c < width; c++)
        sum[c] += (double)(base - totals[c]);
}

/* Returns the sum of a column of bytes. */
static int64_t column_of(const char *rows, pb_cell_type type, int64_t n_rows, int64_t stride,
                         int64_t column)
{
    int64_t total = 0;
    for (int64_t r = 0; r < n_rows; r++)
        total += integer_at(rows, type, r * stride + column);
    return total;
}

static void stream_bytes(const char *rows, pb_cell_type type, int64_t n_rows, int64_t stride,
                         int64_t n_columns, int64_t reference, double *sum)
{
    const int whole = stride == n_columns && n_columns <= COUNTERS;
    const int64_t together = whole ? rows_together(n_columns) : 1;
    for (int64_t r = 0; r < n_rows; r += LAST * together) {
        const int64_t count = minimum(LAST * together, n_rows - r);
        const char *const tile = rows + r * stride;
        if (whole) {
            add_bytes(tile, type, count, stride, n_columns, together, reference, 0, sum);
            continue;
        }
        const int64_t base =
            reference < 0 ? 0 : column_of(tile, type, count, stride, reference);
        for (int64_t c = 0; c < n_columns; c += COUNTERS)
            add_bytes(tile + c, type, count, stride, minimum(COUNTERS, n_columns - c), 1, -1, base,
                      sum + c);
    }
}

void pb_totals_add(const void *cells, pb_cell_type type, int64_t n_rows, int64_t stride,
                   const int64_t *columns, int64_t n_columns, int64_t reference, double *sum)
{
    const int is_byte = type == PB_UINT8 || type == PB_INT8;
    const int are_two = columns == NULL && n_columns == 2 && stride == 2;
    if (is_byte && columns == NULL)
        stream_bytes(cells, type, n_rows, stride, n_columns, reference, sum);
    else if (is_byte)
        stream_few_bytes(cells, type, n_rows, stride, columns, n_columns, reference, sum);
    else if (are_two && type == PB_FLOAT32)
        stream_two_floats(cells, n_rows, reference, sum);
    else if (are_two)
        stream_two_doubles(cells, n_rows, reference, sum);
    else if (type == PB_FLOAT32)
        stream_floats(cells, n_rows, stride, columns, n_columns, reference, sum);
    else
        stream_doubles(cells, n_rows, stride, columns, n_columns, reference, sum);
}
