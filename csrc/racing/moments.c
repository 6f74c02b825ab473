/*
 * Hot loops of the races that use moments: every reward that they read is added up here.
 *
 * A vector holds four columns, and up to four vectors are processed at a time, so that
 * their moments stay in registers for a whole tile of rows. On ten columns, 256-bit
 * instructions take half the time of 128-bit ones.
 */
#include "pybandit/racing/moments.h"

#include <stddef.h>

#include "groups.h"

enum { CUBED = 3 };  /* vectors whose first three moments fit into registers */

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
