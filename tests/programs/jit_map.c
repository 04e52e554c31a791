/*
 * Spends its time in functions that it generates at run time, and lists them in a perf map, as run-time compilers do: 50 % in
 * `first`, which exists in two tiers, 30 % in a function whose memory another one had before, 20 % in one that only an
 * older line of the map contains. Prints the path of its map, which the caller removes. `jit_map touch [NAME]`
 * touches pages in generated code, and writes no map or one with that name.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

enum { FUNCTION_BYTES = 64, FUNCTIONS = 4, ROUNDS = 10 };

/* Calls the function whose address it receives. */
static const unsigned char code[] = {
	0x55,             /* push %rbp */
	0x48, 0x89, 0xe5, /* mov  %rsp, %rbp */
	0xff, 0xd7,       /* call *%rdi */
	0x5d,             /* pop  %rbp */
	0xc3,             /* ret */
};

/* Touches 100 pages. */
static const unsigned char touches[] = {
	0xb9, 0x64, 0x00, 0x00, 0x00,             /* mov $100, %ecx */
	0xc6, 0x07, 0x01,                         /* movb $1, (%rdi) */
	0x48, 0x81, 0xc7, 0x00, 0x10, 0x00, 0x00, /* add $4096, %rdi */
	0xff, 0xc9,                               /* dec %ecx */
	0x75, 0xf2,                               /* jnz, to movb */
	0xc3,                                     /* ret */
};

typedef void (*generated)(void (*)(void));

NOINLINE static void work(void)
{
	burn(10000);
	NOT_A_TAIL_CALL();
}

static FILE *open_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	puts(path);
	return fopen(path, "w");
}

static int touch(unsigned char *memory, const char *name)
{
	enum { BYTES = 100 * 4096 };
	char *fresh = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fresh == MAP_FAILED || madvise(fresh, BYTES, MADV_NOHUGEPAGE))
		return 1;
	memcpy(memory, touches, sizeof(touches));
	if (mprotect(memory, 4096, PROT_READ | PROT_EXEC))
		return 1;
	((void (*)(char *))memory)(fresh);
	if (!name)
		return 0;
	FILE *map = open_map();
	return !map || fprintf(map, "%lx %zx %s\n", (unsigned long)memory, sizeof(touches), name) < 0 || fclose(map);
}

int main(int argc, char **argv)
{
	static const char *const names[FUNCTIONS] = { "JS:~first /srv/app.js:3:15", "JS:*first /srv/app.js:3:15",
						      "py::second:/srv/app.py", NULL };
	unsigned char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	if (argc > 1)
		return touch(memory, argv[2]);
	FILE *map = open_map();
	if (!map)
		return 1;
	fprintf(map, "%lx %x stale\n", (unsigned long)memory, 4096);
#ifdef HOLE_BYTES
	if (fseeko(map, HOLE_BYTES, SEEK_CUR)) /* the file has no data there */
		return 1;
	fprintf(map, "\n");
#endif
	for (int i = 0; i < FUNCTIONS; i++) {
		memcpy(memory + i * FUNCTION_BYTES, code, sizeof(code));
		if (names[i])
			fprintf(map, "%lx %x %s\n", (unsigned long)(memory + i * FUNCTION_BYTES), FUNCTION_BYTES,
				names[i]);
	}
	fclose(map);
	if (mprotect(memory, 4096, PROT_READ | PROT_EXEC))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		static const int turns[FUNCTIONS] = { 1, 4, 3, 2 };
		for (int function = 0; function < FUNCTIONS; function++)
			for (int turn = 0; turn < turns[function]; turn++)
				((generated)(memory + function * FUNCTION_BYTES))(work);
	}
	share("main;first;work", 0.5);
	share("main;second;work", 0.3);
	share("main;stale;work", 0.2);
	return 0;
}
