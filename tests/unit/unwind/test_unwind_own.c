/*
 * Walks of this process's own stack, from real code of the compiler, the C library and the linker: what
 * the compiler's runtime (_Unwind_Backtrace) finds, unwind_walk must find too, on any processor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "unwind/unwind.h"

enum { MOST_MODULES = 16, FRAMES = 128, PATH_BYTES = 512 };

#define NOINLINE __attribute__((noinline))

/* --- what unwind_walk is given --- */

static struct {
	uint64_t start, end;
	struct unwind_module module;
} modules[MOST_MODULES];
static unsigned module_count;

static void add_module(uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	uint64_t address;
	assert_true(module_count < MOST_MODULES);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *file = elf_file_open(fd, path, NULL);
	close(fd);
	if (!file)
		return; /* an emulator's own */
	struct unwind_table *table = unwind_table_new(file, NULL);
	assert_non_null(table);
	assert_true(elf_file_address_of_offset(file, offset, &address));
	elf_file_free(file);
	modules[module_count].start = start;
	modules[module_count].end = end;
	modules[module_count].module = (struct unwind_module){
		.table = table,
		.bias = start - address,
		.id = module_count,
	};
	module_count++;
}

static int set_up(void **state)
{
	(void)state;
	char line[1024];
	FILE *maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset;
		char rights[8], path[PATH_BYTES] = "";
		int fields = sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511s", &start, &end, rights,
				    &offset, path);
		if (fields == 5 && rights[2] == 'x' && path[0] == '/')
			add_module(start, end, offset, path);
	}
	fclose(maps);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	while (module_count > 0)
		unwind_table_free((struct unwind_table *)modules[--module_count].module.table);
	return 0;
}

static int module_at(void *context, uint64_t pc, struct unwind_module *module)
{
	(void)context;
	for (unsigned i = 0; i < module_count; i++)
		if (pc >= modules[i].start && pc < modules[i].end) {
			*module = modules[i].module;
			return 0;
		}
	return -1;
}

/* The kernel copies into a pipe only what is readable; a sanitizer's interceptor would refuse parts of the stack. */
static int read_word(void *context, uint64_t address, uint64_t *value)
{
	const int *pipe_ends = context;
	if (syscall(SYS_write, pipe_ends[1], address, sizeof(*value)) != (long)sizeof(*value))
		return -1;
	return read(pipe_ends[0], value, sizeof(*value)) == (ssize_t)sizeof(*value) ? 0 : -1;
}

/* --- the two walks --- */

/* The pcs of frames, innermost first, each inside its call. */
struct walked {
	uint64_t pcs[FRAMES];
	size_t count;
	enum unwind_cause cause;
};

static _Unwind_Reason_Code keep_frame(struct _Unwind_Context *context, void *argument)
{
	struct walked *walked = argument;
	int is_exact = 0;
	uint64_t pc = _Unwind_GetIPInfo(context, &is_exact);
	if (pc != 0 && walked->count < FRAMES)
		walked->pcs[walked->count++] = pc - !is_exact;
	return _URC_NO_REASON;
}

static struct walked ours, theirs;
static struct arch_registers start; /* of our last walk */

static void walk_from(const ucontext_t *ucontext)
{
	int pipe_ends[2];
	assert_int_equal(pipe(pipe_ends), 0);
	struct unwind_source source = { .module_at = module_at, .read = read_word, .context = pipe_ends };
	const struct arch_memory memory = { .read = read_word, .context = pipe_ends };
	static struct unwind_frame frames[FRAMES];
	uint64_t unreadable;
	assert_true(arch_read_ucontext(&memory, (uintptr_t)ucontext, &start, &unreadable));
	struct unwind_result result = unwind_walk(&source, &start, frames, FRAMES);
	ours.cause = result.cause;
	ours.count = result.count;
	for (size_t i = 0; i < result.count; i++)
		ours.pcs[i] = frames[i].pc;
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

/* Walks in both ways from here. The first frame of each is this function's, at another call. */
static NOINLINE void walk_both(void)
{
	ucontext_t here;
	theirs.count = 0;
	_Unwind_Backtrace(keep_frame, &theirs);
	assert_int_equal(getcontext(&here), 0);
	walk_from(&here);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

/* The frames agree, with these exceptions: the first frames are two calls of one function; the walks may differ
 * by the outermost frame; and a frame that returns from a signal handler is at its pc in ours, as no call is in
 * front of it. */
static void check_walks(size_t fewest, unsigned handlers)
{
	assert_int_equal(ours.cause, UNWIND_ROOT);
	assert_true(ours.count >= fewest && theirs.count >= fewest);
	size_t count = ours.count < theirs.count ? ours.count : theirs.count;
	for (size_t i = 1; i < count; i++)
		if (ours.pcs[i] != theirs.pcs[i] && (ours.pcs[i] != theirs.pcs[i] + 1 || handlers-- == 0))
			fail_msg("frame %zu: 0x%" PRIx64 ", not 0x%" PRIx64, i, ours.pcs[i], theirs.pcs[i]);
	assert_in_range(ours.count + 1, theirs.count, theirs.count + 2);
}

/* --- stacks --- */

static NOINLINE int recurse(int depth)
{
	volatile int kept = depth;
	if (depth == 0)
		walk_both();
	else
		recurse(depth - 1);
	return kept;
}

static void through_recursion(void **state)
{
	(void)state;
	recurse(20);
	check_walks(20, 0);
}

static int compare(const void *a, const void *b)
{
	walk_both();
	return *(const int *)a - *(const int *)b;
}

static void through_the_c_library(void **state)
{
	(void)state;
	int numbers[] = { 3, 1, 2 };
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	check_walks(5, 0);
}

/* A large frame, one whose size is computed at run time, and one that is aligned. */
static NOINLINE int odd_frames(size_t size)
{
	char large[5000];
	char *allocated = __builtin_alloca(size);
	_Alignas(128) volatile char aligned[128];
	memset(large, 1, sizeof(large));
	memset(allocated, 2, size);
	aligned[0] = large[size] + allocated[size - 1];
	walk_both();
	return aligned[0] + large[0];
}

static void through_odd_frames(void **state)
{
	(void)state;
	assert_int_equal(odd_frames(300), 4);
	check_walks(3, 0);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	walk_from(context);
	theirs.count = 0;
	_Unwind_Backtrace(keep_frame, &theirs);
}

/* Without the frames of the handler and of the return from it. */
static void interrupted_code(void **state)
{
	(void)state;
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	raise(SIGUSR1);
	/* libgcc's walk meets the interrupted pc, and from there on is ours. */
	size_t skip = 0;
	while (skip < theirs.count && theirs.pcs[skip] != start.value[ARCH_PC_REGISTER])
		skip++;
	assert_in_range(skip, 1, theirs.count - 1);
	theirs.count -= skip;
	memmove(theirs.pcs, theirs.pcs + skip, theirs.count * sizeof(theirs.pcs[0]));
	check_walks(3, 0);
}

static void on_signal_from_the_handler(int number)
{
	(void)number;
	walk_both();
}

static void out_of_a_handler(void **state)
{
	(void)state;
	static char alternate[64 * 1024];
	const stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction action = { .sa_handler = on_signal_from_the_handler, .sa_flags = SA_ONSTACK };
	assert_int_equal(sigaltstack(&stack, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	raise(SIGUSR1);
	check_walks(5, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(through_recursion),  cmocka_unit_test(through_the_c_library),
		cmocka_unit_test(through_odd_frames), cmocka_unit_test(interrupted_code),
		cmocka_unit_test(out_of_a_handler),
	};
	return cmocka_run_group_tests_name("unwind_own", tests, set_up, tear_down);
}
