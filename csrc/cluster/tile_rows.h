/*
 * Distances of a candidate to a tile of rows, for one type. Included twice by distance.c, which
 * defines REAL, ROOT and NAMED, and types of vectors. Private to csrc.
 *
 * A group is four vectors of 32 bytes: eight of 16 registers with SSE2, and enough independent
 * sums to hide the latency of an addition with AVX2. Groups lie one after the other in the tile.
 */
enum { NAMED(WIDTH) = 32 / sizeof(REAL), NAMED(GROUP) = 4 * NAMED(WIDTH) };

/* Returns the first lane of reference r in the memory of a tile. */
ALWAYS_INLINE REAL *NAMED(lane)(const pb_tile *tile, int64_t r, int64_t n_columns)
{
    return (REAL *)tile->memory + r / NAMED(GROUP) * NAMED(GROUP) * n_columns + r % NAMED(GROUP);
}

/* Stores the references by columns, and copies the last one into the unused lanes. */
static void NAMED(fill)(const pb_tile *tile, const pb_distances *d, const REAL *rows)
{
    const int64_t n_columns = d->n_columns;
    if (d->starts)
        for (int64_t k = 0; k < PB_TILE * n_columns; k++)
            ((REAL *)tile->memory)[k] = 0;
    for (int64_t r = 0; r < PB_TILE; r++) {
        const int64_t j = tile->references[r < tile->n ? r : tile->n - 1];
        REAL *const at = NAMED(lane)(tile, r, n_columns);
        if (!d->starts) {
            if (r + AHEAD < tile->n)  /* rows are far apart in memory */
                PREFETCH(rows + tile->references[r + AHEAD] * n_columns,
                         n_columns * (int64_t)sizeof(REAL));
            for (int64_t c = 0; c < n_columns; c++)
                at[c * NAMED(GROUP)] = rows[j * n_columns + c];
            continue;
        }
        for (int64_t k = d->starts[j]; k < d->starts[j + 1]; k++) {
            const int64_t c = column_at(d, k);
            if (c >= 0 && c < n_columns)
                at[c * NAMED(GROUP)] = rows[k];
        }
    }
}

/* Writes `count` columns of a CSR row from `first` on, and advances it. */
static void NAMED(spread)(const pb_distances *d, const REAL *values, csr_row *row, int64_t first,
                          int64_t count, REAL *out)
{
    for (int64_t c = 0; c < count; c++)
        out[c] = 0;
    for (; row->at < row->end; row->at++) {
        const int64_t c = column_at(d, row->at) - first;
        if (c >= count)
            return;
        if (c >= 0)
            out[c] = values[row->at];
    }
}

#ifdef HAS_VECTORS
#define VEC NAMED(vec)
#define BITS NAMED(bits)
#define FROM(p) ((VEC)*(const NAMED(vec_at) *)(p))

/* Adds the terms of one column to four sums. `value` is a scalar, which vectors take as it is:
   adding it to a vector of zeros would take as long as a subtraction. */
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
                              int64_t n_columns, int is_start, REAL *sums)
{
    VEC a = {0}, b = {0}, c = {0}, d = {0};
    if (!is_start) {
        a = FROM(sums);
        b = FROM(sums + NAMED(WIDTH));
        c = FROM(sums + 2 * NAMED(WIDTH));
        d = FROM(sums + 3 * NAMED(WIDTH));
    }
    const VEC one = (VEC){0} + (REAL)1;
    const BITS positive = ~(BITS)(-(VEC){0});  /* all bits but the sign */
    for (int64_t column = 0; column < n_columns; column++, at += NAMED(GROUP)) {
        const REAL value = row[column];
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
                              int64_t n_columns, int is_start, REAL *sums)
{
    for (int i = 0; i < NAMED(GROUP); i++)
        sums[i] = is_start ? 0 : sums[i];
    for (int64_t column = 0; column < n_columns; column++, at += NAMED(GROUP))
        for (int i = 0; i < NAMED(GROUP); i++) {
            const REAL t = row[column] - at[i];
            sums[i] += metric == PB_MANHATTAN ? (t < 0 ? -t : t)
                       : metric == PB_HAMMING ? (REAL)(t != 0)
                                              : t * t;
        }
}
#endif

ALWAYS_INLINE double NAMED(finish_one)(pb_metric metric, REAL sum, int64_t n_columns)
{
    return (double)(metric == PB_EUCLIDEAN ? ROOT(sum)
                    : metric == PB_HAMMING ? sum / (REAL)n_columns
                    : metric == PB_COSINE  ? sum * (REAL)0.5
                                           : sum);
}

ALWAYS_INLINE void NAMED(finish)(pb_metric metric, const REAL *sums, int64_t n_columns,
                                 double *out)
{
    for (int i = 0; i < PB_TILE; i++)
        out[i] = NAMED(finish_one)(metric, sums[i], n_columns);
}

/* Adds up the columns of the references from `first` to `last`, whole groups. */
ALWAYS_INLINE void NAMED(sum_dense)(pb_metric metric, const pb_tile *tile, const REAL *row,
                                    int64_t n_columns, int64_t first, int64_t last, REAL *sums)
{
    for (int64_t r = first; r < last; r += NAMED(GROUP))
        NAMED(sum)(metric, row, NAMED(lane)(tile, r, n_columns), n_columns, 1, sums + r);
}

ALWAYS_INLINE void NAMED(sum_sparse)(pb_metric metric, const pb_tile *tile,
                                     const pb_distances *d, const REAL *values, int64_t candidate,
                                     int64_t begin, int64_t end, REAL *sums)
{
    REAL part[SPREAD];
    csr_row row = start_of(d, candidate);
    for (int64_t first = 0; first < d->n_columns; first += SPREAD) {
        const int64_t count = minimum(SPREAD, d->n_columns - first);
        NAMED(spread)(d, values, &row, first, count, part);
        for (int64_t r = begin; r < end; r += NAMED(GROUP))
            NAMED(sum)(metric, part, NAMED(lane)(tile, r, d->n_columns) + first * NAMED(GROUP),
                       count, first == 0, sums + r);
    }
}

ALWAYS_INLINE void NAMED(sum_row)(pb_metric metric, const pb_tile *tile, const pb_distances *d,
                                  const REAL *rows, int64_t candidate, int64_t first,
                                  int64_t last, REAL *sums)
{
    if (d->starts)
        NAMED(sum_sparse)(metric, tile, d, rows, candidate, first, last, sums);
    else
        NAMED(sum_dense)(metric, tile, rows + candidate * d->n_columns, d->n_columns, first, last,
                         sums);
}

ALWAYS_INLINE void NAMED(read_all)(pb_metric metric, const pb_tile *tile, const pb_distances *d,
                                   const REAL *rows, const int64_t *candidates,
                                   int64_t n_candidates, double *out)
{
    REAL sums[PB_TILE];
    for (int64_t i = 0; i < n_candidates; i++) {
        NAMED(sum_row)(metric, tile, d, rows, candidates[i], 0, PB_TILE, sums);
        NAMED(finish)(metric, sums, d->n_columns, out + i * PB_TILE);
    }
}

/* The metric is a constant in each call, so that its branches disappear from the loops. */
#define FOR_METRIC(call)                                 \
    switch (d->metric) {                                 \
    case PB_EUCLIDEAN: call(PB_EUCLIDEAN); break;        \
    case PB_MANHATTAN: call(PB_MANHATTAN); break;        \
    case PB_HAMMING: call(PB_HAMMING); break;            \
    case PB_COSINE: call(PB_COSINE); break;              \
    default: call(PB_SQEUCLIDEAN); break;                \
    }
#define READ(metric) NAMED(read_all)(metric, tile, d, rows, candidates, n_candidates, out)

WIDE static void NAMED(read)(const pb_tile *tile, const pb_distances *d, const REAL *rows,
                             const int64_t *candidates, int64_t n_candidates, double *out)
{
    FOR_METRIC(READ)
}

#undef READ

/* Returns the bits of the sums of half a tile that are not above their limits. */
ALWAYS_INLINE uint64_t NAMED(find_near)(const REAL *sums, const REAL *limits)
{
#ifdef HAS_VECTORS
    NAMED(bits) found = {0}, bit = NAMED(first_bits);
    for (int r = 0; r < HALF; r += NAMED(WIDTH), bit <<= NAMED(WIDTH))
        found |= ~(NAMED(bits))(*(const NAMED(vec_at) *)(sums + r) >
                                *(const NAMED(vec_at) *)(limits + r)) & bit;
    const mask all = (mask)found;
    const uint64_t either = (uint64_t)ANY(all);
    return sizeof(REAL) == sizeof(double) ? either : (either | either >> 32) & UINT32_MAX;
#else
    uint64_t near = 0;
    for (int r = 0; r < HALF; r++)
        near |= (uint64_t)!(sums[r] > limits[r]) << r;
    return near;
#endif
}

ALWAYS_INLINE uint64_t NAMED(near_one)(pb_metric metric, const pb_tile *tile,
                                       const pb_distances *d, const REAL *rows, int64_t candidate,
                                       unsigned halves, const REAL *limits, double *out)
{
    REAL sums[PB_TILE];
    const int64_t first = halves & 1 ? 0 : HALF, last = halves & 2 ? PB_TILE : HALF;
    if (!halves)
        return 0;
    NAMED(sum_row)(metric, tile, d, rows, candidate, first, last, sums);
    uint64_t near = 0;
    if (first == 0)
        near = NAMED(find_near)(sums, limits);
    if (last == PB_TILE)
        near |= NAMED(find_near)(sums + HALF, limits + HALF) << HALF;
    if (count_bits(near) > FEW_NEAR) {
        for (int64_t r = 0; r < first; r++)
            sums[r] = (REAL)INFINITY;
        for (int64_t r = last; r < PB_TILE; r++)
            sums[r] = (REAL)INFINITY;
        NAMED(finish)(metric, sums, d->n_columns, out);
        return PB_ALL_NEAR;
    }
    for (uint64_t left = near; left; left &= left - 1) {
        const int r = lowest_bit(left);
        out[r] = NAMED(finish_one)(metric, sums[r], d->n_columns);
    }
    return near;
}

ALWAYS_INLINE void NAMED(near_all)(pb_metric metric, const pb_tile *tile, const pb_distances *d,
                                   const REAL *rows, const int64_t *candidates,
                                   int64_t n_candidates, const unsigned char *halves,
                                   const REAL *limits, double *out, uint64_t *near)
{
    for (int64_t i = 0; i < n_candidates; i++) {
        if (!d->starts && i + 1 < n_candidates && (!halves || halves[i + 1]))
            PREFETCH(rows + candidates[i + 1] * d->n_columns,
                     d->n_columns * (int64_t)sizeof(REAL));
        near[i] = NAMED(near_one)(metric, tile, d, rows, candidates[i], halves ? halves[i] : 3,
                                  limits, out + i * PB_TILE);
    }
}

#define READ(metric)                                                                  \
    NAMED(near_all)(metric, tile, d, rows, candidates, n_candidates, halves, limits, out, near)

WIDE static void NAMED(read_near)(const pb_tile *tile, const pb_distances *d, const REAL *rows,
                                  const int64_t *candidates, int64_t n_candidates,
                                  const unsigned char *halves, const double *most, double *out,
                                  uint64_t *near)
{
    REAL limits[PB_TILE];
    for (int r = 0; r < PB_TILE; r++)
        limits[r] = (REAL)most[r];
    FOR_METRIC(READ)
}

#undef READ
#undef FOR_METRIC

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

/* Adds terms in double precision to eight sums, which vectors can hold, in a fixed order. */
ALWAYS_INLINE void NAMED(add_terms)(pb_metric metric, const REAL *x, const REAL *y, int64_t n,
                                    double *sums)
{
    int64_t c = 0;
    for (; c + 8 <= n; c += 8)
        for (int k = 0; k < 8; k++)
            sums[k] += term(metric, (double)x[c + k] - (double)y[c + k]);
    for (int k = 0; c < n; c++, k++)
        sums[k] += term(metric, (double)x[c] - (double)y[c]);
}

/* One distance in double precision. */
ALWAYS_INLINE double NAMED(between)(pb_metric metric, const pb_distances *d, const REAL *rows,
                                    int64_t i, int64_t j)
{
    const int64_t n_columns = d->n_columns;
    double sums[8] = {0.0};
    if (d->starts) {
        csr_row x = start_of(d, i), y = start_of(d, j);
        REAL part[SPREAD], other[SPREAD];
        for (int64_t first = 0; first < n_columns; first += SPREAD) {
            const int64_t count = minimum(SPREAD, n_columns - first);
            NAMED(spread)(d, rows, &x, first, count, part);
            NAMED(spread)(d, rows, &y, first, count, other);
            NAMED(add_terms)(metric, part, other, count, sums);
        }
    } else {
        NAMED(add_terms)(metric, rows + i * n_columns, rows + j * n_columns, n_columns, sums);
    }
    const double sum = add_eight(sums);
    return metric == PB_EUCLIDEAN ? sqrt(sum)
           : metric == PB_HAMMING ? sum / (double)n_columns
           : metric == PB_COSINE  ? 0.5 * sum
                                  : sum;
}

#define FROM(metric)                  \
    for (int64_t j = 0; j < d->n; j++) \
        out[j] = NAMED(between)(metric, d, rows, i, j)

WIDE static void NAMED(from)(const pb_distances *d, const REAL *rows, int64_t i, double *out)
{
    switch (d->metric) {
    case PB_EUCLIDEAN: FROM(PB_EUCLIDEAN); break;
    case PB_MANHATTAN: FROM(PB_MANHATTAN); break;
    case PB_HAMMING: FROM(PB_HAMMING); break;
    case PB_COSINE: FROM(PB_COSINE); break;
    default: FROM(PB_SQEUCLIDEAN); break;
    }
}

#undef FROM
