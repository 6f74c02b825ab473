#ifndef PREFETCH_H
#define PREFETCH_H

/* Asks the processor to fetch memory that will be read soon, if the compiler supports it. */
#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

#endif
