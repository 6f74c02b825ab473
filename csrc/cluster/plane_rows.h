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
    double theta = 0.0, share = 0.0;
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
    for (int64_t c = 0; c < n_columns; c++) {
        far[c] /= total;
        near[c] /= total;
    }
}

WIDE static void NAMED(pass)(pb_plane *plane, const pb_distances *d, const REAL *rows,
                             const double *weights)
{
    switch (d->n_columns) {
    case 1: NAMED(pass_of)(plane, d, rows, 1, weights); break;
    case 2: NAMED(pass_of)(plane, d, rows, 2, weights); break;
    case 3: NAMED(pass_of)(plane, d, rows, 3, weights); break;
    case 4: NAMED(pass_of)(plane, d, rows, 4, weights); break;
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
