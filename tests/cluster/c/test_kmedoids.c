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
        /* the mixed sample has the same points at each look, stratum by stratum */
        for (int64_t first = 0, last = 128; first < n_mixed; first = last, last *= 2)
            for (int64_t i = first; i < last && i < n_mixed; i++) {
                int64_t at = first, runs = 0;
                while (km->mixed_rows[at] != s.order[i])
                    at++;
                assert(at < last && at < n_mixed);
                const int64_t slot = km->slots[i];
                assert(km->mixed_slots[at] == slot);
                assert(km->mixed_tiles[at / PB_TILE].references[at % PB_TILE] == s.order[i]);
                assert(km->mixed_stratum[at] == km->nearest[slot]);
                assert(km->mixed_nearest[at] == km->nearest[slot]);
                assert(km->mixed_d1[at] == km->d1[slot]);
                assert(k == 1 || km->mixed_d2[at] == km->d2[slot]);
                for (int64_t j = first; j < last && j < n_mixed; j++)
                    runs += km->mixed_stratum[j] == km->mixed_stratum[at] &&
                            (j == first || km->mixed_stratum[j - 1] != km->mixed_stratum[j]);
                assert(runs == 1);
            }
        free_stage(&s);
    }
}

int main(void)
{
    arranges_every_point_once();
    return 0;
}
