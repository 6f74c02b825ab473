#ifndef MINIMUM_H
#define MINIMUM_H

#include <stdint.h>

/* Returns the smaller of two counts; private to csrc. */
static inline int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }

#endif
