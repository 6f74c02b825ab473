#include "stage.h"

/* Tiles hold every point once, stratum by stratum; nearest medoids and sums follow the rules. */
static void arranges_every_point_once(void)
{
    uint64_t counter = 5;
    for (int run = 0; run < 60; run++) {
        const int64_t n = 2 + (int64_t)(splitmix_next(&counter) % 400);
        const int64_t k = 1 + (int64_t)(splitmix_next(&counter) % (uint64_t)(n < 9 ? n : 9));
        const int64_t n_mixed = 1 + (int64_t)(splitmix_next(&counter) % (uint64_t)n);
        stage s;
        make_points(&s, &counter, n, 1 + run % 3, k, run % 2, run % 4 > 1);
        make_stage(&s, n_mixed);
        check_stage(&s);
        const pb_kmedoids *const km = &s.km;
        int64_t n_points = 0;
        for (int64_t t = 0; t < km->n_tiles; t++) {
            assert(km->tiles[t].n >= 1 && km->tiles[t].n <= PB_TILE);
            n_points += km->tiles[t].n;
        }
        assert(n_points == n && km->starts[k] == km->n_tiles);
        for (int64_t i = 0; i < n; i++) {
            const int32_t stratum = km->nearest[km->slots[i]];
            assert(km->slots[i] >= km->starts[stratum] * PB_TILE);
            assert(km->slots[i] < km->starts[stratum + 1] * PB_TILE);
            /* random order within the stratum */
            for (int64_t j = i + 1; j < n; j++)
                assert(km->nearest[km->slots[j]] != stratum || km->slots[j] > km->slots[i]);
        }
        for (int64_t i = 0; i < n_mixed; i++) {
            const int64_t slot = km->slots[i];
            assert(km->mixed_rows[i] == s.order[i]);
            assert(km->mixed_tiles[i / PB_TILE].references[i % PB_TILE] == s.order[i]);
            assert(km->mixed_stratum[i] == km->nearest[slot]);
            assert(km->mixed_nearest[i] == km->nearest[slot]);
            assert(km->mixed_d1[i] == km->d1[slot] && (k == 1 || km->mixed_d2[i] == km->d2[slot]));
        }
        free_stage(&s);
    }
}

int main(void)
{
    arranges_every_point_once();
    return 0;
}
