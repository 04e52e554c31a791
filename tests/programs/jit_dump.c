/*
 * Spends its time in functions that it generates at run time, and describes them in a jitdump in the working directory, as run-time compilers
 * do: 50 % in `first`, whose memory another function had before, 30 % in `inner`, which is inlined in `second`, 20 % in `third`, whose code was
 * moved.
 */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

enum { FUNCTION_BYTES = 64, FUNCTIONS = 3, ROUNDS = 10, PAGE = 4096, INLINED = 0x63707266 };

/* Calls the function whose address it receives. */
static const unsigned char code[] = {
	0x55,             /* push %rbp */
	0x48, 0x89, 0xe5, /* mov  %rsp, %rbp */
	0xff, 0xd7,       /* call *%rdi */
	0x5d,             /* pop  %rbp */
	0xc3,             /* ret */
};

typedef void (*generated)(void (*)(void));

NOINLINE static void work(void)
{
	burn(10000);
	NOT_A_TAIL_CALL();
}

static int dump;

static void put(const void *bytes, size_t size)
{
	if (write(dump, bytes, size) != (ssize_t)size)
		_exit(1);
}

static void put32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void put64(uint64_t value)
{
	put(&value, sizeof(value));
}

static void put_text(const char *text)
{
	put(text, strlen(text) + 1);
}

static uint64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void put_record(uint32_t id, size_t bytes)
{
	put32(id);
	put32((uint32_t)(16 + bytes));
	put64(now());
}

static void put_load(uint64_t address, uint64_t index, const char *name)
{
	put_record(0, 40 + strlen(name) + 1 + sizeof(code));
	put64(0);
	put64(address);
	put64(address);
	put64(FUNCTION_BYTES);
	put64(index);
	put_text(name);
	put(code, sizeof(code));
}

/* The line of the call, which is the only one with samples. */
static void put_lines(uint64_t address)
{
	put_record(2, 16 + 2 * (16 + sizeof("app.lang")));
	put64(address);
	put64(2);
	for (uint32_t i = 0; i < 2; i++) {
		put64(address + i * 4);
		put32(i ? 12 : 11);
		put32(0);
		put_text("app.lang");
	}
}

static void put_inlined(uint64_t address)
{
	put_record(INLINED, 16 + 16 + 2 * (4 + sizeof("app.lang")) + sizeof("inner") + sizeof("second"));
	put64(address);
	put64(1);
	put64(address);
	put32(2);
	put32(0);
	put32(7);
	put_text("inner");
	put_text("app.lang");
	put32(21);
	put_text("second");
	put_text("app.lang");
}

static int open_dump(void)
{
	char path[64];
	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	dump = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (dump < 0)
		return -1;
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(62);
	put32(0);
	put32((uint32_t)getpid());
	put64(now());
	put64(0);
	return mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	unsigned char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = (uint64_t)(uintptr_t)memory;
	if (memory == MAP_FAILED || open_dump() < 0)
		return 1;
	for (int i = 0; i < FUNCTIONS; i++)
		memcpy(memory + i * FUNCTION_BYTES, code, sizeof(code));
	if (mprotect(memory, PAGE, PROT_READ | PROT_EXEC))
		return 1;
	put_load(start, 0, "stale");
	put_lines(start);
	put_load(start, 1, "first");
	put_inlined(start + FUNCTION_BYTES);
	put_load(start + FUNCTION_BYTES, 2, "second");
	put_lines(start + 8 * FUNCTION_BYTES);
	put_load(start + 8 * FUNCTION_BYTES, 3, "third");
	put_record(1, 48);
	put64(0);
	put64(start + 2 * FUNCTION_BYTES);
	put64(start + 8 * FUNCTION_BYTES);
	put64(start + 2 * FUNCTION_BYTES);
	put64(FUNCTION_BYTES);
	put64(3);
	for (int i = 0; i < ROUNDS; i++) {
		static const int turns[FUNCTIONS] = { 5, 3, 2 };
		for (int function = 0; function < FUNCTIONS; function++)
			for (int turn = 0; turn < turns[function]; turn++)
				((generated)(memory + function * FUNCTION_BYTES))(work);
	}
	put_load(start, 4, "later"); /* after all samples */
	share("main;first;work", 0.5);
	share("main;second;inner;work", 0.3);
	share("main;third;work", 0.2);
	return 0;
}
