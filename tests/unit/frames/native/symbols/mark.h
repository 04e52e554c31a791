/* MARK(id) stores, in section "marks", the address of the code at which it stands, its line and an id. The tests
 * derive from them the expected result for an address. */
#define MARK(id)                                        \
	__asm__ volatile("1: nop\n\t"                   \
			 ".pushsection marks,\"a\"\n\t" \
			 ".long %c0, %c1, 1b - .\n\t"   \
			 ".popsection"                  \
			 :                              \
			 : "i"(id), "i"(__LINE__))
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
