/* collect/sample/sample_sink.c: stacks that the backend walked, touched memory, and the code that is reported to the
 * backend. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/alloc_fail.h"
#include "support/fed_sink.h"

/* --- stacks that the backend walked --- */

static void test_walked(void **state)
{
	struct fed *fed = *state;
	fed_map(fed, FED_PID, 0x20000, 0x21000, "/b", false);
	uint32_t node = fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x20008, 0x10020, 0x10010));
	assert_string_equal(fed_path(fed, node), "/a+10 /a+20 /b+8");
	/* The same path, a part of it, and another path. */
	assert_int_equal(fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x20008, 0x10020, 0x10010)), node);
	assert_int_equal(fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x10020, 0x10010)),
			 fed->sink.profile->nodes[node].parent);
	assert_string_equal(fed_path(fed, fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x20009, 0x10020, 0x10010))),
			    "/a+10 /a+20 /b+9");
	assert_int_equal(fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x20008, 0x10020, 0x10010)), node);
	/* Another thread and a child process use the same tree. */
	assert_int_equal(fed_sample(fed, FED_STACK(FED_PID, FED_PID + 1, 0x20008, 0x10020, 0x10010)), node);
	fed->backend_sink.fork(fed->backend_sink.context, FED_PID, FED_PID + 2, FED_PID + 2, 5);
	assert_int_equal(fed_sample(fed, FED_STACK(FED_PID + 2, FED_PID + 2, 0x20008, 0x10020, 0x10010)), node);
	assert_int_equal(fed_cause(fed, UNWIND_ROOT), 7);
	assert_int_equal(fed->sink.samples, 7);
}

/* After the maps have changed, an address has another meaning. */
static void test_walked_after_changes(void **state)
{
	struct fed *fed = *state;
	struct backend_sample sample = FED_STACK(FED_PID, FED_PID, 0x10800, 0x10010);
	assert_string_equal(fed_path(fed, fed_sample(fed, sample)), "/a+10 /a+800");
	fed_map(fed, FED_PID, 0x10800, 0x10900, "/b", false);
	assert_string_equal(fed_path(fed, fed_sample(fed, sample)), "/a+10 /b+0");
	/* In another process, it is in another file. */
	fed_map(fed, FED_PID + 1, 0x10000, 0x10900, "/c", false);
	struct backend_sample other = FED_STACK(FED_PID + 1, FED_PID + 1, 0x10800, 0x10010);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(fed_path(fed, fed_sample(fed, other)), "/c+10 /c+800");
		assert_string_equal(fed_path(fed, fed_sample(fed, sample)), "/a+10 /b+0");
	}
	fed->backend_sink.name(fed->backend_sink.context, FED_PID, FED_PID, "new", true, 7);
	fed_map(fed, FED_PID, 0x10000, 0x10900, "/c", false);
	assert_string_equal(fed_path(fed, fed_sample(fed, sample)), "/c+10 /c+800");
}

/* Each address in generated code is a location: its process's perf map may name it. */
static void test_walked_anonymous(void **state)
{
	struct fed *fed = *state;
	fed_map(fed, FED_PID, 0x20000, 0x21000, "//anon", false);
	uint32_t node = fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x20008, 0x10010));
	assert_string_equal(fed_path(fed, node), "/a+10 [anon]");
	uint32_t other = fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x20018, 0x10010));
	assert_string_equal(fed_path(fed, other), "/a+10 [anon]");
	assert_int_not_equal(other, node);
}

static void test_walked_into_the_unknown(void **state)
{
	struct fed *fed = *state;
	for (int i = 0; i < 2; i++) {
		uint32_t node = fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x10030, 0x500000, 0x10020, 0x10010));
		assert_string_equal(fed_path(fed, node), "[incomplete stack] [unknown code] /a+30");
	}
	assert_int_equal(fed_cause(fed, UNWIND_NO_MODULE), 2);
	assert_int_equal(fed_cause(fed, UNWIND_ROOT), 0);
	/* Unknown code can become known. */
	fed_map(fed, FED_PID, 0x500000, 0x501000, "/b", false);
	uint32_t node = fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x10030, 0x500000, 0x10020, 0x10010));
	assert_string_equal(fed_path(fed, node), "/a+10 /a+20 /b+0 /a+30");
}

static void test_walked_in_part(void **state)
{
	struct fed *fed = *state;
	const uint64_t addresses[] = { 0x10030, 0x10020, 0 };
	struct backend_sample sample = fed_stack(FED_PID, FED_PID, UNWIND_NO_RULE_AT_PC, addresses);
	assert_string_equal(fed_path(fed, fed_sample(fed, sample)), "[incomplete stack] /a+20 /a+30");
	assert_int_equal(fed_cause(fed, UNWIND_NO_RULE_AT_PC), 1);
	/* A walk without any frame. */
	sample.addresses = NULL;
	sample.address_count = 0;
	sample.cause = UNWIND_UNREADABLE;
	assert_string_equal(fed_path(fed, fed_sample(fed, sample)), "[incomplete stack]");
	assert_int_equal(fed_cause(fed, UNWIND_UNREADABLE), 1);
}

/* User-space fallback: the monitor walks the stack that the backend copied. */
static void test_left_to_us(void **state)
{
	struct fed *fed = *state;
	const uint64_t addresses[] = { 0x10030, 0x10020, 0 };
	const uint8_t stack[64] = { 0 };
	struct backend_sample sample = fed_stack(FED_PID, FED_PID, UNWIND_BAD_RULE, addresses);
	sample.has_registers = true;
	sample.stack = stack;
	sample.stack_bytes = sizeof(stack);
	sample.stack_asked = 100;
	sample.registers.value[ARCH_PC_REGISTER] = 0x10040;
	sample.registers.value[ARCH_SP_REGISTER] = 0x7000000;
	/* The file cannot be read, so that the monitor cannot walk it either. */
	for (int i = 0; i < 2; i++) {
		assert_string_equal(fed_path(fed, fed_sample(fed, sample)), "[incomplete stack] /a+40");
		sample.addresses = NULL;
		sample.address_count = 0;
	}
	assert_int_equal(fed_cause(fed, UNWIND_NO_TABLE), 2);
	assert_int_equal(fed_cause(fed, UNWIND_BAD_RULE), 0);
	/* If the backend walked to the root, the copied stack is not used. */
	sample = fed_stack(FED_PID, FED_PID, UNWIND_ROOT_FRAME_POINTER, addresses);
	sample.has_registers = true;
	assert_string_equal(fed_path(fed, fed_sample(fed, sample)), "/a+20 /a+30");
	assert_int_equal(fed_cause(fed, UNWIND_ROOT_FRAME_POINTER), 1);
}

static void test_no_stack(void **state)
{
	struct fed *fed = *state;
	const uint64_t none[] = { 0 };
	struct backend_sample sample = fed_stack(FED_PID, FED_PID, UNWIND_NO_USER_STACK, none);
	assert_string_equal(fed_path(fed, fed_sample(fed, sample)), "[kernel: exec or exit]");
	sample.addresses = NULL;
	assert_string_equal(fed_path(fed, fed_sample(fed, sample)), "[kernel: exec or exit]");
	assert_int_equal(fed_cause(fed, UNWIND_NO_USER_STACK), 2);
	struct backend_sample other = FED_STACK(FED_PID, FED_PID, 0x10010);
	other.other_abi = true;
	assert_string_equal(fed_path(fed, fed_sample(fed, other)), "[incomplete stack]");
	assert_int_equal(fed_cause(fed, UNWIND_OTHER_ABI), 1);
	/* Between exec and its first code, the stack belongs to the old program. */
	fed->backend_sink.name(fed->backend_sink.context, FED_PID, FED_PID, "new", true, 7);
	fed_map(fed, FED_PID, 0x30000, 0x31000, "[stack]", true);
	assert_string_equal(fed_path(fed, fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x10010))),
			    "[kernel: exec or exit]");
}

/* --- code reported to the backend --- */

/* The last report as "pid: start-end+bias ...", in hexadecimal, and the number of reports. */
struct loaded {
	char text[1024];
	unsigned times;
	bool has_table;
};

static int note_code(void *context, uint32_t pid, const struct backend_code *code, size_t count)
{
	struct loaded *loaded = context;
	int length = snprintf(loaded->text, sizeof(loaded->text), "%u:", pid - FED_PID);
	loaded->has_table = false;
	for (size_t i = 0; i < count; i++) {
		length += snprintf(loaded->text + length, sizeof(loaded->text) - (size_t)length, " %llx-%llx+%llx",
				   (unsigned long long)code[i].start, (unsigned long long)code[i].end,
				   (unsigned long long)code[i].bias);
		loaded->has_table |= code[i].table && code[i].table->row_count > 0;
	}
	loaded->times++;
	return ERROR_LIMIT; /* only the backend acts on it */
}

static void test_code_is_passed_on(void **state)
{
	struct fed *fed = *state;
	struct loaded loaded = { 0 };
	sample_sink_set_code_loader(&fed->sink, note_code, &loaded);
	struct backend_sink backend_sink = fed->backend_sink;
	fed_map(fed, FED_PID, 0x8000, 0x9000, "/b", false);
	backend_sink.settled(backend_sink.context);
	assert_string_equal(loaded.text, "0: 8000-9000+8000 10000-11000+10000");
	fed_map(fed, FED_PID, 0x40000, 0x50000, "/b", true);
	backend_sink.settled(backend_sink.context);
	assert_int_equal(loaded.times, 1);
	fed_map(fed, FED_PID, 0x10400, 0x10800, "/c", false);
	backend_sink.settled(backend_sink.context);
	assert_string_equal(loaded.text, "0: 8000-9000+8000 10000-10400+10000 10400-10800+10400 10800-11000+10000");
	backend_sink.fork(backend_sink.context, FED_PID, FED_PID + 1, FED_PID + 1, 1);
	backend_sink.settled(backend_sink.context);
	assert_string_equal(loaded.text, "1: 8000-9000+8000 10000-10400+10000 10400-10800+10400 10800-11000+10000");
	backend_sink.settled(backend_sink.context);
	assert_int_equal(loaded.times, 3);
	/* New threads and names are not reported. */
	backend_sink.fork(backend_sink.context, FED_PID, FED_PID, FED_PID + 2, 2);
	backend_sink.name(backend_sink.context, FED_PID, FED_PID + 2, "helper", false, 3);
	backend_sink.settled(backend_sink.context);
	assert_int_equal(loaded.times, 3);
	backend_sink.name(backend_sink.context, FED_PID + 1, FED_PID + 1, "new", true, 4);
	backend_sink.settled(backend_sink.context);
	assert_string_equal(loaded.text, "1:");
	fed_map(fed, FED_PID + 1, 0x1000, 0x2000, "/b", false);
	backend_sink.settled(backend_sink.context);
	assert_string_equal(loaded.text, "1: 1000-2000+1000");
	/* The process ends with its last thread. */
	backend_sink.sample(backend_sink.context,
			    &(struct backend_sample){ .pid = FED_PID, .tid = FED_PID, .hits = 1 });
	backend_sink.exit(backend_sink.context, FED_PID, FED_PID, 5);
	backend_sink.settled(backend_sink.context);
	assert_int_equal(loaded.times, 5);
	backend_sink.exit(backend_sink.context, FED_PID, FED_PID + 2, 6);
	backend_sink.settled(backend_sink.context);
	assert_string_equal(loaded.text, "0:");
	assert_int_equal(loaded.times, 6);
	sample_sink_set_code_loader(&fed->sink, NULL, NULL);
	fed_map(fed, FED_PID, 0x1000, 0x2000, "/b", false);
	backend_sink.settled(backend_sink.context);
	assert_int_equal(loaded.times, 6);
}

/* The code of a process follows its first copied stack, that of an interpreter its map. Only modules that a walk went through have their addresses. */
static void test_code_is_passed_late(void **state)
{
	struct fed *fed = *state;
	struct loaded loaded = { 0 };
	const struct backend_sink backend_sink = fed->backend_sink;
	struct backend_sample copied = { .pid = FED_PID, .tid = FED_PID, .hits = 1, .has_registers = true };
	static const uint8_t stack[4096];
	copied.registers.value[ARCH_PC_REGISTER] = 0x10040;
	copied.registers.value[ARCH_SP_REGISTER] = 0x7000000;
	copied.registers.value[ARCH_FP_REGISTER] = 0x7000100;
	copied.stack = stack;
	copied.stack_bytes = sizeof(stack);
	copied.stack_asked = sizeof(stack) + 1;
	sample_sink_set_code_loader(&fed->sink, note_code, &loaded);
	sample_sink_load_late(&fed->sink);
	fed_map(fed, FED_PID, 0x8000, 0x9000, "/b", false);
	fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x10010));
	backend_sink.fork(backend_sink.context, FED_PID, FED_PID + 3, FED_PID + 3, 1);
	backend_sink.exit(backend_sink.context, FED_PID + 3, FED_PID + 3, 2);
	backend_sink.settled(backend_sink.context);
	assert_int_equal(loaded.times, 0);
	fed_sample(fed, copied);
	backend_sink.settled(backend_sink.context);
	assert_string_equal(loaded.text, "0: 8000-9000+0 10000-11000+10000");
	/* The backend has the code of a child too, and of no new program. */
	backend_sink.fork(backend_sink.context, FED_PID, FED_PID + 1, FED_PID + 1, 3);
	backend_sink.settled(backend_sink.context);
	assert_string_equal(loaded.text, "1: 8000-9000+0 10000-11000+10000");
	backend_sink.name(backend_sink.context, FED_PID + 1, FED_PID + 1, "new", true, 4);
	fed_map(fed, FED_PID + 1, 0x1000, 0x2000, "/b", false);
	backend_sink.settled(backend_sink.context);
	assert_string_equal(loaded.text, "1:");
	fed_map(fed, FED_PID + 1, 0x2000, 0x3000, "/c", false);
	backend_sink.settled(backend_sink.context);
	assert_int_equal(loaded.times, 3);
	fed_map(fed, FED_PID + 1, 0x3000, 0x4000, "/usr/lib/libpython3.so", false);
	backend_sink.settled(backend_sink.context);
	assert_string_equal(loaded.text, "1: 1000-2000+0 2000-3000+0 3000-4000+3000");
	backend_sink.exit(backend_sink.context, FED_PID, FED_PID, 5);
	backend_sink.settled(backend_sink.context);
	assert_string_equal(loaded.text, "0:");
	assert_int_equal(loaded.times, 5);
}

/* A sample at a lowered rate counts for several intervals of the profile. */
static void test_weight(void **state)
{
	struct fed *fed = *state;
	fed->sink.weight = 4;
	struct resource_request request;
	assert_int_equal(resource_parse("syscalls:read/28", &request, NULL), 0);
	const struct backend_request asked = { .resources = &request, .resource_count = 1 };
	assert_int_equal(sample_sink_add_resources(&fed->sink, &asked, "some"), 0);
	const struct profile *profile = fed->sink.profile;
	assert_int_equal(profile->resources[profile->resource_count - 1].interval, 7);
	fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x10010));
	const struct profile_hit *hit = &profile->hits[profile->hit_count - 1];
	assert_int_equal(hit->count % 4, 0);
	assert_int_equal(profile_hit_samples(profile, hit), 1);
	assert_int_equal(fed->sink.samples, 1);
	assert_int_equal(fed->sink.hits[0], hit->count);
}

/* For a file that exists, the report includes its unwind table. */
static void test_code_has_tables(void **state)
{
	struct fed *fed = *state;
	struct loaded loaded = { 0 };
	sample_sink_set_code_loader(&fed->sink, note_code, &loaded);
	fed_map(fed, FED_PID, 0x20000, 0x21000, "/none", false);
	fed->backend_sink.settled(fed->backend_sink.context);
	assert_false(loaded.has_table);
	char self[4096] = "";
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	fed_map(fed, (uint32_t)getpid(), 0x400000, 0x500000, self, false);
	fed->backend_sink.settled(fed->backend_sink.context);
	assert_true(loaded.has_table);
	assert_int_equal(fed->sink.codes_not_loaded, loaded.times); /* note_code returns an error */
}

/* --- touched memory --- */

static const char *touch(struct fed *fed, uint32_t pid, uint64_t address)
{
	const struct profile *profile = fed->sink.profile;
	size_t had = profile->touch_count;
	struct backend_sample sample = FED_STACK(pid, pid, 0x10010);
	sample.has_touched = true;
	sample.touched = address;
	sample.hits = 3;
	sample.time_ns = 77;
	uint32_t node = fed_sample(fed, sample);
	assert_int_equal(profile->touch_count, had + 1);
	const struct profile_touch *added = &profile->touches[had];
	assert_int_equal(added->time_ns, 77);
	assert_int_equal(added->address, address);
	assert_int_equal(added->node, node);
	assert_int_equal(added->thread, profile->hits[profile->hit_count - 1].thread);
	assert_int_equal(added->resource, 0);
	assert_int_equal(added->count, 3);
	return profile_string(profile, added->mapping);
}

static void test_touches(void **state)
{
	struct fed *fed = *state;
	fed_map(fed, FED_PID, 0x11000, 0x12000, "/a", true);
	fed_map(fed, FED_PID, 0x12000, 0x13000, "//anon", true); /* bss */
	fed_map(fed, FED_PID, 0x13000, 0x14000, "[heap]", true);
	fed_map(fed, FED_PID, 0x20000, 0x21000, "", true);
	fed_map(fed, FED_PID, 0x21000, 0x22000, "[anon: name]", true);
	fed_map(fed, FED_PID, 0x22000, 0x23000, "/dev/zero (deleted)", true);
	fed_map(fed, FED_PID, 0x23000, 0x24000, "//anon", false); /* generated code */
	fed_map(fed, FED_PID, 0x30000, 0x31000, "[vdso]", false);
	assert_string_equal(touch(fed, FED_PID, 0x10fff), "/a"); /* code */
	assert_string_equal(touch(fed, FED_PID, 0x11000), "/a"); /* data */
	assert_string_equal(touch(fed, FED_PID, 0x12000), "[anon]");
	assert_string_equal(touch(fed, FED_PID, 0x13fff), "[heap]");
	assert_string_equal(touch(fed, FED_PID, 0x14000), "");
	for (uint64_t address = 0x20000; address < 0x24000; address += 0x1000)
		assert_string_equal(touch(fed, FED_PID, address), "[anon]");
	assert_string_equal(touch(fed, FED_PID, 0x30000), "[vdso]");
	assert_string_equal(touch(fed, FED_PID, UINT64_MAX), "");
	/* The heap grows. */
	fed_map(fed, FED_PID, 0x13000, 0x18000, "[heap]", true);
	assert_string_equal(touch(fed, FED_PID, 0x14000), "[heap]");
	/* Data is not code: a frame there is unknown. */
	assert_string_equal(fed_path(fed, fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x11000))),
			    "[incomplete stack] [unknown code]");
	/* A sample that touched nothing adds nothing. */
	assert_int_equal(fed->sink.profile->touch_count, 12);
}

/* If two mappings overlap, the newer one counts, whether it is code or data. */
static void test_touches_replaced(void **state)
{
	struct fed *fed = *state;
	fed_map(fed, FED_PID, 0x10000, 0x10800, "//anon", true);
	assert_string_equal(touch(fed, FED_PID, 0x10000), "[anon]");
	assert_string_equal(touch(fed, FED_PID, 0x10800), "/a");
	fed_map(fed, FED_PID, 0x10000, 0x11000, "/b", false);
	assert_string_equal(touch(fed, FED_PID, 0x10000), "/b");
	/* A child inherits the maps, a new program does not. */
	fed_map(fed, FED_PID, 0x40000, 0x41000, "[heap]", true);
	fed->backend_sink.fork(fed->backend_sink.context, FED_PID, FED_PID + 1, FED_PID + 1, 5);
	assert_string_equal(touch(fed, FED_PID + 1, 0x40000), "[heap]");
	fed->backend_sink.name(fed->backend_sink.context, FED_PID + 1, FED_PID + 1, "new", true, 7);
	assert_string_equal(touch(fed, FED_PID + 1, 0x40000), "");
	assert_string_equal(touch(fed, FED_PID, 0x40000), "[heap]");
}

static void test_touched_stack(void **state)
{
	struct fed *fed = *state;
	const uint64_t top = UINT64_C(0x7ffffffff000);
	const uint64_t limit = 8 * 1024 * 1024; /* for a process whose limit cannot be read */
	fed_map(fed, FED_PID, top - 0x21000, top, "[stack]", true);
	fed_map(fed, FED_PID, top + 0x1000, top + 0x2000, "[vdso]", false);
	assert_string_equal(touch(fed, FED_PID, top - 1), "[stack]");
	assert_string_equal(touch(fed, FED_PID, top - 0x21000), "[stack]");
	assert_string_equal(touch(fed, FED_PID, top - 0x21001), "[stack]");
	assert_string_equal(touch(fed, FED_PID, top - limit), "[stack]");
	assert_string_equal(touch(fed, FED_PID, top - limit - 1), "");
	assert_string_equal(touch(fed, FED_PID, top), "");
	/* A mapping below the stack ends it, whether it is code or data. */
	fed_map(fed, FED_PID, top - 0x31000, top - 0x30000, "//anon", true);
	assert_string_equal(touch(fed, FED_PID, top - 0x30001), "[anon]");
	assert_string_equal(touch(fed, FED_PID, top - 0x30000), "[stack]");
	assert_string_equal(touch(fed, FED_PID, top - 0x31001), "");
	fed_map(fed, FED_PID, top - 0x28000, top - 0x27000, "/b", false);
	assert_string_equal(touch(fed, FED_PID, top - 0x27000), "[stack]");
	assert_string_equal(touch(fed, FED_PID, top - 0x28001), "");
}

/* The kernel does not report mremap, but /proc has the maps while the process exists. */
static void test_touched_unreported(void **state)
{
	struct fed *fed = *state;
	enum { BYTES = 8192 };
	char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	uint64_t address = (uint64_t)(uintptr_t)memory;
	uint32_t pid = (uint32_t)getpid();
	char self[4096] = "";
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	assert_string_equal(touch(fed, pid, address), "[anon]");
	/* Not a variable: address sanitizer may place it elsewhere. */
	assert_string_equal(touch(fed, pid, (uint64_t)(uintptr_t)__builtin_frame_address(0)), "[stack]");
	assert_string_equal(touch(fed, pid, (uint64_t)(uintptr_t)test_touched_unreported), self);
	/* A map found in /proc is used until another one is reported. */
	munmap(memory, BYTES);
	assert_string_equal(touch(fed, pid, address + BYTES - 1), "[anon]");
	fed_map(fed, pid, address, address + BYTES, "/b", true);
	assert_string_equal(touch(fed, pid, address), "/b");
	/* An address that is not mapped. */
	for (int i = 0; i < 200; i++)
		assert_string_equal(touch(fed, pid, 8), "");
}

/* --- single events --- */

struct seen {
	struct sample_sink_position place;
	uint32_t tid;
	unsigned times;
};

static void note_event(void *context, const struct backend_sample *sample, const struct sample_sink_position *place)
{
	struct seen *seen = context;
	*seen = (struct seen){ .place = *place, .tid = sample->tid, .times = seen->times + 1 };
}

static void test_observer(void **state)
{
	struct fed *fed = *state;
	struct seen seen = { 0 };
	fed_sample(fed, FED_STACK(FED_PID, FED_PID, 0x10010));
	sample_sink_set_observer(&fed->sink, note_event, &seen);
	uint32_t node = fed_sample(fed, FED_STACK(FED_PID, FED_PID + 1, 0x10020));
	assert_int_equal(seen.times, 1);
	assert_int_equal(seen.place.node, node);
	assert_int_equal(seen.tid, FED_PID + 1);
	assert_int_equal(fed->sink.profile->threads[seen.place.thread].tid, FED_PID + 1);
	const struct backend_sample creator = FED_STACK(FED_PID, FED_PID, 0x10010);
	fed->backend_sink.creates(fed->backend_sink.context, &creator, FED_PID + 3);
	fed->backend_sink.lost(fed->backend_sink.context, 1);
	assert_int_equal(seen.times, 1);
}

/* --- labels --- */

static void define_labels(struct fed *fed, uint32_t number, const char *text)
{
	char copy[64]; /* it does not end with a NUL */
	size_t bytes = strlen(text);
	memset(copy, 'x', sizeof(copy));
	memcpy(copy, text, bytes);
	fed->backend_sink.labels(fed->backend_sink.context, number, copy, bytes);
}

/* Returns the labels of a sample with this label set number, "key=value key=value". */
static const char *labels_of(struct fed *fed, uint32_t number)
{
	static char text[128];
	const struct profile *profile = fed->sink.profile;
	struct backend_sample sample = FED_STACK(FED_PID, FED_PID, 0x10010);
	sample.labels = number;
	fed_sample(fed, sample);
	const struct profile_label_set *set = &profile->label_sets[profile_hit_labels(profile, profile->hit_count - 1)];
	text[0] = 0;
	for (uint32_t i = set->first_label; i < set->first_label + set->label_count; i++) {
		size_t length = strlen(text);
		snprintf(text + length, sizeof(text) - length, "%s%s=%s", length ? " " : "",
			 profile_string(profile, profile->labels[i].key),
			 profile_string(profile, profile->labels[i].value));
	}
	return text;
}

static void test_labels(void **state)
{
	struct fed *fed = *state;
	struct seen seen = { 0 };
	sample_sink_set_observer(&fed->sink, note_event, &seen);
	define_labels(fed, 7, "tenant=acme\nkind=new");
	define_labels(fed, UINT32_MAX - 1, "kind=new\ntenant=acme");
	assert_string_equal(labels_of(fed, 0), "");
	assert_string_equal(labels_of(fed, 7), "kind=new tenant=acme");
	assert_int_equal(seen.place.label_set, 1);
	assert_string_equal(labels_of(fed, UINT32_MAX - 1), "kind=new tenant=acme");
	assert_int_equal(seen.place.label_set, 1);
	assert_string_equal(labels_of(fed, 0), "");
	assert_int_equal(seen.place.label_set, PROFILE_NO_LABELS);
	assert_int_equal(fed->sink.labels.unknown, 0);
}

/* Unknown numbers and malformed labels are ignored. */
static void test_odd_labels(void **state)
{
	struct fed *fed = *state;
	assert_string_equal(labels_of(fed, 9), "");
	assert_int_equal(fed->sink.labels.unknown, 1);
	define_labels(fed, 1, "");
	assert_string_equal(labels_of(fed, 1), "");
	define_labels(fed, 2, "\n\nno value\n=no key\nempty=\ntwo=a=b\n\n");
	assert_string_equal(labels_of(fed, 2), "empty= two=a=b");
	define_labels(fed, 3, "twice=1\ntwice=2");
	assert_string_equal(labels_of(fed, 3), "twice=2");
	define_labels(fed, 3, "kind=again");
	assert_string_equal(labels_of(fed, 3), "kind=again");
	fed->backend_sink.labels(fed->backend_sink.context, 4, "nul=\0x\nfine=1",
				 strlen("nul=") + 2 + strlen("\nfine=1"));
	assert_string_equal(labels_of(fed, 4), "fine=1");
	assert_int_equal(fed->sink.labels.unknown, 1);
}

static void test_resources(void **state)
{
	struct fed *fed = *state;
	struct resource_request requests[2];
	assert_int_equal(resource_parse("syscalls:read/7", &requests[0], NULL), 0);
	assert_int_equal(resource_parse("cpu", &requests[1], NULL), 0);
	const struct backend_request asked = { .resources = requests, .resource_count = 2, .user_mode_only = true };
	assert_int_equal(sample_sink_add_resources(&fed->sink, &asked, "some"), 0);
	const struct profile *profile = fed->sink.profile;
	const struct profile_resource *resource = &profile->resources[1];
	assert_string_equal(profile_string(profile, resource->name), "syscalls:read");
	assert_string_equal(profile_string(profile, resource->title), requests[0].title);
	assert_string_equal(profile_string(profile, resource->backend), "some");
	assert_string_equal(profile_string(profile, resource->unit), requests[0].row->gtick);
	assert_int_equal(resource->interval, 7);
	assert_string_equal(profile_string(profile, resource[1].title), "CPU Time");
	assert_string_equal(profile_string(profile, resource[1].note), "user mode only");
}

/* --- memory runs short --- */

static void fed_short_of_memory(void)
{
	struct error error;
	struct loaded loaded = { 0 };
	struct fed fed;
	if (sample_sink_init(&fed.sink, &error) < 0)
		return;
	sample_sink_set_code_loader(&fed.sink, note_code, &loaded);
	fed.backend_sink = sample_sink_for_backend(&fed.sink);
	fed_map(&fed, FED_PID, FED_CODE, FED_CODE + 0x1000, "/a", false);
	fed_map(&fed, FED_PID, 0x20000, 0x21000, "[heap]", true);
	for (uint64_t i = 1; i < 40; i++) {
		struct backend_sample sample = FED_STACK(FED_PID, FED_PID, FED_CODE + 2 * i, FED_CODE + i);
		sample.has_touched = true;
		sample.touched = 0x20000 + i;
		fed.backend_sink.sample(fed.backend_sink.context, &sample);
		fed.backend_sink.creates(fed.backend_sink.context, &sample, FED_PID + (uint32_t)i);
		fed.backend_sink.fork(fed.backend_sink.context, FED_PID, FED_PID + i % 2, FED_PID + (uint32_t)i, i);
	}
	assert_int_equal(fed.sink.samples + fed.sink.profile->lost, 39);
	assert_true(fed.sink.out_of_memory || fed.sink.samples == 39);
	sample_sink_release(&fed.sink);
}

static void test_memory_runs_short(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(fed_short_of_memory());
}

/* While the disk is full, samples are counted as lost, and change nothing else. */
static void test_full(void **state)
{
	struct fed *fed = *state;
	const struct backend_sample sample = FED_STACK(FED_PID, FED_PID, 0x10020, 0x10010);
	uint32_t node = fed_sample(fed, sample);
	size_t nodes = fed->sink.profile->node_count;
	fed->sink.is_full = true;
	const struct backend_sample others[] = { sample, FED_STACK(FED_PID, FED_PID, 0x10040, 0x10010) };
	for (size_t i = 0; i < 2; i++)
		fed->backend_sink.sample(fed->backend_sink.context, &others[i]);
	assert_int_equal(fed->sink.dropped_disk_full, 2);
	assert_int_equal(fed->sink.profile->lost, 2);
	assert_int_equal(fed->sink.profile->node_count, nodes);
	fed->sink.is_full = false;
	assert_int_equal(fed_sample(fed, sample), node);
	assert_int_equal(fed->sink.samples, 2);
	assert_int_equal(fed_cause(fed, UNWIND_ROOT), 2);
}

int main(void)
{
#define FED(test) cmocka_unit_test_setup_teardown(test, fed_begin, fed_end)
	const struct CMUnitTest tests[] = {
		FED(test_walked),
		FED(test_walked_after_changes),
		FED(test_walked_anonymous),
		FED(test_walked_into_the_unknown),
		FED(test_walked_in_part),
		FED(test_left_to_us),
		FED(test_no_stack),
		FED(test_code_is_passed_on),
		FED(test_code_is_passed_late),
		FED(test_weight),
		FED(test_code_has_tables),
		FED(test_touches),
		FED(test_touches_replaced),
		FED(test_touched_stack),
		FED(test_touched_unreported),
		FED(test_observer),
		FED(test_labels),
		FED(test_odd_labels),
		FED(test_resources),
		FED(test_full),
		cmocka_unit_test(test_memory_runs_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
