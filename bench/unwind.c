/*
 * Prints the cost of the unwinder alone, as JSON: of a frame of a walk, and of compiling the
 * rules of the C library.
 *
 * The walks read copies of stacks, as the monitor's walks do. This program copies its own stack
 * many times, each time on another path of calls through frames of many sizes and through qsort
 * of the C library, and walks the copies in turn.
 */
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "elf/elf_file.h"
#include "unwind/unwind.h"

enum { COPIES = 500, COPY_BYTES = 32768, DEEPEST = 40, FRAMES_MAX = 256, MODULES_MAX = 16, WALKS = 200000, BUILDS = 7 };

struct copy {
	struct arch_registers registers;
	size_t bytes; /* from the stack pointer upwards */
	uint8_t stack[COPY_BYTES];
};

struct module {
	uint64_t low, high; /* of its code, at run time */
	uint64_t bias;
	struct unwind_table *table;
	char path[256];
};

static struct copy *copies;
static size_t copy_count;
static struct module modules[MODULES_MAX];
static size_t module_count;
static const uint8_t *stack_top;

static void give_up(const char *message)
{
	fprintf(stderr, "unwind: %s\n", message);
	exit(1);
}

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint32_t next_random(void)
{
	static uint32_t state = 2463534242u;
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/* --- stacks --- */

/* in DWARF's order of registers */
static const int register_of[ARCH_REGISTERS] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
	REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
};

/* Copies the stack. This function's own frame is the innermost one: it has returned before the
 * walk, but the copy still contains its frame. */
__attribute__((noinline)) static void take_copy(void)
{
	static ucontext_t context;
	struct copy *copy = &copies[copy_count++];
	if (getcontext(&context) < 0)
		give_up("no registers");
	for (int i = 0; i < ARCH_REGISTERS; i++)
		copy->registers.value[i] = (uint64_t)context.uc_mcontext.gregs[register_of[i]];
	const uint8_t *rsp = (const uint8_t *)copy->registers.value[ARCH_SP_REGISTER];
	copy->bytes = (size_t)(stack_top - rsp);
	if (copy->bytes > sizeof(copy->stack))
		give_up("the stack is larger than a copy");
	memcpy(copy->stack, rsp, copy->bytes);
}

static void go_on(unsigned depth);

/* Frames of several sizes. The code after the call prevents a tail call. */
#define FRAME(name, size)                                          \
	__attribute__((noinline)) static void name(unsigned depth) \
	{                                                          \
		volatile char bytes[size];                         \
		bytes[0] = (char)depth;                            \
		go_on(depth);                                      \
		bytes[(size)-1] = bytes[0];                        \
	}
FRAME(small, 8)
FRAME(medium, 72)
FRAME(large, 600)

/* A frame whose size is unknown at compile time, so that its unwind rule uses the frame pointer. */
__attribute__((noinline)) static void variable(unsigned depth)
{
	volatile char *bytes = __builtin_alloca(16 + depth);
	bytes[0] = (char)depth;
	go_on(depth);
	bytes[1] = bytes[0];
}

static unsigned depth_of_sort;

static int compare(const void *left, const void *right)
{
	if (depth_of_sort) {
		unsigned depth = depth_of_sort;
		depth_of_sort = 0;
		go_on(depth);
	}
	return *(const int *)left - *(const int *)right;
}

__attribute__((noinline)) static void through_library(unsigned depth)
{
	int numbers[2] = { 2, 1 };
	depth_of_sort = depth;
	qsort(numbers, 2, sizeof(*numbers), compare);
}

static void go_on(unsigned depth)
{
	static void (*const ways[])(unsigned) = { small, medium, large, variable, through_library };
	if (depth == 0)
		take_copy();
	else
		ways[next_random() % (sizeof(ways) / sizeof(*ways))](depth - 1);
}

/* --- modules --- */

static struct elf_file *open_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		give_up("cannot open a module");
	struct elf_file *file = elf_file_open(fd, path, NULL);
	close(fd);
	if (!file)
		give_up("cannot read a module");
	return file;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	if (access(path, R_OK) != 0) /* the vDSO: no stack here passes through it */
		return 0;
	if (module_count == MODULES_MAX)
		give_up("too many modules");
	struct module *module = &modules[module_count++];
	struct elf_file *file = open_module(path);
	snprintf(module->path, sizeof(module->path), "%s", path);
	elf_file_text_range(file, &module->low, &module->high);
	module->bias = info->dlpi_addr;
	module->low += module->bias;
	module->high += module->bias;
	module->table = unwind_table_new(file, NULL);
	elf_file_free(file);
	if (!module->table)
		give_up("out of memory");
	return 0;
}

static int module_at(void *context, uint64_t pc, struct unwind_module *found)
{
	(void)context;
	for (size_t i = 0; i < module_count; i++)
		if (pc >= modules[i].low && pc < modules[i].high) {
			*found = (struct unwind_module){ .table = modules[i].table,
							 .bias = modules[i].bias,
							 .id = (uint32_t)i };
			return 0;
		}
	return -1;
}

static int read_copy(void *context, uint64_t address, uint64_t *value)
{
	const struct copy *copy = context;
	uint64_t offset = address - copy->registers.value[ARCH_SP_REGISTER];
	if (offset >= copy->bytes || copy->bytes - offset < sizeof(*value))
		return -1;
	memcpy(value, copy->stack + offset, sizeof(*value));
	return 0;
}

/* --- the two measurements --- */

static void measure_walks(void)
{
	struct unwind_frame frames[FRAMES_MAX];
	uint64_t count = 0;
	double start = now_ns();
	for (size_t i = 0; i < WALKS; i++) {
		struct copy *copy = &copies[i % COPIES];
		struct unwind_source source = { .module_at = module_at, .read = read_copy, .context = copy };
		struct unwind_result result = unwind_walk(&source, &copy->registers, frames, FRAMES_MAX);
		if (!unwind_cause_whole(result.cause))
			give_up(unwind_cause_text(result.cause));
		count += result.count;
	}
	double spent = now_ns() - start;
	printf(" \"frames_a_walk\": %.1f, \"ns_a_frame\": %.1f, \"ns_a_walk\": %.0f,\n", (double)count / WALKS,
	       spent / (double)count, spent / WALKS);
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static void measure_table(void)
{
	const struct module *libc = NULL;
	for (size_t i = 0; i < module_count; i++)
		if (strstr(modules[i].path, "libc.so.6"))
			libc = &modules[i];
	if (!libc)
		give_up("libc.so.6 is not among the modules");
	double ms[BUILDS];
	for (int i = 0; i < BUILDS; i++) {
		double start = now_ns();
		struct elf_file *file = open_module(libc->path);
		struct unwind_table *table = unwind_table_new(file, NULL);
		elf_file_free(file);
		ms[i] = (now_ns() - start) / 1e6;
		if (!table)
			give_up("out of memory");
		unwind_table_free(table);
	}
	qsort(ms, BUILDS, sizeof(*ms), compare_doubles);
	printf(" \"libc_rows\": %u, \"libc_functions\": %u, \"libc_table_ms\": %.2f, \"libc_ns_a_row\": %.0f\n",
	       libc->table->row_count, libc->table->function_count, ms[BUILDS / 2],
	       ms[BUILDS / 2] * 1e6 / libc->table->row_count);
}

/* Returns the end of this thread's stack, above its outermost frames. */
static const uint8_t *find_stack_top(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned long low, high = 0;
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &low, &high) == 2 && here >= low && here < high)
			break;
	if (!maps || here >= high)
		give_up("the stack is not in /proc/self/maps");
	fclose(maps);
	return (const uint8_t *)high;
}

int main(void)
{
	copies = calloc(COPIES, sizeof(*copies));
	if (!copies)
		give_up("out of memory");
	stack_top = find_stack_top();
	while (copy_count < COPIES)
		go_on(5 + next_random() % (DEEPEST - 5));
	dl_iterate_phdr(add_module, NULL);
	printf("{\n");
	measure_walks();
	measure_table();
	printf("}\n");
	for (size_t i = 0; i < module_count; i++)
		unwind_table_free(modules[i].table);
	free(copies);
	return 0;
}
