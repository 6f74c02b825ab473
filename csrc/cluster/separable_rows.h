/* Sums over rows of one type. Included twice by separable.c, which defines REAL and NAMED. */

/* Writes |x_i - mean|^2 and the weighted mean of the rows. */
WIDE static void NAMED(squares)(const REAL *rows, int64_t n, int64_t n_columns,
                                const double *weights, double total, double *restrict mean,
                                double *restrict squares)
{
    for (int64_t c = 0; c < n_columns; c++)
        mean[c] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const REAL *row = rows + i * n_columns;
        const double weight = weights ? weights[i] : 1.0;
        for (int64_t c = 0; c < n_columns; c++)
            mean[c] += weight * (double)row[c];
    }
    for (int64_t c = 0; c < n_columns; c++)
        mean[c] /= total;
    for (int64_t i = 0; i < n; i++) {
        const REAL *row = rows + i * n_columns;
        double sums[8] = {0.0};
        int64_t c = 0;
        for (; c + 8 <= n_columns; c += 8)
            for (int k = 0; k < 8; k++) {
                const double t = (double)row[c + k] - mean[c + k];
                sums[k] += t * t;
            }
        for (int k = 0; c < n_columns; c++, k++) {
            const double t = (double)row[c] - mean[c];
            sums[k] += t * t;
        }
        squares[i] = add_eight(sums);
    }
}

/*
 * `rows` points to the column's value in row 0. Values are taken from the smallest, so that sums
 * of columns far from 0 keep their digits. Equal values get equal sums.
 */
static void NAMED(column)(int is_hamming, const REAL *rows, int64_t n, int64_t n_columns,
                          const double *weights, const int64_t *order, double *totals)
{
    const double origin = (double)rows[order[0] * n_columns];
    double all = 0.0, moment = 0.0, below = 0.0, moment_below = 0.0;
    for (int64_t k = 0; k < n; k++) {
        const double weight = weight_of(weights, order[k]);
        all += weight;
        moment += weight * ((double)rows[order[k] * n_columns] - origin);
    }
    for (int64_t k = 0; k < n;) {
        const REAL value = rows[order[k] * n_columns];
        const double v = (double)value - origin;
        int64_t end = k + 1;  /* even if value is NaN, because another thread writes to the rows */
        double here = weight_of(weights, order[k]);
        for (; end < n && rows[order[end] * n_columns] == value; end++)
            here += weight_of(weights, order[end]);
        const double above = all - below - here;
        const double rest = moment - moment_below - here * v;
        const double sum = is_hamming ? (all - here) / (double)n_columns
                                      : (v * below - moment_below) + (rest - v * above);
        for (; k < end; k++)
            totals[order[k]] += sum;
        below += here;
        moment_below += here * v;
    }
}

static void NAMED(two_values)(const REAL *rows, int64_t n, int64_t n_columns,
                              const double *weights, double *memory, unsigned char *is_done,
                              double *totals)
{
    double *const low = memory, *const high = low + n_columns, *const at_low = high + n_columns;
    double all = 0.0;
    for (int64_t c = 0; c < n_columns; c++) {
        low[c] = high[c] = (double)rows[c];
        at_low[c] = 0.0;
        is_done[c] = 1;
    }
    for (int64_t i = 1; i < n; i++)
        for (int64_t c = 0; c < n_columns; c++) {
            const double value = (double)rows[i * n_columns + c];
            low[c] = smaller(low[c], value);
            high[c] = larger(high[c], value);
        }
    for (int64_t i = 0; i < n; i++) {
        const double weight = weight_of(weights, i);
        all += weight;
        for (int64_t c = 0; c < n_columns; c++) {
            const double value = (double)rows[i * n_columns + c];
            at_low[c] += value == low[c] ? weight : 0.0;
            is_done[c] &= (unsigned char)((value == low[c]) | (value == high[c]));
        }
    }
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int64_t c = 0; c < n_columns; c++) {
            const double value = (double)rows[i * n_columns + c];
            /* high == low: no other value */
            const double other = value == low[c] ? (high[c] == low[c] ? 0.0 : all - at_low[c])
                                                 : at_low[c];
            sum += is_done[c] ? other : 0.0;
        }
        totals[i] += sum / (double)n_columns;
    }
}
