#ifndef PREFETCH_H
#define PREFETCH_H

/* Has the processor fetch what will be read soon, where the compiler can say so. */
#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

#endif
