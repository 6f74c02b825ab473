/* Structs that headers allow threads to share: eight threads get the same draws from them. */

#include "../../_shared/c/check.h"

#include "pybandit/mcmc/alias.h"
#include "pybandit/racing/sampler.h"
#include "pybandit/racing/schedule.h"

#include <pthread.h>

enum { THREADS = 8, N = 3000, D = 3, DRAWS = 300 };

typedef struct {
    const pb_factors *factors;
    const pb_schedule *schedule;
    const pb_alias *alias;
    int64_t drawn[DRAWS], columns[DRAWS];
} share;

static void *draw(void *argument)
{
    share *mine = argument;
    pb_sampler sampler;
    void *memory =
        allocate(pb_sampler_memory(mine->factors, mine->schedule, PB_SUBSAMPLE_PERMUTATION), 1);
    pb_sampler_init(&sampler, mine->factors, mine->schedule, NULL, PB_SUBSAMPLE_PERMUTATION,
                    memory);
    uint64_t counter = 5;
    pb_bitgen bitgen = splitmix(&counter);
    for (int i = 0; i < DRAWS; i++) {
        assert(pb_sampler_draw(&sampler, &bitgen, &mine->drawn[i]) == PB_OK);
        mine->columns[i] = pb_alias_draw(mine->alias, N, &bitgen);
    }
    free(memory);
    return NULL;
}

int main(void)
{
    double *matrix = allocate(N * D, sizeof *matrix);
    uint64_t counter = 3;
    for (int i = 0; i < N * D; i++)
        matrix[i] = 1e-3 * splitmix_double(&counter);
    const pb_factors factors = {N, D, matrix, NULL, NULL, 0};
    pb_schedule schedule;
    void *looks = allocate(pb_schedule_memory(N, 50, 1.0), 1);
    assert(pb_schedule_normal(0.001, PB_ONE_SIDED, N, D, 50, 1.0, looks, &schedule) == PB_OK);
    pb_alias *alias = allocate(N, sizeof *alias);
    int64_t *work = allocate(N, sizeof *work);
    assert(pb_alias_build(matrix, 1, N, alias, work) > 0.0);

    pthread_t threads[THREADS];
    share *shares = allocate(THREADS, sizeof *shares);
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){.factors = &factors, .schedule = &schedule, .alias = alias};
        assert(pthread_create(&threads[i], NULL, draw, &shares[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert(pthread_join(threads[i], NULL) == 0);
        assert(memcmp(shares[i].drawn, shares[0].drawn, sizeof shares->drawn) == 0);
        assert(memcmp(shares[i].columns, shares[0].columns, sizeof shares->columns) == 0);
    }
    free(shares);
    free(work);
    free(alias);
    free(looks);
    free(matrix);
    return 0;
}
