/* MARK(id) notes the address of the code that stands there, its line and an id
 * in section "marks", from which the tests know what to expect of an address. */
#define MARK(id)                                        \
	__asm__ volatile("1: nop\n\t"                   \
			 ".pushsection marks,\"a\"\n\t" \
			 ".long %c0, %c1, 1b - .\n\t"   \
			 ".popsection"                  \
			 :                              \
			 : "i"(id), "i"(__LINE__))
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
