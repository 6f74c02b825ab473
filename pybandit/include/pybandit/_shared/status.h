#ifndef PYBANDIT_STATUS_H
#define PYBANDIT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Return value of kernels that can fail; results are written through pointers. */
typedef enum {
    PB_OK = 0,
    PB_GROW = 1,        /* the reward buffer is full: the caller enlarges it and calls again */
    PB_NOT_FINITE = 2,  /* a reward read so far is NaN or infinite, or its square overflows */
    PB_RANGE = 3,       /* rewards differ by more than the stated value range */
    PB_CALLBACK = 4,    /* the user's function reported a failure */
    PB_NO_SOLUTION = 5  /* no boundary solves the equation in the given domain */
} pb_status;

#ifdef __cplusplus
}
#endif

#endif
