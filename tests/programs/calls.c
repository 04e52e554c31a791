/*
 * `calls [ROUNDS]`: calls a global function, a static one, one that calls itself, and a library's, three times as
 * often below one caller as below the other. States also the sums of arguments and results of two of them. Linked
 * with calls_library.c.
 */
#include "burn.h"

void library_work(void);
void library_twice(void);
size_t consume(int tag, size_t bytes);

enum { DEPTH = 4 };

static unsigned long long consumed[2], returned[2];

NOINLINE static void static_work(void)
{
	burn_sink++;
}

NOINLINE size_t consume(int tag, size_t bytes)
{
	burn_sink += (unsigned)tag;
	return bytes * 2;
}

NOINLINE static unsigned nested(unsigned depth)
{
	unsigned below = depth > 1 ? nested(depth - 1) : 0;

	NOT_A_TAIL_CALL();
	return below + 1;
}

static void call_all(int which, unsigned i)
{
	static_work();
	consumed[which] += i % 10;
	returned[which] += consume(7, i % 10);
	burn_sink += nested(DEPTH);
	library_work();
	library_twice();
}

NOINLINE static void heavy(unsigned rounds)
{
	for (unsigned i = 0; i < 3 * rounds; i++)
		call_all(0, i);
}

NOINLINE static void light(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		call_all(1, i);
}

int main(int argc, char **argv)
{
	static const char *const paths[] = { "main;heavy", "main;light" };
	unsigned rounds = (unsigned)rounds_wanted(argc, argv, 100);

	heavy(rounds);
	light(rounds);
	for (int i = 0; i < 2; i++) {
		unsigned long long calls = (i == 0 ? 3ull : 1ull) * rounds;

		amount("calls:static_work", paths[i], calls);
		amount("calls:consume", paths[i], calls);
		amount("calls:nested", paths[i], DEPTH * calls);
		amount("calls:library_work@libcalls_library.so", paths[i], 3 * calls);
		amount("calls:library_work", paths[i], 3 * calls);
		amount("uprobe:libcalls_library.so:library_twice", paths[i], calls);
		amount("uprobe:calls:consume:arg2", paths[i], consumed[i]);
		amount("uprobe:calls:consume:ret", paths[i], returned[i]);
	}
	amount("calls:library_work", "main;heavy;library_twice", 2 * 3ull * rounds);
	share("main;heavy", 0.75);
	share("main;light", 0.25);
	return 0;
}
