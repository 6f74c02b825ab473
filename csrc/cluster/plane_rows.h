/*
 * Passes over rows of one type. Included twice by planes.c, which defines REAL and NAMED.
 * n_columns is a constant in calls for few columns, whose loops the compiler unrolls.
 */

/* Writes row i minus the anchor. */
ALWAYS_INLINE void NAMED(subtract)(const pb_distances *d, const REAL *rows, int64_t i,
                                   int64_t n_columns, const double *anchor, double *apart)
{
    if (!d->starts) {
        for (int64_t c = 0; c < n_columns; c++)
            apart[c] = (double)rows[i * n_columns + c] - anchor[c];
        return;
    }
    for (int64_t c = 0; c < n_columns; c++)
        apart[c] = 0.0 - anchor[c];
    for (int64_t k = d->starts[i]; k < d->starts[i + 1]; k++) {
        const int64_t c = column_at(d, k);
        if (c >= 0 && c < n_columns)
            apart[c] = (double)rows[k] - anchor[c];
    }
}

ALWAYS_INLINE void NAMED(pass_of)(pb_plane *plane, const pb_distances *d, const REAL *rows,
                                  int64_t n_columns, const double *weights)
{
    const int64_t n = d->n;
    double *const restrict anchor = plane->scratch, *const restrict apart = anchor + n_columns;
    double *const restrict far = plane->far, *const restrict near = plane->near;
    double *const restrict distances = plane->distances;
    double theta = 0.0, share = 0.0, inverse = 0.0;
    for (int64_t c = 0; c < n_columns; c++)
        far[c] = near[c] = apart[c] = 0.0;
    NAMED(subtract)(d, rows, plane->anchor, n_columns, apart, anchor);
    for (int64_t j = 0; j < n; j++) {
        const double weight = weights ? weights[j] : 1.0;
        NAMED(subtract)(d, rows, j, n_columns, anchor, apart);
        const double distance = sqrt(sum_of_squares(apart, n_columns));
        distances[j] = distance;
        theta += weight * distance;
        if (distance > plane->near_below) {
            const double share_of_row = weight / distance;
            inverse += share_of_row;
            for (int64_t c = 0; c < n_columns; c++)
                far[c] += share_of_row * apart[c];
            continue;
        }
        share += weight;
        if (distance > 0.0)
            for (int64_t c = 0; c < n_columns; c++)
                near[c] += weight / distance * apart[c];
    }
    const double total = (double)n;
    plane->theta = theta / total;
    plane->near_share = share / total;
    plane->inverse = inverse / total;
    for (int64_t c = 0; c < n_columns; c++) {
        far[c] /= total;
        near[c] /= total;
    }
}

/* Differences of a block of rows from the anchor by column, and weights divided by distances. */
typedef struct {
    double apart[FEW_COLUMNS][ROWS_AT_ONCE], distances[ROWS_AT_ONCE], shares[ROWS_AT_ONCE];
} NAMED(block);

/* Fills a block of m rows, in loops that compilers vectorise. */
ALWAYS_INLINE void NAMED(fill_block)(NAMED(block) *b, const REAL *rows, int64_t m,
                                     int64_t n_columns, const double *anchor,
                                     const double *weights)
{
    for (int64_t c = 0; c < n_columns; c++)
        for (int64_t r = 0; r < m; r++)
            b->apart[c][r] = (double)rows[r * n_columns + c] - anchor[c];
    for (int64_t r = 0; r < m; r++) {
        double sums[8] = {0.0};
        for (int64_t c = 0; c < n_columns; c++)
            sums[c] = b->apart[c][r] * b->apart[c][r];
        b->distances[r] = sqrt(add_eight(sums));
    }
    for (int64_t r = 0; r < m; r++)
        b->shares[r] = (weights ? weights[r] : 1.0) / b->distances[r];
}

/* The same as pass_of for dense rows of few columns, with the same bits. */
ALWAYS_INLINE void NAMED(pass_few)(pb_plane *plane, const pb_distances *d, const REAL *rows,
                                   int64_t n_columns, const double *weights)
{
    const double total = (double)d->n, near_below = plane->near_below;
    double theta = 0.0, share = 0.0, inverse = 0.0, anchor[FEW_COLUMNS];
    double far[FEW_COLUMNS] = {0.0}, near[FEW_COLUMNS] = {0.0};
    NAMED(block) b;
    for (int64_t c = 0; c < n_columns; c++)
        plane->scratch[c] = anchor[c] = (double)rows[plane->anchor * n_columns + c];
    for (int64_t first = 0; first < d->n; first += ROWS_AT_ONCE) {
        const int64_t m = minimum(ROWS_AT_ONCE, d->n - first);
        const double *const w = weights ? weights + first : NULL;
        NAMED(fill_block)(&b, rows + first * n_columns, m, n_columns, anchor, w);
        for (int64_t r = 0; r < m; r++) {
            const double weight = w ? w[r] : 1.0, distance = b.distances[r];
            plane->distances[first + r] = distance;
            theta += weight * distance;
            if (distance > near_below) {
                inverse += b.shares[r];
                for (int64_t c = 0; c < n_columns; c++)
                    far[c] += b.shares[r] * b.apart[c][r];
                continue;
            }
            share += weight;
            for (int64_t c = 0; c < n_columns; c++)
                near[c] += distance > 0.0 ? b.shares[r] * b.apart[c][r] : 0.0;
        }
    }
    plane->theta = theta / total;
    plane->near_share = share / total;
    plane->inverse = inverse / total;
    for (int64_t c = 0; c < n_columns; c++) {
        plane->far[c] = far[c] / total;
        plane->near[c] = near[c] / total;
    }
}

WIDE static void NAMED(pass)(pb_plane *plane, const pb_distances *d, const REAL *rows,
                             const double *weights)
{
    switch (d->starts ? 0 : d->n_columns) {
    case 1: NAMED(pass_few)(plane, d, rows, 1, weights); break;
    case 2: NAMED(pass_few)(plane, d, rows, 2, weights); break;
    case 3: NAMED(pass_few)(plane, d, rows, 3, weights); break;
    case 4: NAMED(pass_few)(plane, d, rows, 4, weights); break;
    default: NAMED(pass_of)(plane, d, rows, d->n_columns, weights); break;
    }
}

static void NAMED(part)(const pb_plane *plane, const pb_distances *d, const REAL *rows,
                        const double *weights, const int64_t *references, int64_t n, double *far,
                        double *weight_near, double *distance)
{
    const int64_t n_columns = d->n_columns;
    double *const restrict anchor = plane->scratch, *const restrict between = anchor + n_columns;
    for (int64_t r = 0; r < n; r++) {
        const int64_t j = references[r];
        const double apart = plane->distances[j], weight = weights ? weights[j] : 1.0;
        *distance += weight * apart;
        if (apart > plane->near_below) {
            const double share = weight / apart;
            NAMED(subtract)(d, rows, j, n_columns, anchor, between);
            for (int64_t c = 0; c < n_columns; c++)
                far[c] += share * between[c];
        } else {
            *weight_near += weight;
        }
    }
}

ALWAYS_INLINE void NAMED(products_of)(const pb_plane *plane, const pb_distances *d,
                                      const REAL *rows, int64_t n_columns, const double *vector,
                                      const int64_t *indices, int64_t n, double *products)
{
    double *const restrict anchor = plane->scratch, *const restrict apart = anchor + n_columns;
    for (int64_t i = 0; i < n; i++) {
        double sums[8] = {0.0};
        int64_t c = 0;
        NAMED(subtract)(d, rows, indices[i], n_columns, anchor, apart);
        for (; c + 8 <= n_columns; c += 8)
            for (int k = 0; k < 8; k++)
                sums[k] += apart[c + k] * vector[c + k];
        for (int k = 0; c < n_columns; c++, k++)
            sums[k] += apart[c] * vector[c];
        products[i] = add_eight(sums);
    }
}

WIDE static void NAMED(products)(const pb_plane *plane, const pb_distances *d, const REAL *rows,
                                 const double *vector, const int64_t *indices, int64_t n,
                                 double *products)
{
    switch (d->n_columns) {
    case 1: NAMED(products_of)(plane, d, rows, 1, vector, indices, n, products); break;
    case 2: NAMED(products_of)(plane, d, rows, 2, vector, indices, n, products); break;
    case 3: NAMED(products_of)(plane, d, rows, 3, vector, indices, n, products); break;
    case 4: NAMED(products_of)(plane, d, rows, 4, vector, indices, n, products); break;
    default:
        NAMED(products_of)(plane, d, rows, d->n_columns, vector, indices, n, products);
        break;
    }
}
