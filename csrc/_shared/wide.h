#ifndef WIDE_H
#define WIDE_H

/*
 * Four doubles at a time, for the kernels' hot loops; private to csrc. The
 * arithmetic is element by element: wider instructions change the speed and
 * not one bit.
 */
enum { LANES = 4 };

typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
/* the same at any alignment */
typedef double unaligned
    __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

/* the smaller, lane by lane: GCC makes one instruction of this, and more of masks */
#define LEAST(a, b)                                                  \
    ((vector){(a)[0] < (b)[0] ? (a)[0] : (b)[0], (a)[1] < (b)[1] ? (a)[1] : (b)[1], \
              (a)[2] < (b)[2] ? (a)[2] : (b)[2], (a)[3] < (b)[3] ? (a)[3] : (b)[3]})

#define ALWAYS_INLINE static inline __attribute__((always_inline))
/* 256-bit instructions where the machine has them; which those are is asked before sanitizers
   have begun */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#endif
