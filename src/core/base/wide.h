/* Functions that are compiled for several processors: the dynamic linker takes the one for the
 * widest registers that the processor has.  All give the same bits, since sums keep their order and
 * products are not contracted with sums (-ffp-contract=off).
 *
 *     static POLI_WIDE void add_rows(...)
 *
 * Inline functions that it calls are compiled with it; other functions stay as they are.  Of use
 * for loops over blocks of numbers, of which several go into one register. */
#ifndef POLHODE_BASE_WIDE_H
#define POLHODE_BASE_WIDE_H

#include <stddef.h> /* __GLIBC__ */

/* gcc's function clones need indirect functions of the C library; instruments start too late for
 * these. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) &&       \
    defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&    \
    !defined(POLHODE_NARROW)
#define POLI_WIDE __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define POLI_WIDE
#endif

/* For parts of such functions, and for loops whose bounds are constants at each call. */
#define POLI_INLINE static inline __attribute__((always_inline))

#endif
