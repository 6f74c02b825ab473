#ifndef WIDE_H
#define WIDE_H

#include <stdint.h>

/*
 * Operations on four doubles at a time, for hot loops. Private to csrc. Arithmetic is element
 * by element, so wider instructions change the speed but not a single bit of the results.
 *
 * A kernel is written once, for compilers with vector types and for those without (MSVC, or
 * any compiler with PB_PLAIN defined):
 *
 *     EACH sum L += x L * y L;
 *
 * With vector types EACH and L are empty, and this is sum += x * y. Without vector types, EACH is
 * a loop over the lanes and L selects the lane: sum.lanes[i] += x.lanes[i] * y.lanes[i]. The
 * statement after EACH may therefore read of each vector only the lane that it writes.
 */
enum { LANES = 4 };

#if defined(__GNUC__) && !defined(PB_PLAIN)
#define HAS_VECTORS
typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
/* a vector at any alignment */
typedef double unaligned
    __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));
typedef int64_t mask __attribute__((vector_size(LANES * sizeof(int64_t))));

#define EACH
#define L
#define LANE(v, i) ((v)[i])
#define LOAD(p) ((vector)*(const unaligned *)(p))
/* four floats at any alignment, as doubles */
typedef float floats __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
#define LOAD_FLOATS(p) __builtin_convertvector(*(const floats *)(p), vector)
#define FOUR(a, b, c, d) ((vector){(a), (b), (c), (d)})
/* a scalar in an expression after EACH */
#define EVERY(x) ALL(x)
/* a if `which` is true, else b; in loops GCC turns these masks into blends */
#define PICK(which, a, b) ((vector)(((which) & (mask)(a)) | (~(which) & (mask)(b))))
/* the smaller of a and b; GCC compiles this to one instruction, and PICK to several */
#define LEAST(a, b)                                                  \
    ((vector){(a)[0] < (b)[0] ? (a)[0] : (b)[0], (a)[1] < (b)[1] ? (a)[1] : (b)[1], \
              (a)[2] < (b)[2] ? (a)[2] : (b)[2], (a)[3] < (b)[3] ? (a)[3] : (b)[3]})
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 4")
#define UNROLL_8 _Pragma("GCC unroll 8")
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
#define LOAD_FLOATS(p) FOUR((p)[0], (p)[1], (p)[2], (p)[3])
#define FOUR(a, b, c, d) ((vector){{(a), (b), (c), (d)}})
#define EVERY(x) (x)
#define PICK(which, a, b) ((which) ? (a) : (b))
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define ALWAYS_INLINE static inline
#define UNROLL
#define UNROLL_8
#endif

/* the larger of a and b, a if they are equal; a blend, while LEAST is one instruction */
#define LARGER(a, b) PICK((b) > (a), b, a)
#define ALL(x) FOUR(x, x, x, x)
#define STORED(p) (*(unaligned *)(p))
/* declares a vector or a mask and sets each lane to `value` */
#define VECTOR(name, value) \
    vector name;            \
    EACH name L = value
#define MASK(name, value) \
    mask name;            \
    EACH name L = value
#define ANY(m) (LANE(m, 0) | LANE(m, 1) | LANE(m, 2) | LANE(m, 3))

/* Returns the position of the lowest bit that is set; bits must not be 0. */
ALWAYS_INLINE int lowest_bit(uint64_t bits)
{
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int n = 0;
    for (; !(bits & 1); bits >>= 1)
        n++;
    return n;
#endif
}

ALWAYS_INLINE int count_bits(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)((bits * UINT64_C(0x0101010101010101)) >> 56);
}

/* Return a if both are equal. fmax and fmin would be function calls, because they handle NaN. */
ALWAYS_INLINE double larger(double a, double b) { return b > a ? b : a; }
ALWAYS_INLINE double smaller(double a, double b) { return b < a ? b : a; }

/* a condition for a conditional move: a branch would be mispredicted about every second time */
#if defined(__has_builtin)
#if __has_builtin(__builtin_expect_with_probability)
#define UNPREDICTABLE(condition) __builtin_expect_with_probability((condition), 1, 0.5)
#endif
#endif
#ifndef UNPREDICTABLE
#define UNPREDICTABLE(condition) (condition)
#endif

/* Uses 256-bit instructions if the machine has them. Only with GCC: Clang 14 gives such functions
   names that other files cannot link to. Not with sanitizers: the processor is queried before
   they are initialised. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__) && defined(HAS_VECTORS)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#endif
