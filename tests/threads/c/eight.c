/* Runs a C test, whose main is renamed to `alone`, in eight threads at once. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int alone(void);

enum { THREADS = 8 };

static void *run(void *argument)
{
    (void)argument;
    if (alone() != 0)
        abort();
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, NULL) != 0)
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
