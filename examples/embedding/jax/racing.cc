// One Metropolis-Hastings step as an XLA handler, called from compiled JAX code without Python.
// The model is a logistic regression with a normal prior. The data of a step are in a `chain`
// owned by the caller, whose address is the attribute of the handler.
#include <cmath>
#include <cstdint>

#include "pybandit/racing/accept.h"
#include "pybandit/racing/control.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

extern "C" {

// Mirrored by ctypes in run.py.
struct chain {
    int64_t d;
    const double *x, *y;  // rows
    double *points;       // (2, d): the current and the proposed point
    const double *factor;  // (d, d), lower triangular: steps are factor N(0, 1)
    const double *gradient, *hessian, *center;  // of the control variate
    double prior_precision;
    pb_accept *test;
    int busy;
};

// log p(y | points[1]) - log p(y | points[0]): a pb_factor_function.
int log_ratios(const int64_t *factors, int64_t n_factors, const int64_t *, int64_t, double *out,
               void *user_data)
{
    const chain *c = static_cast<const chain *>(user_data);
    for (int64_t f = 0; f < n_factors; f++) {
        const double *x = c->x + factors[f] * c->d;
        double now = 0.0, next = 0.0;
        for (int64_t j = 0; j < c->d; j++) {
            now += x[j] * c->points[j];
            next += x[j] * c->points[c->d + j];
        }
        out[f] = c->y[factors[f]] * (next - now) - std::log1p(std::exp(next)) +
                 std::log1p(std::exp(now));
    }
    return 0;
}
}

// splitmix64, seeded by the key of the step.
static uint64_t next64(void *state)
{
    uint64_t x = *static_cast<uint64_t *>(state) += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
static uint32_t next32(void *state) { return static_cast<uint32_t>(next64(state) >> 32); }
static double next_double(void *state) { return (next64(state) >> 11) * 0x1p-53; }

static double normal(pb_bitgen *bits)
{
    const double radius = std::sqrt(-2.0 * std::log(pb_bitgen_open(bits)));
    return radius * std::cos(6.283185307179586 * pb_bitgen_open(bits));
}

static double squares(const double *point, int64_t d)
{
    double sum = 0.0;
    for (int64_t i = 0; i < d; i++)
        sum += point[i] * point[i];
    return sum;
}

// Proposes a step from points[0], and decides from few rows.
static pb_status step(chain *c, pb_bitgen *bits, int64_t *outcome)
{
    double *now = c->points, *next = c->points + c->d;
    for (int64_t i = 0; i < c->d; i++)
        next[i] = now[i];
    for (int64_t j = 0; j < c->d; j++) {
        const double noise = normal(bits);
        for (int64_t i = j; i < c->d; i++)
            next[i] += c->factor[i * c->d + j] * noise;
    }
    const double prior = -0.5 * c->prior_precision * (squares(next, c->d) - squares(now, c->d));
    const double change =
        pb_control_quadratic_change(c->d, c->gradient, c->hessian, c->center, c->points);
    return pb_accept_decide(c->test, std::log(pb_bitgen_open(bits)) - prior - change, bits,
                            outcome, outcome + 1);
}

static ffi::Error handle(int64_t address, ffi::Buffer<ffi::U32> key,
                         ffi::Buffer<ffi::F64> position, ffi::ResultBuffer<ffi::F64> moved,
                         ffi::ResultBuffer<ffi::S64> outcome)
{
    chain *c = reinterpret_cast<chain *>(address);
    if (static_cast<int64_t>(position.element_count()) != c->d || key.element_count() != 2)
        return ffi::Error::InvalidArgument("position must have d entries and key two");
    if (__atomic_exchange_n(&c->busy, 1, __ATOMIC_ACQUIRE))
        return ffi::Error::Internal("a chain serves one computation at a time");
    uint64_t seed = static_cast<uint64_t>(key.typed_data()[0]) << 32 | key.typed_data()[1];
    pb_bitgen bits = {&seed, next64, next32, next_double, next64};
    for (int64_t i = 0; i < c->d; i++)
        c->points[i] = position.typed_data()[i];
    int64_t *counts = outcome->typed_data();
    const pb_status status = step(c, &bits, counts);
    const double *kept = c->points + (counts[0] ? c->d : 0);
    for (int64_t i = 0; i < c->d; i++)
        moved->typed_data()[i] = kept[i];
    __atomic_store_n(&c->busy, 0, __ATOMIC_RELEASE);
    if (status != PB_OK)
        return ffi::Error::Internal("a test failed: see AcceptanceTest.raise_status");
    return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(racing_step, handle,
                              ffi::Ffi::Bind()
                                  .Attr<int64_t>("chain")
                                  .Arg<ffi::Buffer<ffi::U32>>()
                                  .Arg<ffi::Buffer<ffi::F64>>()
                                  .Ret<ffi::Buffer<ffi::F64>>()
                                  .Ret<ffi::Buffer<ffi::S64>>());
