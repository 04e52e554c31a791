/* collect/sample/stacks/stack.c with samples of this process: a stack is copied completely or in part, and the
 * resulting path is compared with the frames of libgcc's unwinder. */
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <cmocka.h>

#include "collect/sample/stacks/deep_stack.h"
#include "support/alloc_fail.h"
#include "support/own_process.h"

enum { TRACE_MAX = 4096, COPY_MAX = 1024 * 1024, CUT_BYTES = 2048 };

/* Not on the stack, where its addresses would look like return addresses. */
static struct snapshot {
	void *trace[TRACE_MAX];   /* return addresses, innermost first; [0] is in take() */
	uint64_t slot[TRACE_MAX]; /* the return slot of each */
	int count;
	struct arch_registers registers;
	uint8_t stack[COPY_MAX];
	size_t stack_bytes;
} now;

static struct sample_sink sink;
static volatile unsigned zero; /* hides the value from the compiler */

typedef void step(unsigned depth);

static void set_registers(const ucontext_t *context)
{
	static const int order[ARCH_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
						   REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
						   REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	for (int i = 0; i < ARCH_REGISTERS; i++)
		now.registers.value[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *unused)
{
	(void)unused;
	void *address = (void *)(uintptr_t)_Unwind_GetIP(context); /* NOLINT(performance-no-int-to-ptr) */
	if (!address || now.count == TRACE_MAX)
		return _URC_END_OF_STACK;
	now.trace[now.count] = address;
	/* This is the callee's CFA; the return slot is the word below it. */
	now.slot[now.count++] = _Unwind_GetCFA(context) - sizeof(address);
	return _URC_NO_REASON;
}

/* Stores the current registers and stack in `now`, and calls `then` before the stack changes. */
static __attribute__((noinline)) void take(step *then, unsigned depth)
{
	static ucontext_t context;
	/* alloca makes rbp the base of this frame's CFA. */
	volatile uint8_t *some = __builtin_alloca(zero + 32);
	some[0] = 1;
	now.count = 0;
	_Unwind_Backtrace(note_frame, NULL);
	getcontext(&context);
	set_registers(&context);
	now.stack_bytes = own_process_copy(now.registers.value[ARCH_SP_REGISTER], now.stack, COPY_MAX);
	then(depth);
	some[0]++;
}

/* Recurses down from `depth`, and calls take() at each depth that is a multiple of `every`. */
static __attribute__((noinline)) unsigned descend(unsigned depth, unsigned every, step *then)
{
	volatile uint8_t frame[200];
	frame[depth % sizeof(frame)] = (uint8_t)depth;
	if (depth % every == 0)
		take(then, depth);
	unsigned below = depth > 0 ? descend(depth - 1, every, then) : 0;
	return below + frame[depth % sizeof(frame)];
}

static __attribute__((noinline)) unsigned unrelated(unsigned depth)
{
	volatile unsigned result = depth;
	return result + 1;
}

/* Returns an address of this function that follows a call, but a call of `unrelated`. */
static __attribute__((noinline)) uint64_t behind_another_call(void)
{
	volatile unsigned sum = unrelated(zero);
	sum += unrelated(sum);
	for (uint64_t at = (uint64_t)(uintptr_t)behind_another_call;
	     at < (uint64_t)(uintptr_t)behind_another_call + 1000; at++) {
		int32_t distance;
		memcpy(&distance, (const void *)(uintptr_t)(at - 4),
		       sizeof(distance)); /* NOLINT(performance-no-int-to-ptr) */
		if (at + (uint64_t)(int64_t)distance == (uint64_t)(uintptr_t)unrelated)
			return at;
	}
	return 0;
}

/* --- samples --- */

static struct thread *own_thread(void)
{
	return processes_thread(sink.processes, (uint32_t)getpid(), (uint32_t)getpid());
}

/* Returns a sample with the snapshot's registers and the first `bytes` bytes of its stack, as if this size had
 * been requested. 0: the whole stack. */
static struct backend_sample sample_of(size_t bytes)
{
	return (struct backend_sample){ .pid = (uint32_t)getpid(),
					.tid = (uint32_t)getpid(),
					.hits = 1,
					.time_ns = 1,
					.has_registers = true,
					.registers = now.registers,
					.stack = now.stack,
					.stack_bytes = bytes ? bytes : now.stack_bytes,
					.stack_asked = bytes ? bytes : COPY_MAX + 1 };
}

static uint32_t add(const struct backend_sample *sample)
{
	int64_t node = stacks_add(sink.stacks, own_thread(), sample);
	assert_true(node > 0 && (size_t)node < sink.profile->node_count);
	return (uint32_t)node;
}

static uint64_t count_of(enum unwind_cause cause)
{
	assert_int_equal(walk_ends_publish(stacks_ends(sink.stacks), sink.profile), 0);
	const struct profile *profile = sink.profile;
	for (size_t i = 0; i < profile->cause_count; i++)
		if (strcmp(profile_string(profile, profile->causes[i].text), unwind_cause_text(cause)) == 0)
			return profile->causes[i].count;
	return 0;
}

/* --- the expected paths --- */

/* Compares the innermost `frames` frames of a path with the frames of the snapshot. Returns the node above them. */
static uint32_t climb(uint32_t node, int frames)
{
	for (int i = 0; i < frames; i++) {
		assert_true(node != PROFILE_ROOT);
		const struct profile_location *location = &sink.profile->locations[sink.profile->nodes[node].location];
		struct unwind_frame wanted = own_process_frame(&sink, (uint64_t)(uintptr_t)now.trace[i] - 1);
		assert_int_equal(location->module, wanted.module);
		/* The innermost frame has executed more code since, so that only its module is compared. */
		if (i > 0)
			assert_int_equal(location->address, wanted.address);
		node = sink.profile->nodes[node].parent;
	}
	return node;
}

static void assert_whole(uint32_t node)
{
	assert_int_equal(climb(node, now.count), PROFILE_ROOT);
}

static const char *top_name(uint32_t node)
{
	while (sink.profile->nodes[node].parent != PROFILE_ROOT)
		node = sink.profile->nodes[node].parent;
	const struct profile_location *location = &sink.profile->locations[sink.profile->nodes[node].location];
	return profile_string(sink.profile, sink.profile->modules[location->module].path);
}

/* Expects a path that is marked as incomplete and whose frames are correct. */
static void assert_broken(uint32_t node)
{
	assert_string_equal(top_name(node), "[incomplete stack]");
	int depth = 0;
	for (uint32_t at = node; at != PROFILE_ROOT; at = sink.profile->nodes[at].parent)
		depth++;
	assert_true(depth > 2 && depth - 1 < now.count);
	uint32_t above = climb(node, depth - 1);
	assert_int_equal(sink.profile->nodes[above].parent, PROFILE_ROOT);
}

/* Returns the index of the first frame whose return slot is beyond the first `bytes` bytes. */
static int first_outside(size_t bytes)
{
	int index = 1;
	while (now.slot[index] + 8 <= now.registers.value[ARCH_SP_REGISTER] + bytes)
		index++;
	return index;
}

/* --- memory that changes after the sample: a child's --- */

static pid_t make_child(void)
{
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(child > 0);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void write_child(pid_t child, uint64_t address, const void *bytes, size_t size)
{
	struct iovec local = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address,
				.iov_len = size }; /* NOLINT(performance-no-int-to-ptr) */
	assert_int_equal(process_vm_writev(child, &local, 1, &remote, 1, 0), size);
}

/* --- tests: each is a step at one depth --- */

static int begin(void **state)
{
	(void)state;
	struct error error = { 0 };
	int result = own_process_sink(&sink, &error);
	if (result < 0)
		print_error("%s\n", error.message);
	return result;
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(profile_check(sink.profile), 0);
	sample_sink_release(&sink);
	return 0;
}

static void whole_copy(unsigned depth)
{
	(void)depth;
	struct backend_sample sample = sample_of(0);
	uint32_t node = add(&sample);
	assert_whole(node);
	assert_int_equal(add(&sample), node);
	assert_int_equal(count_of(UNWIND_ROOT), 2);
	struct stacks_cut cut = stacks_cut_recently(sink.stacks);
	assert_int_equal(cut.stacks, 0);
	assert_null(own_thread()->deep);
}

static void test_whole_copy(void **state)
{
	(void)state;
	descend(30, 1000, whole_copy);
	/* Publishing twice counts once. */
	assert_int_equal(count_of(UNWIND_ROOT), 2);
	assert_int_equal(count_of(UNWIND_ROOT), 2);
}

static void completed(unsigned depth)
{
	(void)depth;
	struct backend_sample sample = sample_of(0);
	uint32_t whole = add(&sample);
	sample = sample_of(CUT_BYTES);
	for (int i = 0; i < 3; i++)
		assert_int_equal(add(&sample), whole);
	assert_int_equal(count_of(UNWIND_ROOT), 1);
	assert_int_equal(count_of(UNWIND_ROOT_COMPLETED), 3);
	struct stacks_cut cut = stacks_cut_recently(sink.stacks);
	assert_int_equal(cut.stacks, 3);
	assert_int_equal(cut.too_late, 0);
	assert_int_equal(stacks_cut_recently(sink.stacks).stacks, 0);
}

static void test_completed_from_memory(void **state)
{
	(void)state;
	descend(30, 1000, completed);
}

/* A stack copied in any size gives the same path. */
static void cut_anywhere(unsigned depth)
{
	(void)depth;
	struct backend_sample sample = sample_of(0);
	uint32_t whole = add(&sample);
	for (size_t bytes = 8; bytes < now.stack_bytes && bytes < 16384; bytes += 8 * (1 + bytes / 512)) {
		sample = sample_of(bytes);
		assert_int_equal(add(&sample), whole);
	}
	assert_int_equal(count_of(UNWIND_ROOT), 1);
}

static void test_cut_anywhere(void **state)
{
	(void)state;
	descend(30, 1000, cut_anywhere);
}

static void changed_where_cut(unsigned depth)
{
	(void)depth;
	struct backend_sample sample = sample_of(CUT_BYTES);
	pid_t child = make_child();
	sample.pid = (uint32_t)child;
	uint8_t byte = now.stack[CUT_BYTES - 100] ^ 1;
	write_child(child, now.registers.value[ARCH_SP_REGISTER] + CUT_BYTES - 100, &byte, 1);
	assert_broken(add(&sample));
	end_child(child);
	assert_int_equal(count_of(UNWIND_STACK_SHORT), 1);
	struct stacks_cut cut = stacks_cut_recently(sink.stacks);
	assert_int_equal(cut.stacks, 1);
	assert_int_equal(cut.too_late, 1);
}

static void test_changed_where_cut(void **state)
{
	(void)state;
	descend(30, 1000, changed_where_cut);
}

static void remembered(unsigned depth)
{
	(void)depth;
	struct backend_sample sample = sample_of(CUT_BYTES);
	uint32_t whole = add(&sample);
	assert_whole(whole);
	assert_non_null(own_thread()->deep);
	sample.pid = INT_MAX; /* the process has ended when its memory is needed */
	assert_int_equal(add(&sample), whole);
	assert_int_equal(count_of(UNWIND_ROOT_REMEMBERED), 1);
	assert_int_equal(count_of(UNWIND_ROOT_COMPLETED), 1);
	/* The remembered stack differs from this sample. */
	size_t size;
	const uint8_t *known =
		deep_stack_at(own_thread()->deep, now.registers.value[ARCH_SP_REGISTER] + CUT_BYTES - 100, &size);
	own_thread()->deep->bytes[known - own_thread()->deep->bytes] ^= 1;
	assert_broken(add(&sample));
	assert_int_equal(count_of(UNWIND_STACK_SHORT), 1);
}

static void test_remembered(void **state)
{
	(void)state;
	descend(30, 1000, remembered);
}

/* --- frames that change after the sample --- */

/* The return address `beyond` frames after the copied part changes before the monitor reads it. The monitor must
 * not use it. */
static void replaced_beyond(int beyond)
{
	struct backend_sample sample = sample_of(CUT_BYTES);
	pid_t child = make_child();
	sample.pid = (uint32_t)child;
	uint64_t address = behind_another_call();
	assert_true(address != 0);
	write_child(child, now.slot[first_outside(CUT_BYTES) + beyond], &address, sizeof(address));
	assert_broken(add(&sample));
	assert_int_equal(count_of(UNWIND_STACK_SHORT), 1);
	/* With the memory of an earlier sample, the path can be completed. */
	struct backend_sample before = sample_of(CUT_BYTES);
	uint32_t whole = add(&before);
	assert_whole(whole);
	assert_int_equal(add(&sample), whole);
	assert_int_equal(count_of(UNWIND_ROOT_REMEMBERED), 1);
	end_child(child);
}

static void replaced_at_once(unsigned depth)
{
	(void)depth;
	replaced_beyond(0);
}

static void replaced_further_up(unsigned depth)
{
	(void)depth;
	replaced_beyond(5);
}

static void test_replaced_frames(void **state)
{
	descend(30, 1000, replaced_at_once);
	end(state);
	assert_int_equal(begin(state), 0);
	descend(30, 1000, replaced_further_up);
}

/* Zeros after the copied part must not be taken for the root of the stack. */
static void zeros_above(unsigned depth)
{
	(void)depth;
	static const uint8_t zeros[4096];
	struct backend_sample sample = sample_of(CUT_BYTES);
	pid_t child = make_child();
	sample.pid = (uint32_t)child;
	write_child(child, now.registers.value[ARCH_SP_REGISTER] + CUT_BYTES, zeros, sizeof(zeros));
	assert_broken(add(&sample));
	assert_int_equal(count_of(UNWIND_STACK_SHORT), 1);
	end_child(child);
}

static void test_zeros_above(void **state)
{
	(void)state;
	descend(30, 1000, zeros_above);
}

/* With changed memory and without a remembered stack, the path is completed by the callers that a frame at this
 * address always had. */
static void recall(struct backend_sample *sample, uint32_t whole)
{
	pid_t child = make_child();
	uint64_t address = behind_another_call();
	write_child(child, now.slot[first_outside(CUT_BYTES)], &address, sizeof(address));
	sample->pid = (uint32_t)child;
	deep_stack_free(own_thread()->deep);
	own_thread()->deep = NULL;
	assert_int_equal(add(sample), whole);
	end_child(child);
}

static void callers_recalled(unsigned depth)
{
	(void)depth;
	struct backend_sample sample = sample_of(CUT_BYTES);
	uint32_t whole = add(&sample);
	recall(&sample, whole);
	assert_int_equal(count_of(UNWIND_ROOT_COMPLETED), 1);
	assert_int_equal(count_of(UNWIND_ROOT_REMEMBERED), 1);
}

static void test_callers_recalled(void **state)
{
	(void)state;
	descend(30, 1000, callers_recalled);
}

/* If the path that created a thread is known, it is above the thread's path, in whatever way that is completed. */
static void below_a_start(unsigned depth)
{
	(void)depth;
	struct backend_sample sample = sample_of(0);
	uint32_t start = add(&sample);
	own_thread()->base_node = start;
	uint32_t whole = add(&sample);
	assert_int_equal(climb(whole, now.count), start);
	sample = sample_of(CUT_BYTES);
	assert_int_equal(add(&sample), whole);
	assert_non_null(own_thread()->deep);
	sample.pid = INT_MAX;
	assert_int_equal(add(&sample), whole);
	assert_int_equal(count_of(UNWIND_ROOT_REMEMBERED), 1);
	recall(&sample, whole);
	assert_int_equal(count_of(UNWIND_ROOT_REMEMBERED), 2);
}

static void test_below_a_start(void **state)
{
	(void)state;
	descend(30, 1000, below_a_start);
}

/* A base that does not hold for a copy of the creator's stack: the outermost frame shows which it is. */
static void below_a_start_or_copied(unsigned depth)
{
	(void)depth;
	struct backend_sample sample = sample_of(0);
	uint32_t alone = add(&sample);
	uint64_t outermost = stacks_outermost_sp(sink.stacks);
	assert_true(outermost > sample.registers.value[ARCH_SP_REGISTER]);
	own_thread()->base_node = alone;
	own_thread()->base_copied = outermost;
	assert_int_equal(add(&sample), alone);
	sample = sample_of(CUT_BYTES);
	assert_int_equal(add(&sample), alone);
	assert_int_equal(add(&sample), alone); /* joins the remembered stack */
	assert_int_equal(stacks_outermost_sp(sink.stacks), outermost);
	own_thread()->base_copied = outermost + 16;
	sample = sample_of(0);
	assert_int_equal(climb(add(&sample), now.count), alone);
}

static void test_below_a_start_or_copied(void **state)
{
	(void)state;
	descend(30, 1000, below_a_start_or_copied);
}

/* --- deep recursion --- */

static void join_deep(unsigned depth)
{
	struct backend_sample sample = sample_of(8192);
	assert_whole(add(&sample));
	/* At some depths, the process has ended. */
	if (depth % 3 == 0)
		sample.pid = INT_MAX;
	assert_whole(add(&sample));
}

/* Recursion down and up, several times: much of the stack stays, and much is new. */
static void test_deep_recursion(void **state)
{
	(void)state;
	static const unsigned depths[] = { 1000, 1003, 200, 900, 10, 1100 };
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		descend(depths[i], 50, join_deep);
	assert_int_equal(count_of(UNWIND_STACK_SHORT), 0);
	assert_true(count_of(UNWIND_ROOT_COMPLETED) > 50);
	assert_true(count_of(UNWIND_ROOT_REMEMBERED) > 10);
}

/* --- samples without a usable stack --- */

static const struct profile_location *only_location(uint32_t node)
{
	assert_int_equal(sink.profile->nodes[node].parent, PROFILE_ROOT);
	return &sink.profile->locations[sink.profile->nodes[node].location];
}

/* A walk of the interpreter's frames that failed before its first entry is no path without them. */
static void test_interpreter_failed(void **state)
{
	(void)state;
	const uint64_t pc = (uint64_t)(uintptr_t)test_interpreter_failed;
	struct backend_sample sample = { .pid = (uint32_t)getpid(),
					 .tid = (uint32_t)getpid(),
					 .addresses = &pc,
					 .address_count = 1,
					 .cause = UNWIND_ROOT,
					 .interpreted_end = INTERPRETED_NO_THREAD };
	add(&sample);
	assert_int_equal(count_of(UNWIND_INTERPRETER), 0);
	static const uint8_t failures[] = { INTERPRETED_UNREADABLE, INTERPRETED_CHANGED, INTERPRETED_DEEP, UINT8_MAX };
	for (size_t i = 0; i < sizeof(failures); i++) {
		sample.interpreted_end = failures[i];
		add(&sample);
		assert_int_equal(count_of(UNWIND_INTERPRETER), i + 1);
	}
}

static void test_no_stack(void **state)
{
	(void)state;
	struct backend_sample sample = { .pid = (uint32_t)getpid(), .tid = (uint32_t)getpid() };
	uint32_t node = add(&sample);
	only_location(node);
	assert_string_equal(top_name(node), "[kernel: exec or exit]");
	assert_int_equal(count_of(UNWIND_NO_USER_STACK), 1);
	sample.has_registers = sample.other_abi = true;
	node = add(&sample);
	only_location(node);
	assert_string_equal(top_name(node), "[incomplete stack]");
	assert_int_equal(count_of(UNWIND_OTHER_ABI), 1);
	/* A process without any reported map has a stack, but it cannot be walked. */
	struct thread *empty = processes_thread(sink.processes, INT_MAX, INT_MAX);
	sample = (struct backend_sample){ .pid = INT_MAX, .tid = INT_MAX, .has_registers = true };
	int64_t added = stacks_add(sink.stacks, empty, &sample);
	assert_true(added > 0);
	assert_string_equal(top_name((uint32_t)added), "[incomplete stack]");
	assert_int_equal(count_of(UNWIND_NO_USER_STACK), 1);
	/* Between exec and the first map, there is no stack. */
	assert_int_equal(processes_name(sink.processes, INT_MAX, INT_MAX, "new", true, 1), 0);
	added = stacks_add(sink.stacks, empty, &sample);
	assert_true(added > 0);
	assert_string_equal(top_name((uint32_t)added), "[kernel: exec or exit]");
	assert_int_equal(count_of(UNWIND_NO_USER_STACK), 2);
}

/* Code in no map, and generated code. */
static void test_unknown_code(void **state)
{
	(void)state;
	uint8_t stack[64] = { 0 };
	struct backend_sample sample = { .pid = INT_MAX,
					 .tid = INT_MAX,
					 .has_registers = true,
					 .stack = stack,
					 .stack_bytes = sizeof(stack),
					 .stack_asked = 1000 };
	const struct backend_map map = { .pid = INT_MAX, .start = 0x10000, .size = 0x10000, .path = "//anon" };
	assert_int_equal(processes_map(sink.processes, &map), 0);
	sample.registers.value[ARCH_SP_REGISTER] = 0x7000000;
	sample.registers.value[ARCH_PC_REGISTER] = 0x5000;
	struct thread *thread = processes_thread(sink.processes, INT_MAX, INT_MAX);
	int64_t node = stacks_add(sink.stacks, thread, &sample);
	assert_true(node > 0);
	assert_string_equal(top_name((uint32_t)node), "[incomplete stack]");
	const struct profile_location *location = &sink.profile->locations[sink.profile->nodes[node].location];
	assert_string_equal(profile_string(sink.profile, sink.profile->modules[location->module].path),
			    "[unknown code]");
	assert_int_equal(count_of(UNWIND_NO_MODULE), 1);
	int64_t nodes[2];
	for (uint64_t i = 0; i < 2; i++) {
		sample.registers.value[ARCH_PC_REGISTER] = 0x12345 + i;
		nodes[i] = stacks_add(sink.stacks, thread, &sample);
	}
	assert_int_not_equal(nodes[0], nodes[1]);
	location = &sink.profile->locations[sink.profile->nodes[nodes[0]].location];
	assert_string_equal(profile_string(sink.profile, sink.profile->modules[location->module].path), "[anon]");
	assert_int_equal(location->address, 0x12345);   /* as in the process, and as in its perf map */
	assert_int_equal(count_of(UNWIND_NO_FRAME), 0); /* until the names are known */
	assert_int_equal(walk_ends_resolve(stacks_ends(sink.stacks), sink.profile), 2);
	assert_int_equal(count_of(UNWIND_NO_FRAME), 2);
}

/* rbp can be any number, and so can rsp. No memory outside of the copied stack may be read. */
static void wild_registers(unsigned depth)
{
	(void)depth;
	uint64_t rsp = now.registers.value[ARCH_SP_REGISTER];
	const uint64_t wild[] = { 0,
				  1,
				  7,
				  8,
				  16,
				  4096,
				  INT64_MAX,
				  UINT64_C(1) << 63,
				  rsp,
				  rsp - 8,
				  rsp - 16,
				  rsp + 1,
				  rsp + CUT_BYTES,
				  rsp + CUT_BYTES - 8,
				  rsp + CUT_BYTES - 16,
				  (uint64_t)-1,
				  (uint64_t)-2,
				  (uint64_t)-7,
				  (uint64_t)-8,
				  (uint64_t)-9,
				  (uint64_t)-12,
				  (uint64_t)-15,
				  (uint64_t)-16,
				  (uint64_t)-17,
				  (uint64_t)-24,
				  (uint64_t)-32,
				  (uint64_t)-48,
				  (uint64_t)-4096 };
	enum { COUNT = sizeof(wild) / sizeof(wild[0]) };
	for (int whole = 0; whole < 2; whole++) {
		for (int i = 0; i < COUNT; i++) {
			struct backend_sample sample = sample_of(CUT_BYTES);
			sample.stack_asked += (size_t)whole;
			sample.registers.value[ARCH_FP_REGISTER] = wild[i];
			assert_true(stacks_add(sink.stacks, own_thread(), &sample) > 0);
			for (int j = 0; j < COUNT; j++) {
				sample.registers.value[ARCH_SP_REGISTER] = wild[j];
				assert_true(stacks_add(sink.stacks, own_thread(), &sample) > 0);
				sample.stack_bytes = 0;
				assert_true(stacks_add(sink.stacks, own_thread(), &sample) > 0);
				sample.stack_bytes = CUT_BYTES;
			}
			sample.registers.value[ARCH_PC_REGISTER] = wild[i];
			assert_true(stacks_add(sink.stacks, own_thread(), &sample) > 0);
		}
	}
}

static void test_wild_registers(void **state)
{
	(void)state;
	descend(30, 1000, wild_registers);
}

/* --- the sample sink --- */

static void through_the_sink(unsigned depth)
{
	(void)depth;
	struct backend_sink backend_sink = sample_sink_for_backend(&sink);
	struct backend_sample sample = sample_of(0);
	sample.hits = 3;
	backend_sink.sample(backend_sink.context, &sample);
	backend_sink.sample(backend_sink.context, &sample);
	backend_sink.lost(backend_sink.context, 5);
	backend_sink.lost_events(backend_sink.context, 6);
	backend_sink.throttled(backend_sink.context);
}

static void test_sink(void **state)
{
	(void)state;
	struct resource_request request;
	assert_int_equal(resource_parse("cpu/1ms", &request, NULL), 0);
	const struct backend_request asked = { .resources = &request, .resource_count = 1, .user_mode_only = true };
	assert_int_equal(sample_sink_add_resources(&sink, &asked, "test"), 0);
	const struct profile_resource *resource = &sink.profile->resources[0];
	assert_string_equal(profile_string(sink.profile, resource->name), "cpu");
	assert_string_equal(profile_string(sink.profile, resource->note), "user mode only");
	assert_int_equal(resource->interval, 1000000);
	descend(5, 1000, through_the_sink);
	assert_int_equal(sink.samples, 2);
	assert_int_equal(sink.hits[0], 6);
	assert_int_equal(sink.profile->hit_count, 2);
	assert_int_equal(sink.profile->hits[0].count, 3);
	assert_int_equal(sink.profile->lost, 5);
	assert_int_equal(sink.lost_events, 6);
	assert_int_equal(sink.throttled, 1);
	assert_false(sink.out_of_memory);
}

/* --- memory runs short --- */

static void record_short_of_memory(void)
{
	struct sample_sink small;
	struct error error;
	int result = own_process_sink(&small, &error);
	if (result < 0) {
		assert_int_equal(result, ERROR_MEMORY);
		return;
	}
	struct resource_request request;
	assert_int_equal(resource_parse("cpu/1ms", &request, NULL), 0);
	const struct backend_request asked = { .resources = &request, .resource_count = 1 };
	if (sample_sink_add_resources(&small, &asked, "test") == 0) {
		struct backend_sink backend_sink = sample_sink_for_backend(&small);
		const struct backend_sample samples[] = { sample_of(0), sample_of(CUT_BYTES), sample_of(CUT_BYTES) };
		for (size_t i = 0; i < 3; i++)
			backend_sink.sample(backend_sink.context, &samples[i]);
		/* Each sample is either recorded or counted as lost. After a loss, no more are recorded. */
		assert_int_equal(small.samples + small.profile->lost, 3);
		assert_int_equal(small.profile->hit_count, small.samples);
		assert_true(small.out_of_memory || small.samples == 3);
		result = walk_ends_publish(stacks_ends(small.stacks), small.profile);
		assert_true(result == 0 || result == ERROR_MEMORY);
	}
	assert_int_equal(profile_check(small.profile), 0);
	sample_sink_release(&small);
}

static void short_of_memory(unsigned depth)
{
	(void)depth;
	ALLOC_FAIL_EACH(record_short_of_memory());
}

static void test_memory_runs_short(void **state)
{
	(void)state;
	descend(30, 1000, short_of_memory);
}

int main(void)
{
	/* The first call allocates memory. */
	_Unwind_Backtrace(note_frame, NULL);
#define RECORDED(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		RECORDED(test_whole_copy),
		RECORDED(test_completed_from_memory),
		RECORDED(test_cut_anywhere),
		RECORDED(test_changed_where_cut),
		RECORDED(test_remembered),
		RECORDED(test_replaced_frames),
		RECORDED(test_zeros_above),
		RECORDED(test_callers_recalled),
		RECORDED(test_deep_recursion),
		RECORDED(test_no_stack),
		RECORDED(test_interpreter_failed),
		RECORDED(test_unknown_code),
		RECORDED(test_wild_registers),
		RECORDED(test_below_a_start),
		RECORDED(test_below_a_start_or_copied),
		RECORDED(test_sink),
		cmocka_unit_test(test_memory_runs_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
