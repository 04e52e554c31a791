/*
 * Moves its text to anonymous memory at the same addresses, as programs do for huge pages:
 *
 *   moved_text copied    mmap over the text, then the bytes are copied back (Node, ClickHouse, HHVM)
 *   moved_text moved     mremap of a copy onto the text
 *   moved_text other     as `copied`, but with another byte in a function that is never called: other code
 *
 * The code that does so is in a page of its own. Prints "ready"; makes its events for each byte of its input, and prints "done".
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

#define APART NOINLINE __attribute__((section("apart"), aligned(4096)))

/* Never called. */
NOINLINE __attribute__((used)) static void spare(void)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");
}

NOINLINE static void heavy(void)
{
	BURN_HERE(4000);
}

NOINLINE static void light(void)
{
	BURN_HERE(1000);
}

NOINLINE static void outer(void)
{
	heavy();
	NOT_A_TAIL_CALL();
	light();
	NOT_A_TAIL_CALL();
}

static inline long call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result = number;
	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* It calls no other function: the others are away meanwhile. */
APART static void replace(char *text, unsigned long size, char *copy, int is_moved)
{
	if (is_moved) {
		call(SYS_mremap, (long)copy, (long)size, (long)size, MREMAP_MAYMOVE | MREMAP_FIXED, (long)text, 0);
		return;
	}
	call(SYS_mmap, (long)text, (long)size, PROT_READ | PROT_WRITE | PROT_EXEC,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	void *to = text, *from = copy;
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size)::"memory");
}

/* Finds the mapping that has `outer`, without the pages of `replace`. */
static char *find_text(unsigned long *size)
{
	unsigned long start = 0, end = 0, here = (uintptr_t)outer, apart = (uintptr_t)replace;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps) && !(start <= here && here < end))
		if (sscanf(line, "%lx-%lx", &start, &end) != 2)
			exit(1);
	fclose(maps);
	if (start <= apart && apart < end)
		end = apart;
	*size = end - start;
	return (char *)start;
}

int main(int argc, char **argv)
{
	unsigned long size;
	char byte, *text = find_text(&size);
	char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(copy, text, size);
	if (argc > 1 && strcmp(argv[1], "other") == 0)
		copy[(uintptr_t)spare - (uintptr_t)text + 1] ^= 1;
	replace(text, size, copy, argc > 1 && strcmp(argv[1], "moved") == 0);
	setbuf(stdout, NULL);
	puts("ready");
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		outer();
		puts("done");
	}
	puts("share main;outer;heavy 0.8\nshare main;outer;light 0.2");
	return 0;
}
