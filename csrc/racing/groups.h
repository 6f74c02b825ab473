#ifndef GROUPS_H
#define GROUPS_H

/* Columns of a table in groups of vectors. Private to the kernels that add up rows. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../_shared/wide.h"

enum { GROUP = 4 };  /* vectors whose first two moments fit into registers */

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

static inline group make_group(int64_t first, const int64_t *columns, int64_t n_columns, int most)
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

static inline void gather(vector *out, const double *moments, const int64_t *position)
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

#endif
