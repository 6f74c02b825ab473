/* Replaces libFuzzer: runs the given files, then `mutants` mutants of them; i determines mutant i.
 * Usage: program mutants files... */
#include "fuzz.h"

enum { LONGEST = 512, MOST_SEEDS = 256 };

static uint8_t seeds[MOST_SEEDS][LONGEST], made[LONGEST];
static size_t sizes[MOST_SEEDS];

static size_t read_seed(const char *path, uint8_t *into)
{
    FILE *file = fopen(path, "rb");
    HOLDS(file);
    const size_t n = fread(into, 1, LONGEST, file);
    HOLDS(fclose(file) == 0);
    return n;
}

static size_t mutate(size_t n_seeds, uint64_t *counter)
{
    size_t n = 0;
    if (n_seeds && fuzz_bits(counter) % 4) {
        const size_t seed = fuzz_bits(counter) % n_seeds;
        n = sizes[seed];
        memcpy(made, seeds[seed], n);
    }
    const size_t longest = n + 8 + fuzz_bits(counter) % 64;
    for (; n < longest && n < LONGEST; n++)
        made[n] = (uint8_t)fuzz_bits(counter);
    for (uint64_t k = fuzz_bits(counter) % 8; k > 0; k--)
        made[fuzz_bits(counter) % n] = (uint8_t)fuzz_bits(counter);
    return n;
}

int main(int argc, char **argv)
{
    size_t n_seeds = 0;
    HOLDS(argc >= 2);
    for (int i = 2; i < argc && n_seeds < MOST_SEEDS; i++, n_seeds++) {
        sizes[n_seeds] = read_seed(argv[i], seeds[n_seeds]);
        LLVMFuzzerTestOneInput(seeds[n_seeds], sizes[n_seeds]);
    }
    const long n = strtol(argv[1], NULL, 10);
    for (long i = 0; i < n; i++) {
        uint64_t counter = (uint64_t)i;
        LLVMFuzzerTestOneInput(made, mutate(n_seeds, &counter));
    }
    return 0;
}
