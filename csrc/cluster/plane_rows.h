/*
 * Passes over rows of one type. Included twice by planes.c, which defines REAL and NAMED.
 * n_columns is a constant in calls for few columns, whose loops the compiler unrolls.
 */
ALWAYS_INLINE void NAMED(pass_of)(pb_plane *plane, const REAL *rows, int64_t n, int64_t n_columns,
                                  const double *weights)
{
    double *const restrict anchor = plane->scratch, *const restrict apart = anchor + n_columns;
    double *const restrict far = plane->far, *const restrict near = plane->near;
    double *const restrict distances = plane->distances;
    double theta = 0.0, share = 0.0;
    for (int64_t c = 0; c < n_columns; c++) {
        anchor[c] = (double)rows[plane->anchor * n_columns + c];
        far[c] = near[c] = 0.0;
    }
    for (int64_t j = 0; j < n; j++, rows += n_columns) {
        const double weight = weights ? weights[j] : 1.0;
        for (int64_t c = 0; c < n_columns; c++)
            apart[c] = (double)rows[c] - anchor[c];
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

WIDE static void NAMED(pass)(pb_plane *plane, const REAL *rows, int64_t n, int64_t n_columns,
                             const double *weights)
{
    switch (n_columns) {
    case 1: NAMED(pass_of)(plane, rows, n, 1, weights); break;
    case 2: NAMED(pass_of)(plane, rows, n, 2, weights); break;
    case 3: NAMED(pass_of)(plane, rows, n, 3, weights); break;
    case 4: NAMED(pass_of)(plane, rows, n, 4, weights); break;
    default: NAMED(pass_of)(plane, rows, n, n_columns, weights); break;
    }
}

static void NAMED(part)(const pb_plane *plane, const REAL *rows, int64_t n_columns,
                        const double *weights, const int64_t *references, int64_t n, double *far,
                        double *weight_near, double *distance)
{
    const REAL *const anchor = rows + plane->anchor * n_columns;
    for (int64_t r = 0; r < n; r++) {
        const int64_t j = references[r];
        const double apart = plane->distances[j], weight = weights ? weights[j] : 1.0;
        *distance += weight * apart;
        if (apart > plane->near_below) {
            const double share = weight / apart;
            for (int64_t c = 0; c < n_columns; c++)
                far[c] += share * ((double)rows[j * n_columns + c] - (double)anchor[c]);
        } else {
            *weight_near += weight;
        }
    }
}

ALWAYS_INLINE void NAMED(products_of)(const REAL *anchor, const REAL *rows, int64_t n_columns,
                                      const double *vector, const int64_t *indices, int64_t n,
                                      double *products)
{
    for (int64_t i = 0; i < n; i++) {
        const REAL *const row = rows + indices[i] * n_columns;
        double sums[8] = {0.0};
        int64_t c = 0;
        for (; c + 8 <= n_columns; c += 8)
            for (int k = 0; k < 8; k++)
                sums[k] += ((double)row[c + k] - (double)anchor[c + k]) * vector[c + k];
        for (int k = 0; c < n_columns; c++, k++)
            sums[k] += ((double)row[c] - (double)anchor[c]) * vector[c];
        products[i] = add_eight(sums);
    }
}

WIDE static void NAMED(products)(const REAL *anchor, const REAL *rows, int64_t n_columns,
                                 const double *vector, const int64_t *indices, int64_t n,
                                 double *products)
{
    switch (n_columns) {
    case 1: NAMED(products_of)(anchor, rows, 1, vector, indices, n, products); break;
    case 2: NAMED(products_of)(anchor, rows, 2, vector, indices, n, products); break;
    case 3: NAMED(products_of)(anchor, rows, 3, vector, indices, n, products); break;
    case 4: NAMED(products_of)(anchor, rows, 4, vector, indices, n, products); break;
    default: NAMED(products_of)(anchor, rows, n_columns, vector, indices, n, products); break;
    }
}
