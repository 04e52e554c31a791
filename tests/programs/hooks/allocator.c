/* A program's own malloc, which is instrumented: its hooks run in calls by the dynamic linker, the C library and
 * the hooks' own library, before main. */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "hooks.h"

enum { ARENA_BYTES = 16 << 20 };

static _Alignas(16) char arena[ARENA_BYTES];
static size_t used;
static long taken, given, took, cleared;

static NOINLINE void *take(size_t bytes)
{
	__atomic_fetch_add(&took, 1, __ATOMIC_RELAXED);
	size_t rounded = (bytes + 31) & ~(size_t)15;
	size_t at = __atomic_fetch_add(&used, rounded, __ATOMIC_RELAXED);
	if (at + rounded > ARENA_BYTES)
		return NULL;
	memcpy(arena + at, &bytes, sizeof(bytes));
	return arena + at + 16;
}

NOINLINE void *malloc(size_t bytes)
{
	__atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
	return take(bytes);
}

NOINLINE void free(void *block)
{
	(void)block;
	__atomic_fetch_add(&given, 1, __ATOMIC_RELAXED);
}

NOINLINE void *calloc(size_t count, size_t bytes)
{
	__atomic_fetch_add(&cleared, 1, __ATOMIC_RELAXED);
	return take(count * bytes); /* never used before: zero */
}

NOINLINE void *realloc(void *block, size_t bytes)
{
	size_t old = 0;
	void *larger = take(bytes);
	if (block)
		memcpy(&old, (char *)block - 16, sizeof(old));
	if (block && larger)
		memcpy(larger, block, old < bytes ? old : bytes);
	return larger;
}

static NOINLINE char *copy(const char *text)
{
	char *made = malloc(strlen(text) + 1);
	CHECK(made != NULL);
	return strcpy(made, text);
}

static NOINLINE void own_calls(void)
{
	for (int i = 0; i < 100; i++) {
		char *text = copy("text");
		text = realloc(text, 100);
		CHECK(strcmp(text, "text") == 0);
		free(text);
	}
}

int main(void)
{
	long taken_before = taken, given_before = given;
	own_calls();
	CHECK(taken - taken_before == 100 && given - given_before >= 100);
	puts("allocates"); /* allocates the output buffer, the last allocation before the end */
	fflush(stdout);
	states("malloc", taken);
	states("free", given);
	states("take", took);
	states("calloc", cleared);
	_exit(0);
}
