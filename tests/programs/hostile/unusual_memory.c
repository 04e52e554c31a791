/* Unusual things that programs do with memory and the flow of control. */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <xmmintrin.h>

#include "unusual.h"

enum { PAGE = 4096, MEGABYTE = 1 << 20 };

static void locks_its_memory(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) { /* more than its limit */
		CHECK(errno == ENOMEM || errno == EPERM);
		return;
	}
	struct rusage used;
	char *memory = malloc(MEGABYTE);
	CHECK(memory != NULL);
	burn(2000);
	free(memory);
	/* In KiB: what is locked is resident. The program itself needs 2 MB, and its libraries as much. */
	CHECK(getrusage(RUSAGE_SELF, &used) == 0 && used.ru_maxrss < 64 * 1024);
	CHECK(munlockall() == 0);
}

static void runs_out_of_memory(void)
{
	const struct rlimit none = { 0, 0 };
	struct rlimit before;
	CHECK(getrlimit(RLIMIT_AS, &before) == 0);
	CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){ 0, before.rlim_max }) == 0);
	for (int i = 0; i < 50; i++) {
		CHECK(mmap(NULL, MEGABYTE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
		      errno == ENOMEM);
		CHECK(malloc(64 * MEGABYTE) == NULL);
		burn(40);
	}
	CHECK(setrlimit(RLIMIT_AS, &none) == 0);
	burn(2000);
}

static void writes_code(void)
{
	static const unsigned char code[] = { 0x8d, 0x47, 0x01, 0xc3 }; /* lea 1(%rdi), %eax; ret */
	for (int i = 0; i < 100; i++) {
		unsigned char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(page != MAP_FAILED);
		memcpy(page, code, sizeof(code));
		CHECK(mprotect(page, PAGE, PROT_READ | PROT_EXEC) == 0);
		int (*next)(int) = (int (*)(int))(void *)page;
		for (int j = 0; j < 1000; j++)
			CHECK(next(j) == j + 1);
		CHECK(munmap(page, PAGE) == 0);
	}
}

static void moves_its_memory(void)
{
	for (int i = 0; i < 50; i++) {
		char *pages = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(pages != MAP_FAILED);
		pages[0] = 'a';
		char *moved = mremap(pages, 16 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
		CHECK(moved != MAP_FAILED && moved[0] == 'a');
		CHECK(madvise(moved, 64 * PAGE, MADV_DONTNEED) == 0 && moved[0] == 0);
		burn(50);
		CHECK(munmap(moved, 64 * PAGE) == 0);
	}
}

static void moves_its_break(void)
{
	char *start = sbrk(0);
	CHECK(sbrk(PAGE * 16) == start);
	memset(start, 1, PAGE * 16);
	burn(1000);
	CHECK(sbrk(-PAGE * 16) == start + PAGE * 16 && sbrk(0) == start);
}

static void reads_itself(void)
{
	char from[64] = "the same", to[64] = "";
	struct iovec local = { to, sizeof(to) }, remote = { from, sizeof(from) };
	for (int i = 0; i < 100; i++) {
		CHECK(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof(to));
		CHECK(strcmp(to, "the same") == 0);
		burn(20);
	}
}

/* Pages of its stack that it does not use become unreadable, and readable again. */
NOINLINE static void closes_pages_of_its_stack(void)
{
	char *room = alloca(8 * PAGE);
	char *page = (char *)(((unsigned long)room + PAGE - 1) / PAGE * PAGE);
	memset(room, 1, 8 * PAGE);
	for (int i = 0; i < 50; i++) {
		CHECK(mprotect(page, 4 * PAGE, PROT_NONE) == 0);
		burn(60);
		CHECK(mprotect(page, 4 * PAGE, PROT_READ | PROT_WRITE) == 0);
	}
	CHECK(page[0] == 1);
}

static ucontext_t caller, callee;

static void in_its_context(void)
{
	for (;;) {
		burn(30);
		CHECK(swapcontext(&callee, &caller) == 0);
	}
}

/* A stack of its own in the heap, one in static memory, and switches between them. */
static void switches_stacks(void)
{
	char *stack = malloc(4 * 16384);
	CHECK(stack != NULL && getcontext(&callee) == 0);
	callee.uc_stack.ss_sp = stack;
	callee.uc_stack.ss_size = 4 * 16384;
	callee.uc_link = NULL;
	makecontext(&callee, in_its_context, 0);
	for (int i = 0; i < 100; i++) {
		burn(20);
		CHECK(swapcontext(&caller, &callee) == 0);
	}
	free(stack);
}

static int in_a_clone(void *number)
{
	burn(500);
	*(volatile int *)number += 1;
	_exit(0);
}

/* Processes that share its memory, on stacks that it provides. */
static void clones_with_its_memory(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int number = 0, status;
	for (int i = 0; i < 10; i++) {
		pid_t child = clone(in_a_clone, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &number);
		CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	}
	CHECK(number == 10);
}

static void changes_the_rounding(void)
{
	static const unsigned modes[] = { _MM_ROUND_DOWN, _MM_ROUND_UP, _MM_ROUND_TOWARD_ZERO, _MM_ROUND_NEAREST };
	volatile double one = 1, three = 3;
	double results[4];
	for (int i = 0; i < 400; i++) {
		_MM_SET_ROUNDING_MODE(modes[i % 4]);
		burn(15);
		CHECK(_MM_GET_ROUNDING_MODE() == modes[i % 4]);
		results[i % 4] = one / three;
		if (i % 4 == 3)
			CHECK(results[0] < results[1] && results[2] == results[0]);
	}
}

static void *be_cancelled(void *unused)
{
	for (;;) {
		burn(20);
		pthread_testcancel();
	}
	return unused;
}

static void *be_cancelled_anywhere(void *unused)
{
	int before;
	CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before) == 0);
	for (volatile unsigned long i = 0;; i++)
		;
	return unused;
}

static void cancels_threads(void)
{
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		void *result;
		CHECK(pthread_create(&thread, NULL, i % 2 ? be_cancelled : be_cancelled_anywhere, NULL) == 0);
		burn(200);
		CHECK(pthread_cancel(thread) == 0);
		CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	}
}

static void *be_one_of_many(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

static void has_threads(unsigned count)
{
	static pthread_t threads[2500];
	pthread_barrier_t barrier;
	pthread_attr_t small;
	CHECK(pthread_barrier_init(&barrier, NULL, count + 1) == 0);
	CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 32768) == 0);
	for (unsigned i = 0; i < count; i++)
		CHECK(pthread_create(&threads[i], &small, be_one_of_many, &barrier) == 0);
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < count; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static void has_many_threads(void)
{
	has_threads(500);
}

static void has_thousands_of_threads(void)
{
	has_threads(2500);
}

/* A second copy of the C library and of the mathematics library, in a namespace of its own. */
static void loads_a_namespace(void)
{
	for (int i = 0; i < 3; i++) {
		void *library = dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW);
		CHECK(library != NULL);
		double (*root)(double) = (double (*)(double))dlsym(library, "sqrt");
		CHECK(root != NULL && root(9) == 3);
		burn(300);
		CHECK(dlclose(library) == 0);
	}
}

static int order;

static void last(void)
{
	CHECK(order == 31);
}

static void one_of_the_others(void)
{
	burn(100);
	order++;
}

static void ends_in_many_steps(void)
{
	CHECK(atexit(last) == 0);
	for (int i = 0; i < 31; i++)
		CHECK(atexit(one_of_the_others) == 0);
}

int main(int argc, char **argv)
{
	static const struct unusual things[] = {
		{ "locks", locks_its_memory },
		{ "no-memory", runs_out_of_memory },
		{ "code", writes_code },
		{ "moves", moves_its_memory },
		{ "break", moves_its_break },
		{ "reads-itself", reads_itself },
		{ "stack-pages", closes_pages_of_its_stack },
		{ "contexts", switches_stacks },
		{ "clones", clones_with_its_memory },
		{ "rounding", changes_the_rounding },
		{ "cancels", cancels_threads },
		{ "many-threads", has_many_threads },
		{ "thousands-of-threads", has_thousands_of_threads },
		{ "namespace", loads_a_namespace },
		{ "many-steps", ends_in_many_steps },
		{ NULL, NULL },
	};
	return unusual_main(things, argc, argv);
}
