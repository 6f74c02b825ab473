/*
 * Hot loops of the races that use moments: every reward that they read is added up here.
 *
 * A vector holds four columns, and up to four vectors are processed at a time, so that
 * their moments stay in registers for a whole tile of rows. On ten columns, 256-bit
 * instructions take half the time of 128-bit ones.
 */
#include "pybandit/racing/moments.h"

#include "../_shared/wide.h"

#include <stddef.h>
#include <string.h>

enum {
    GROUP = 4,  /* vectors whose first two moments fit into registers */
    CUBED = 3,  /* vectors whose first three moments fit into registers */
    TILE = 128  /* rows that stay in cache from one group of columns to the next */
};

/*
 * Up to GROUP vectors of columns. The last vector may repeat columns of the one before;
 * only its lanes fresh <= lane < end are stored.
 */
typedef struct {
    int n_vectors;
    int64_t position[GROUP][LANES];  /* among the columns */
    int64_t entry[GROUP][LANES];     /* in a row */
    int fresh[GROUP], end[GROUP];
} group;

static group make_group(int64_t first, const int64_t *columns, int64_t n_columns, int most)
{
    group g = {.n_vectors = 0};
    for (int v = 0; v < most && first + v * LANES < n_columns; v++) {
        const int64_t wanted = first + v * LANES;
        const int64_t start = wanted + LANES <= n_columns ? wanted
                              : n_columns >= LANES        ? n_columns - LANES
                                                          : 0;
        g.fresh[v] = (int)(wanted - start);
        g.end[v] = n_columns - start < LANES ? (int)(n_columns - start) : LANES;
        for (int lane = 0; lane < LANES; lane++) {
            const int64_t position = start + (lane < g.end[v] ? lane : 0);
            g.position[v][lane] = position;
            g.entry[v][lane] = columns ? columns[position] : position;
        }
        g.n_vectors++;
    }
    return g;
}

/* LANES entries of a row as a vector; a macro because a function may not return a vector */
#define GATHER(row, entry) \
    FOUR((row)[(entry)[0]], (row)[(entry)[1]], (row)[(entry)[2]], (row)[(entry)[3]])
/* GATHER, or one unaligned load if the entries are contiguous */
#define ENTRIES(row, entry) (contiguous ? LOAD((row) + (entry)[0]) : GATHER(row, entry))

static void gather(vector *out, const double *moments, const int64_t *position)
{
    double lanes[LANES];
    for (int lane = 0; lane < LANES; lane++)
        lanes[lane] = moments[position[lane]];
    memcpy(out, lanes, sizeof *out);
}

ALWAYS_INLINE void scatter(double *moments, const vector *in, const group *g)
{
    for (int v = 0; v < g->n_vectors; v++)
        for (int lane = g->fresh[v]; lane < g->end[v]; lane++)
            moments[g->position[v][lane]] = LANE(in[v], lane);
}

/* Sums of a group; returned so that the code that scatters them is not in every loop. */
typedef struct {
    vector sum[GROUP], square[GROUP], cube[GROUP];
} added;

ALWAYS_INLINE void add_group(pb_moments *m, const double *const *rows, int64_t n_rows,
                             const group *g, added *out, const int n_vectors,
                             const int contiguous, const int referenced, const int cubed)
{
    vector sum[GROUP], square[GROUP], cube[GROUP], shift[GROUP];
    UNROLL
    for (int v = 0; v < n_vectors; v++) {
        gather(&sum[v], m->sum, g->position[v]);
        gather(&square[v], m->square, g->position[v]);
        gather(&shift[v], m->shift, g->position[v]);
        if (cubed)
            gather(&cube[v], m->cube, g->position[v]);
    }
    for (int64_t r = 0; r < n_rows; r++) {
        const double base = referenced ? rows[r][m->reference] : 0.0;
        UNROLL
        for (int v = 0; v < n_vectors; v++) {
            const vector entries = ENTRIES(rows[r], g->entry[v]);
            VECTOR(d, base - entries L - shift[v] L);
            VECTOR(dd, d L * d L);
            EACH sum[v] L += d L;
            EACH square[v] L += dd L;
            if (cubed)
                EACH cube[v] L += dd L * d L;
        }
    }
    UNROLL
    for (int v = 0; v < n_vectors; v++) {
        out->sum[v] = sum[v];
        out->square[v] = square[v];
        if (cubed)
            out->cube[v] = cube[v];
    }
}

ALWAYS_INLINE void add_kind(pb_moments *m, const double *const *rows, int64_t n_rows,
                            const group *g, added *out, const int contiguous,
                            const int referenced, const int cubed)
{
    switch (g->n_vectors) {
    case 1: add_group(m, rows, n_rows, g, out, 1, contiguous, referenced, cubed); break;
    case 2: add_group(m, rows, n_rows, g, out, 2, contiguous, referenced, cubed); break;
    case 3: add_group(m, rows, n_rows, g, out, 3, contiguous, referenced, cubed); break;
    default: add_group(m, rows, n_rows, g, out, 4, contiguous, referenced, 0); break;
    }
}

ALWAYS_INLINE void add_groups(pb_moments *m, const double *const *rows, int64_t n_rows,
                              const int cubed)
{
    const int contiguous = m->columns == NULL && m->n_columns >= LANES;
    const int most = cubed ? CUBED : GROUP;
    for (int64_t first = 0; first < m->n_columns; first += most * LANES) {
        const group g = make_group(first, m->columns, m->n_columns, most);
        added out;
        if (contiguous && m->reference >= 0)
            add_kind(m, rows, n_rows, &g, &out, 1, 1, cubed);
        else if (contiguous)
            add_kind(m, rows, n_rows, &g, &out, 1, 0, cubed);
        else if (m->reference >= 0)
            add_kind(m, rows, n_rows, &g, &out, 0, 1, cubed);
        else
            add_kind(m, rows, n_rows, &g, &out, 0, 0, cubed);
        scatter(m->sum, out.sum, &g);
        scatter(m->square, out.square, &g);
        if (cubed)
            scatter(m->cube, out.cube, &g);
    }
}

WIDE static void add_rows(pb_moments *m, const double *const *rows, int64_t n_rows)
{
    if (m->cube)
        add_groups(m, rows, n_rows, 1);
    else
        add_groups(m, rows, n_rows, 0);
}

static double difference(const double *row, int64_t reference, int64_t column)
{
    return (reference < 0 ? 0.0 : row[reference]) - row[column];
}

static int64_t entry_of(const int64_t *columns, int64_t i) { return columns ? columns[i] : i; }

void pb_moments_add(pb_moments *moments, const double *const *rows, int64_t n_rows)
{
    if (n_rows == 0)
        return;
    if (moments->count == 0)
        for (int64_t i = 0; i < moments->n_columns; i++) {
            moments->shift[i] =
                difference(rows[0], moments->reference, entry_of(moments->columns, i));
            moments->sum[i] = moments->square[i] = 0.0;
            if (moments->cube)
                moments->cube[i] = 0.0;
        }
    add_rows(moments, rows, n_rows);
    moments->count += n_rows;
}

/*
 * Sums a tile from 0, then adds it to the total: the total of many rows is much larger, and
 * adding small rows to it one by one would round them away.
 */
ALWAYS_INLINE void stream_group(const double *matrix, int64_t n_rows, int64_t stride,
                                const group *g, const int n_vectors, const int contiguous,
                                const int64_t reference, const double *sum, vector *total)
{
    /* two independent sums hide the latency of an addition */
    vector even[GROUP], odd[GROUP];
    for (int v = 0; v < GROUP; v++)
        even[v] = odd[v] = ALL(0.0);
    int64_t r = 0;
    for (; r + 2 <= n_rows; r += 2) {
        const double *row = matrix + r * stride, *next = row + stride;
        const double base = reference < 0 ? 0.0 : row[reference];
        const double next_base = reference < 0 ? 0.0 : next[reference];
        UNROLL
        for (int v = 0; v < n_vectors; v++) {
            const vector here = ENTRIES(row, g->entry[v]), there = ENTRIES(next, g->entry[v]);
            EACH even[v] L += base - here L;
            EACH odd[v] L += next_base - there L;
        }
    }
    const double *last = matrix + (n_rows - 1) * stride;
    const double base = reference < 0 ? 0.0 : last[reference];
    UNROLL
    for (int v = 0; v < n_vectors; v++) {
        if (r < n_rows) {
            const vector here = ENTRIES(last, g->entry[v]);
            EACH even[v] L += base - here L;
        }
        gather(total + v, sum, g->position[v]);
        EACH total[v] L += even[v] L + odd[v] L;
    }
}

ALWAYS_INLINE void stream_kind(const double *matrix, int64_t n_rows, int64_t stride,
                               const group *g, const int contiguous, const int64_t reference,
                               const double *sum, vector *out)
{
    switch (g->n_vectors) {
    case 1: stream_group(matrix, n_rows, stride, g, 1, contiguous, reference, sum, out); break;
    case 2: stream_group(matrix, n_rows, stride, g, 2, contiguous, reference, sum, out); break;
    case 3: stream_group(matrix, n_rows, stride, g, 3, contiguous, reference, sum, out); break;
    default: stream_group(matrix, n_rows, stride, g, 4, contiguous, reference, sum, out); break;
    }
}

WIDE void pb_moments_stream(const double *matrix, int64_t n_rows, int64_t stride,
                            const int64_t *columns, int64_t n_columns, int64_t reference,
                            double *sum)
{
    const int contiguous = columns == NULL && n_columns >= LANES;
    for (int64_t r = 0; r < n_rows; r += TILE) {
        const double *const tile = matrix + r * stride;
        const int64_t count = n_rows - r < TILE ? n_rows - r : TILE;
        for (int64_t first = 0; first < n_columns; first += GROUP * LANES) {
            const group g = make_group(first, columns, n_columns, GROUP);
            vector total[GROUP];
            if (contiguous && reference >= 0)
                stream_kind(tile, count, stride, &g, 1, reference, sum, total);
            else if (contiguous)
                stream_kind(tile, count, stride, &g, 1, -1, sum, total);
            else if (reference >= 0)
                stream_kind(tile, count, stride, &g, 0, reference, sum, total);
            else
                stream_kind(tile, count, stride, &g, 0, -1, sum, total);
            scatter(sum, total, &g);
        }
    }
}

void pb_moments_extremes(const double *const *rows, int64_t n_rows, int64_t reference,
                         const int64_t *columns, int64_t n_columns,
                         double *low, double *high)
{
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t i = 0; i < n_columns; i++) {
            const double d = difference(rows[r], reference, entry_of(columns, i));
            low[i] = d < low[i] ? d : low[i];
            high[i] = d > high[i] ? d : high[i];
        }
}
