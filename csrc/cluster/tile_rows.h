/*
 * Distances of a candidate to a tile of rows, for one type. Included twice by distance.c, which
 * defines REAL, ROOT and NAMED, and types of vectors. Private to csrc.
 *
 * A group is four vectors of 32 bytes: eight of 16 registers with SSE2, and enough independent
 * sums to hide the latency of an addition with AVX2. Groups lie one after the other in the tile.
 */
enum { NAMED(WIDTH) = 32 / sizeof(REAL), NAMED(GROUP) = 4 * NAMED(WIDTH) };

/* Stores the references by columns, and copies the last one into the unused lanes. */
static void NAMED(fill)(const pb_tile *tile, const REAL *rows, int64_t n_columns)
{
    REAL *const memory = (REAL *)tile->memory;
    for (int64_t r = 0; r < PB_TILE; r++) {
        const REAL *row = rows + tile->references[r < tile->n ? r : tile->n - 1] * n_columns;
        REAL *at = memory + r / NAMED(GROUP) * NAMED(GROUP) * n_columns + r % NAMED(GROUP);
        for (int64_t c = 0; c < n_columns; c++)
            at[c * NAMED(GROUP)] = row[c];
    }
}

#ifdef HAS_VECTORS
#define VEC NAMED(vec)
#define BITS NAMED(bits)
#define FROM(p) ((VEC)*(const NAMED(vec_at) *)(p))

/* Adds the terms of one column to four sums. */
#define ADD(sum, from)                                                 \
    do {                                                               \
        const VEC t = value - FROM(from);                              \
        if (metric == PB_MANHATTAN)                                    \
            sum += (VEC)((BITS)t & positive);                          \
        else if (metric == PB_HAMMING)                                 \
            sum += (VEC)((BITS)(t != 0) & (BITS)one);                  \
        else                                                           \
            sum += t * t;                                              \
    } while (0)

ALWAYS_INLINE void NAMED(sum)(pb_metric metric, const REAL *row, const REAL *at,
                              int64_t n_columns, REAL *sums)
{
    VEC a = {0}, b = {0}, c = {0}, d = {0};
    const VEC one = (VEC){0} + (REAL)1;
    const BITS positive = ~(BITS)(-(VEC){0});  /* all bits but the sign */
    for (int64_t column = 0; column < n_columns; column++, at += NAMED(GROUP)) {
        const VEC value = (VEC){0} + row[column];
        ADD(a, at);
        ADD(b, at + NAMED(WIDTH));
        ADD(c, at + 2 * NAMED(WIDTH));
        ADD(d, at + 3 * NAMED(WIDTH));
    }
    *(NAMED(vec_at) *)sums = a;
    *(NAMED(vec_at) *)(sums + NAMED(WIDTH)) = b;
    *(NAMED(vec_at) *)(sums + 2 * NAMED(WIDTH)) = c;
    *(NAMED(vec_at) *)(sums + 3 * NAMED(WIDTH)) = d;
}

#undef ADD
#undef VEC
#undef BITS
#undef FROM
#else
ALWAYS_INLINE void NAMED(sum)(pb_metric metric, const REAL *row, const REAL *at,
                              int64_t n_columns, REAL *sums)
{
    for (int i = 0; i < NAMED(GROUP); i++)
        sums[i] = 0;
    for (int64_t column = 0; column < n_columns; column++, at += NAMED(GROUP))
        for (int i = 0; i < NAMED(GROUP); i++) {
            const REAL t = row[column] - at[i];
            sums[i] += metric == PB_MANHATTAN ? (t < 0 ? -t : t)
                       : metric == PB_HAMMING ? (REAL)(t != 0)
                                              : t * t;
        }
}
#endif

ALWAYS_INLINE void NAMED(read_one)(pb_metric metric, const pb_tile *tile, const REAL *row,
                                   int64_t n_columns, double *out)
{
    const REAL *const memory = (const REAL *)tile->memory;
    const REAL columns = (REAL)n_columns;
    REAL sums[NAMED(GROUP)];
    for (int64_t first = 0; first < PB_TILE; first += NAMED(GROUP)) {
        NAMED(sum)(metric, row, memory + first * n_columns, n_columns, sums);
        for (int i = 0; i < NAMED(GROUP); i++)
            out[first + i] = (double)(metric == PB_EUCLIDEAN ? ROOT(sums[i])
                                      : metric == PB_HAMMING ? sums[i] / columns
                                      : metric == PB_COSINE  ? sums[i] * (REAL)0.5
                                                             : sums[i]);
    }
}

/* The metric is a constant in each call, so that its branches disappear from the loops. */
#define READ(metric)                                                                    \
    for (int64_t i = 0; i < n_candidates; i++)                                          \
        NAMED(read_one)(metric, tile, rows + candidates[i] * n_columns, n_columns,      \
                        out + i * PB_TILE)

WIDE static void NAMED(read)(const pb_tile *tile, pb_metric metric, const REAL *rows,
                             int64_t n_columns, const int64_t *candidates, int64_t n_candidates,
                             double *out)
{
    switch (metric) {
    case PB_EUCLIDEAN: READ(PB_EUCLIDEAN); break;
    case PB_MANHATTAN: READ(PB_MANHATTAN); break;
    case PB_HAMMING: READ(PB_HAMMING); break;
    case PB_COSINE: READ(PB_COSINE); break;
    default: READ(PB_SQEUCLIDEAN); break;
    }
}

#undef READ

/* Copies entries of the candidates' rows of a matrix of distances. */
static void NAMED(look_up)(const pb_tile *tile, const REAL *matrix, int64_t n,
                           const int64_t *candidates, int64_t n_candidates, double *out)
{
    for (int64_t i = 0; i < n_candidates; i++) {
        const REAL *row = matrix + candidates[i] * n;
        for (int64_t r = 0; r < PB_TILE; r++)
            out[i * PB_TILE + r] = r < tile->n ? (double)row[tile->references[r]] : 0.0;
    }
}

/* One distance in double precision. Eight sums, which vectors can hold, in a fixed order. */
ALWAYS_INLINE double NAMED(between)(pb_metric metric, const REAL *x, const REAL *y,
                                    int64_t n_columns)
{
    double sums[8] = {0.0};
    int64_t c = 0;
    for (; c + 8 <= n_columns; c += 8)
        for (int k = 0; k < 8; k++)
            sums[k] += term(metric, (double)x[c + k] - (double)y[c + k]);
    for (int k = 0; c < n_columns; c++, k++)
        sums[k] += term(metric, (double)x[c] - (double)y[c]);
    const double sum = add_eight(sums);
    return metric == PB_EUCLIDEAN ? sqrt(sum)
           : metric == PB_HAMMING ? sum / (double)n_columns
           : metric == PB_COSINE  ? 0.5 * sum
                                  : sum;
}

#define FROM(metric)                                                                    \
    for (int64_t j = 0; j < n; j++)                                                     \
        out[j] = NAMED(between)(metric, x, rows + j * n_columns, n_columns)

WIDE static void NAMED(from)(pb_metric metric, const REAL *rows, int64_t n, int64_t n_columns,
                             const REAL *x, double *out)
{
    switch (metric) {
    case PB_EUCLIDEAN: FROM(PB_EUCLIDEAN); break;
    case PB_MANHATTAN: FROM(PB_MANHATTAN); break;
    case PB_HAMMING: FROM(PB_HAMMING); break;
    case PB_COSINE: FROM(PB_COSINE); break;
    default: FROM(PB_SQEUCLIDEAN); break;
    }
}

#undef FROM
