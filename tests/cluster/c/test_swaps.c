#include "stage.h"

#include "pybandit/cluster/swaps.h"

enum { PART = 2 };

static double plain_loss(const stage *s)
{
    double loss = 0.0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t first, second;
        plain_two(s, i, &first, &second);
        loss += weight_of(s, i) * between(s, s->km.medoids[first], i);
    }
    return loss;
}

/* Exact gains are differences of the loss, and a swap updates every point. */
static void swaps_as_the_plain_rule(void)
{
    uint64_t counter = 11;
    for (int run = 0; run < 40; run++) {
        const int64_t n = 20 + (int64_t)(splitmix_next(&counter) % 400);
        const int64_t k = 2 + (int64_t)(splitmix_next(&counter) % 8);
        stage s;
        make_points(&s, &counter, n, 1 + run % 3, k, run % 2, run % 4 > 1);
        make_stage(&s, n < 64 ? n : 64);
        pb_kmedoids *const km = &s.km;
        const int64_t n_parts = (km->n_tiles + PART - 1) / PART;
        double *const parts = allocate(n_parts * (k + 2), sizeof(double));
        double *const apart = allocate(2 * k, sizeof(double));
        double *const out = allocate(k * PB_TILE, sizeof(double)), d[PB_TILE];
        int64_t *const rows = allocate(k, sizeof(int64_t));
        pb_tile *const tile = make_tiles(&km->distances, 1);
        for (int swap = 0; swap < 20; swap++) {
            const int64_t row = (int64_t)(splitmix_next(&counter) % (uint64_t)n);
            pb_kmedoids_apart(km, row, apart);
            for (int64_t p = 0; p < n_parts; p++) {
                const int64_t last = (p + 1) * PART;
                assert(pb_swap_measure(km, row, apart, p * PART,
                                       last < km->n_tiles ? last : km->n_tiles, tile, d,
                                       parts + p * (k + 2)) == PB_OK);
            }
            /* the same bits if measured with other rows */
            const int64_t few[] = {row, row + 1 < n ? row + 1 : row};
            double *const both = allocate(2 * (k + 2), sizeof(double)), two[2 * PB_TILE];
            pb_kmedoids_apart(km, few[1], apart + k);
            assert(pb_swap_measure_many(km, few, apart, 2, 0,
                                        km->n_tiles < PART ? km->n_tiles : PART, tile, two,
                                        both) == PB_OK);
            for (int64_t l = 0; l < k + 2; l++)
                assert(both[l] == parts[l]);
            free(both);
            int64_t cluster;
            const double gain = pb_swap_gain(km, parts, n_parts, &cluster);
            const double before = plain_loss(&s);
            assert(close_to(km->loss, before, 1e-9 * (1.0 + before)));
            /* no cluster gains more, and the lowest one is returned */
            for (int64_t l = 0; l < k; l++) {
                const int64_t kept = km->medoids[l];
                km->medoids[l] = row;
                const double gained = before - plain_loss(&s);
                assert(gained <= gain + 1e-9 * (1.0 + before));
                assert(l != cluster || close_to(gained, gain, 1e-9 * (1.0 + before)));
                km->medoids[l] = kept;
            }
            assert(pb_swap_is_gain(km, gain) == (gain > km->tolerance * km->loss));
            /* make swaps that lose, too: the update must not depend on it */
            int is_other = 1;
            for (int64_t l = 0; l < k; l++)
                is_other &= km->medoids[l] != row;
            if (!is_other)
                continue;
            const int64_t removed = swap % 2 ? cluster
                                             : (int64_t)(splitmix_next(&counter) % (uint64_t)k);
            pb_swap_make(km, row, removed);
            for (int64_t p = 0; p < n_parts; p++) {
                const int64_t last = (p + 1) * PART;
                assert(pb_swap_update(km, removed, p * PART,
                                      last < km->n_tiles ? last : km->n_tiles, tile, rows,
                                      out) == PB_OK);
            }
            pb_kmedoids_sum(km);
            check_stage(&s);
            for (int64_t at = 1; at < k; at++)
                assert(km->medoids[km->by_row[at - 1]] < km->medoids[km->by_row[at]]);
        }
        free(parts);
        free(apart);
        free(out);
        free(rows);
        free_tiles(tile, 1);
        free_stage(&s);
    }
}

int main(void)
{
    swaps_as_the_plain_rule();
    return 0;
}
