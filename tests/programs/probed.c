/*
 * Behaviours that are hard for probes and for counts in the kernel. The first argument selects one. States the
 * correct counts.
 */
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pthread.h>

#include "burn.h"

enum { ROUNDS = 1000, DEPTH = 50, SOME = 100 };

static volatile long sum;

NOINLINE long take(long value)
{
	sum += value;
	return sum;
}

/* Counts negative arguments as 0. */
static void negative(void)
{
	for (int i = 0; i < 10; i++) {
		take(100);
		take(-7);
	}
	amount("uprobe:probed:take:arg1", "main", 1000);
}

NOINLINE int take_int(int value, unsigned more)
{
	sum += value + more;
	return -value;
}

/* The caller writes 32 bits, and the upper half of the register is zero: -7 is 0xfffffff9 there. Counts its
 * negative arguments and results as 0, but large unsigned arguments in full. */
static void negative_ints(void)
{
	for (int i = 0; i < 10; i++) {
		take_int(100, 3000000000u);
		take_int(-7, 1);
	}
	amount("uprobe:probed:take_int:arg1", "main", 1000);
	amount("uprobe:probed:take_int:arg2", "main", 30000000010);
	amount("uprobe:probed:take_int:ret", "main", 70);
}

/* Closes a descriptor of -1, which counts 0, and one of 17. */
static void bad_closes(void)
{
	for (int i = 0; i < 10; i++)
		sum += close(-1);
	close(17);
	amount("uprobe:libc.so.6:close:arg1", "main", 17);
}

/* These requests fail, because they exceed all memory. */
static void huge(void)
{
	void *volatile given;
	volatile size_t much = (size_t)1 << 62, more = (size_t)1 << 40;

	given = malloc(much);
	given = calloc(more, more);
	given = calloc(more, 1 << 8);
	(void)given;
}

NOINLINE long descend(int depth)
{
	long result = depth ? descend(depth - 1) : syscall(SYS_getppid);

	NOT_A_TAIL_CALL();
	return result;
}

static void returns(void)
{
	for (int i = 0; i < ROUNDS; i++)
		descend(DEPTH);
	amount("syscalls:getppid", "main;descend", ROUNDS);
}

/* Begins with a nop of 5 bytes, which some kernels replace by a call. */
__attribute__((naked)) void nop_first(void)
{
	__asm__("nopl 0(%rax,%rax,1)\n\tret");
}

static void nops(void)
{
	for (int i = 0; i < ROUNDS; i++)
		nop_first();
	amount("calls:nop_first", "main", ROUNDS);
}

/* Makes system calls by 32-bit numbers: 20 is getpid there, and writev in 64-bit programs. */
static void old_calls(void)
{
	for (int i = 0; i < SOME; i++) {
		long result = 20;
		__asm__ volatile("int $0x80" : "+a"(result)::"memory", "r8", "r9", "r10", "r11");
		sum += result;
	}
	for (int i = 0; i < SOME; i++)
		syscall(SYS_getppid);
	amount("syscalls:getppid", "main", SOME);
}

NOINLINE static void after_exec(void)
{
	for (int i = 0; i < SOME; i++)
		syscall(SYS_getppid);
	NOT_A_TAIL_CALL();
	amount("syscalls:getppid", "main;after_exec", SOME);
}

static void *exec_here(void *self)
{
	execl(self, self, "after_exec", (char *)NULL);
	return NULL;
}

static void exec_from_thread(char *self)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exec_here, self) == 0)
		pthread_join(thread, NULL);
}

NOINLINE static void call_some(void)
{
	for (int i = 0; i < SOME; i++)
		take(1);
	NOT_A_TAIL_CALL();
}

/* The first child runs for a second, so that a recorder can attach to it. */
static void children(void)
{
	call_some();
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();
		if (child == 0 && i == 0)
			nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
		if (child == 0) {
			call_some();
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	amount("calls:take", "main;call_some", 4ul * SOME);
}

/* Prints "ready". For each byte of standard input, prints the first byte of the code of `take`. */
static void bystander(void)
{
	char byte;

	call_some();
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) == 1) {
		/* 0xcc is a probe's. */
		const volatile uint8_t *code = (const volatile uint8_t *)(uintptr_t)take;
		printf("%02x\n", *code);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "negative") == 0)
		negative();
	else if (strcmp(what, "negative_ints") == 0)
		negative_ints();
	else if (strcmp(what, "bad_closes") == 0)
		bad_closes();
	else if (strcmp(what, "huge") == 0)
		huge();
	else if (strcmp(what, "returns") == 0)
		returns();
	else if (strcmp(what, "nops") == 0)
		nops();
	else if (strcmp(what, "old_calls") == 0)
		old_calls();
	else if (strcmp(what, "exec_from_thread") == 0)
		exec_from_thread(argv[0]);
	else if (strcmp(what, "after_exec") == 0)
		after_exec();
	else if (strcmp(what, "children") == 0)
		children();
	else if (strcmp(what, "bystander") == 0)
		bystander();
	else
		return 2;
	return 0;
}
