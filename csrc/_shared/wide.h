#ifndef WIDE_H
#define WIDE_H

#include <stdint.h>

/*
 * Four doubles at a time, for the kernels' hot loops; private to csrc. The
 * arithmetic is element by element: wider instructions change the speed and
 * not one bit.
 *
 * A kernel is written once, for compilers with vectors and for those without (MSVC;
 * PB_PLAIN shows what they see):
 *
 *     EACH sum L += x L * y L;
 *
 * With vectors EACH and L are nothing, and this is sum += x * y. Without, EACH is a loop
 * over the lanes and L the lane: sum.lanes[i] += x.lanes[i] * y.lanes[i]. So the one
 * statement after EACH takes from a vector only the lane that it writes.
 */
enum { LANES = 4 };

#if defined(__GNUC__) && !defined(PB_PLAIN)
#define HAS_VECTORS
typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
/* the same at any alignment */
typedef double unaligned
    __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));
typedef int64_t mask __attribute__((vector_size(LANES * sizeof(int64_t))));

#define EACH
#define L
#define LANE(v, i) ((v)[i])
#define LOAD(p) ((vector)*(const unaligned *)(p))
#define FOUR(a, b, c, d) ((vector){(a), (b), (c), (d)})
/* a number among lanes, after EACH */
#define EVERY(x) ALL(x)
/* `which` chooses a, elsewhere b: GCC makes blends of these masks in loops */
#define PICK(which, a, b) ((vector)(((which) & (mask)(a)) | (~(which) & (mask)(b))))
/* the smaller, lane by lane: GCC makes one instruction of this, and more of masks */
#define LEAST(a, b)                                                  \
    ((vector){(a)[0] < (b)[0] ? (a)[0] : (b)[0], (a)[1] < (b)[1] ? (a)[1] : (b)[1], \
              (a)[2] < (b)[2] ? (a)[2] : (b)[2], (a)[3] < (b)[3] ? (a)[3] : (b)[3]})
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 4")
#else
typedef struct {
    double lanes[LANES];
} vector;
typedef vector unaligned;
typedef struct {
    int64_t lanes[LANES];
} mask;

#define EACH for (int each_lane = 0; each_lane < LANES; each_lane++)
#define L .lanes[each_lane]
#define LANE(v, i) ((v).lanes[i])
#define LOAD(p) (*(const vector *)(p))
#define FOUR(a, b, c, d) ((vector){{(a), (b), (c), (d)}})
#define EVERY(x) (x)
#define PICK(which, a, b) ((which) ? (a) : (b))
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define ALWAYS_INLINE static inline
#define UNROLL
#endif

/* the larger of a and b, a if they are equal; a blend of two, while LEAST is one instruction */
#define LARGER(a, b) PICK((b) > (a), b, a)
#define ALL(x) FOUR(x, x, x, x)
#define STORED(p) (*(unaligned *)(p))
/* a new vector, or a new mask, of what each lane gets */
#define VECTOR(name, value) \
    vector name;            \
    EACH name L = value
#define MASK(name, value) \
    mask name;            \
    EACH name L = value
#define ANY(m) (LANE(m, 0) | LANE(m, 1) | LANE(m, 2) | LANE(m, 3))

/* of two numbers, a where they are equal; fmax and fmin are calls, for they look after NaN */
ALWAYS_INLINE double larger(double a, double b) { return b > a ? b : a; }
ALWAYS_INLINE double smaller(double a, double b) { return b < a ? b : a; }

/* 256-bit instructions where the machine has them. GCC's alone: Clang 14 gives such functions
   names that no other file finds. Not with sanitizers: which instructions there are is asked
   before they have begun */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__) && defined(HAS_VECTORS)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#endif
