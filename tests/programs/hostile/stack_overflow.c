/*
 * Overflows the stack of a thread repeatedly, and continues: the handler, on an alternate stack, finds the address
 * in the inaccessible page, and leaves by siglongjmp.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "moment.h"

enum { PAGE = 4096, STACK = 96 * 1024, ALTERNATE = 64 * 1024, GUARD = 64 * 1024, ROUNDS = 12 };

static sigjmp_buf place;
static char *lowest;
static volatile int handled;

static void on_fault(int number, siginfo_t *info, void *context)
{
	char *address = info->si_addr;

	CHECK(number == SIGSEGV && info->si_code == SEGV_ACCERR && context);
	CHECK(address >= lowest && address < lowest + GUARD);
	handled++;
	siglongjmp(place, 1);
}

NOINLINE static int descend(int depth)
{
	volatile char bytes[500];

	bytes[0] = (char)depth;
	burn_sink += 1;
	for (volatile int i = 0; i < 8000; i++)
		;
	int below = descend(depth + 1);
	return below + bytes[0];
}

static void *overflow(void *alternate)
{
	stack_t stack = { .ss_sp = alternate, .ss_size = ALTERNATE };

	CHECK(sigaltstack(&stack, NULL) == 0);
	for (volatile int i = 0; i < ROUNDS; i++) {
		if (sigsetjmp(place, 1) == 0)
			burn_sink += (unsigned long)descend(0);
		CHECK(handled == i + 1);
	}
	CHECK(sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL) == 0);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	static char alternate[ALTERNATE];
	pthread_attr_t attributes;
	pthread_t id;

	lowest = mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(lowest != MAP_FAILED && mprotect(lowest, GUARD, PROT_NONE) == 0);
	CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setstack(&attributes, lowest + GUARD, STACK) == 0);
	CHECK(pthread_create(&id, &attributes, overflow, alternate) == 0);
	CHECK(pthread_join(id, NULL) == 0);
	return moment_ends("each overflow was handled\n");
}
