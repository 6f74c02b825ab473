/*
 * A racing sampler in C++: draws which of four clusters a document belongs to, given its
 * words, with random bits of std::mt19937_64 and a class that owns the memory.
 *
 *     cmake -S . -B build -Dpybandit_DIR="$(python3 -m pybandit config --cmakedir)"
 *     cmake --build build && build/cluster
 */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <vector>

#include "pybandit/racing/sampler.h"
#include "pybandit/racing/schedule.h"

namespace {

/* Returns a pb_bitgen that takes its bits from a 64-bit engine of <random>. */
template <class Engine>
pb_bitgen bits_of(Engine &engine)
{
    static_assert(Engine::min() == 0 && Engine::max() == UINT64_MAX, "an engine of 64 bits");
    struct of {
        static uint64_t next(void *state) { return (*static_cast<Engine *>(state))(); }
        static uint32_t half(void *state) { return static_cast<uint32_t>(next(state) >> 32); }
        static double unit(void *state)
        {
            return static_cast<double>(next(state) >> 11) / 9007199254740992.0; /* 2^53 */
        }
    };
    return {&engine, of::next, of::half, of::unit, of::next};
}

/*
 * A pb_sampler with its schedule and its memory. It has pointers to its members, and cannot be
 * copied. `Model` has log_factor(n, i), which must not throw, because C code calls it.
 */
template <class Model>
class Sampler {
public:
    Sampler(const Model &model, int64_t n_factors, int64_t n_states, double delta)
        : looks(words(pb_schedule_memory(n_factors, 50, 1.0)))
    {
        const pb_factors factors = {n_factors, n_states, nullptr, read,
                                    const_cast<Model *>(&model), PB_FLOAT64};
        pb_schedule schedule;
        if (pb_schedule_normal(delta, PB_ONE_SIDED, n_factors, n_states, 50, 1.0, looks.data(),
                               &schedule) != PB_OK)
            throw std::invalid_argument("delta must be above 0 and below (D - 1) / 2");
        memory.resize(words(pb_sampler_memory(&factors, &schedule, PB_SUBSAMPLE_PERMUTATION)));
        pb_sampler_init(&sampler, &factors, &schedule, nullptr, PB_SUBSAMPLE_PERMUTATION,
                        memory.data());
    }
    Sampler(const Sampler &) = delete;
    Sampler &operator=(const Sampler &) = delete;

    int64_t draw(pb_bitgen *bits)
    {
        int64_t state;
        if (pb_sampler_draw(&sampler, bits, &state) != PB_OK)
            throw std::domain_error("a log factor is not finite");
        return state;
    }
    int64_t n_read() const { return sampler.race.n_evaluations; }

private:
    static std::size_t words(int64_t bytes) { return static_cast<std::size_t>(bytes) / 8 + 1; }
    static int read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                    int64_t n_states, double *out, void *model)
    {
        for (int64_t f = 0; f < n_factors; f++)
            for (int64_t s = 0; s < n_states; s++)
                *out++ = static_cast<const Model *>(model)->log_factor(factors[f], states[s]);
        return 0;
    }

    std::vector<double> looks, memory;
    pb_sampler sampler;
};

const int CLUSTERS = 4, VOCABULARY = 1000, WORDS = 50000, DRAWS = 5000;

/* A document and the word frequencies of the clusters, which differ little. */
struct Document {
    std::vector<int> words;
    std::vector<double> log_frequency[CLUSTERS];

    double log_factor(int64_t n, int64_t i) const { return log_frequency[i][words[n]]; }

    explicit Document(std::mt19937_64 &engine)
    {
        std::uniform_int_distribution<int> any(0, VOCABULARY - 1);
        std::normal_distribution<double> noise(0.0, 0.0005);
        for (int n = 0; n < WORDS; n++)
            words.push_back(any(engine));
        for (auto &frequency : log_frequency)
            for (int v = 0; v < VOCABULARY; v++)
                frequency.push_back(noise(engine) - std::log(1.0 * VOCABULARY));
    }
    std::vector<double> posterior() const
    {
        std::vector<double> p(CLUSTERS, 0.0);
        for (int i = 0; i < CLUSTERS; i++)
            for (int n = 0; n < WORDS; n++)
                p[i] += log_factor(n, i);
        const double most = *std::max_element(p.begin(), p.end());
        double total = 0.0;
        for (auto &one : p)
            total += one = std::exp(one - most);
        for (auto &one : p)
            one /= total;
        return p;
    }
};

} // namespace

int main()
{
    std::mt19937_64 engine(3);
    const Document document(engine);
    Sampler<Document> sampler(document, WORDS, CLUSTERS, 0.01);
    pb_bitgen bits = bits_of(engine);

    std::vector<double> drawn(CLUSTERS, 0.0);
    double n_read = 0.0, distance = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        drawn[sampler.draw(&bits)] += 1.0 / DRAWS;
        n_read += static_cast<double>(sampler.n_read());
    }
    const std::vector<double> exact = document.posterior();
    std::printf("cluster   exact   drawn\n");
    for (int i = 0; i < CLUSTERS; i++) {
        std::printf("%7d  %.4f  %.4f\n", i, exact[i], drawn[i]);
        distance += 0.5 * std::fabs(exact[i] - drawn[i]);
    }
    std::printf("read %.1f%% of the factors; total variation from the posterior %.3f\n",
                100.0 * n_read / DRAWS / WORDS / CLUSTERS, distance);
    return distance < 0.05 ? 0 : 1;
}
