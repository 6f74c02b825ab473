#ifndef PYBANDIT_READ_ONCE_H
#define PYBANDIT_READ_ONCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns an integer from memory that another thread may write to. The compiler does not read
 * it a second time, so the value that is checked is the value that is used as an index.
 */
static inline int64_t pb_read_once(const int64_t *at)
{
    return *(const volatile int64_t *)at;
}

#ifdef __cplusplus
}
#endif

#endif
