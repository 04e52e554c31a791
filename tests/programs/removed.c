/*
 * Functions that nothing calls: with -ffunction-sections and --gc-sections the linker removes them, and keeps their DWARF, which then
 * begins at address 0. They are so large that they would cover all other code. removed_rest.c has the code that stays.
 */
#define LARGE() __asm__ volatile(".fill 0x8000, 1, 0x90")

volatile int removed_sink;

static inline __attribute__((always_inline)) void removed_inline(void)
{
	LARGE();
	removed_sink++;
}

void removed(void)
{
	removed_inline();
	removed_sink = 2;
}
