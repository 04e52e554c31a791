/* Functions with the symbols that GHC gives to Haskell's. With -DLINKED_BY_GHC the program has the section by which one knows that GHC linked it. */
#include "burn.h"

#ifdef LINKED_BY_GHC
__attribute__((used, section(".debug-ghc-link-info"))) static const char link_info[] = "link info";
#endif

#define NAMED(function, symbol) NOINLINE void function(void) __asm__(symbol)

NAMED(append, "base_GHCziBase_zpzp_info");
NAMED(tuple, "Main_zdfEqZ2T_info");
NAMED(runtime, "stg_ap_v_info");

void append(void)
{
	EVENT_HERE();
	NOT_A_TAIL_CALL();
}

void tuple(void)
{
	append();
	NOT_A_TAIL_CALL();
}

void runtime(void)
{
	tuple();
	NOT_A_TAIL_CALL();
}

int main(void)
{
	runtime();
	NOT_A_TAIL_CALL();
	return 0;
}
