#ifndef PYBANDIT_STATUS_H
#define PYBANDIT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel that can fail returns; results go through out pointers. */
typedef enum {
    PB_OK = 0,
    PB_GROW = 1,        /* the caller's reward buffer is full: enlarge it and call again */
    PB_NOT_FINITE = 2,  /* a reward read so far is NaN or infinite, or its square overflows */
    PB_RANGE = 3,       /* rewards read so far spread wider than the stated value range */
    PB_CALLBACK = 4,    /* the caller's function reported a failure */
    PB_NO_SOLUTION = 5  /* no boundary solves the equation on the stated domain */
} pb_status;

#ifdef __cplusplus
}
#endif

#endif
