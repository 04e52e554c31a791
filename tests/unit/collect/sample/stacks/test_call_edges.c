/* collect/sample/stacks/call_edges.c: which function can have called which, according to the code of this test
 * program. */
#include <execinfo.h>
#include <search.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/sample/stacks/call_edges.h"
#include "support/alloc_fail.h"
#include "support/own_process.h"

static struct sample_sink sink;
static struct call_edges *edges;
static void *volatile return_address; /* of the last call of callee() */

static __attribute__((noinline)) unsigned callee(unsigned value)
{
	volatile unsigned result = value;
	return_address = __builtin_return_address(0);
	return result + 1;
}

static __attribute__((noinline)) unsigned stranger(unsigned value)
{
	volatile unsigned result = value;
	return result + 2;
}

static __attribute__((noinline)) unsigned call_directly(unsigned value)
{
	volatile unsigned result = callee(value);
	return result + 1;
}

static unsigned (*volatile by_pointer)(unsigned) = callee;

static __attribute__((noinline)) unsigned call_by_pointer(unsigned value)
{
	volatile unsigned result = by_pointer(value);
	return result + 1;
}

static uint64_t address_of(unsigned (*function)(unsigned))
{
	return (uint64_t)(uintptr_t)function;
}

/* Returns the frame of a caller. Its pc is one byte before the return address, inside the call. */
static struct unwind_frame frame_before(void *address)
{
	return own_process_frame(&sink, (uint64_t)(uintptr_t)address - 1);
}

/* Returns a frame inside a function. */
static struct unwind_frame frame_in(unsigned (*function)(unsigned))
{
	return own_process_frame(&sink, address_of(function) + 1);
}

static int begin(void **state)
{
	(void)state;
	int result = own_process_sink(&sink, NULL);
	edges = result == 0 ? call_edges_new(sink.modules) : NULL;
	return edges ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	call_edges_free(edges);
	sample_sink_release(&sink);
	return 0;
}

/* Ends in a tail call behind a conditional branch, as glibc's raise does. */
__asm__(".text\n"
	".type jumps_to_callee, @function\n"
	"jumps_to_callee:\n"
	"	.cfi_startproc\n"
	"	cmpl $100, %edi\n"
	"	jbe 1f\n"
	"	xorl %edi, %edi\n"
	"1:	jmp callee\n"
	"	.cfi_endproc\n"
	".size jumps_to_callee, . - jumps_to_callee\n");
unsigned jumps_to_callee(unsigned value);

static __attribute__((noinline)) unsigned call_what_jumps(unsigned value)
{
	volatile unsigned result = jumps_to_callee(value);
	return result + 1;
}

/* --- calls in the code --- */

static void test_direct(void **state)
{
	(void)state;
	call_directly(1);
	struct unwind_frame caller = frame_before(return_address);
	struct unwind_frame right = frame_in(callee);
	struct unwind_frame wrong = frame_in(stranger);
	/* From the second time on, the answer is a stored one. */
	for (int i = 0; i < 3; i++) {
		assert_true(call_edges_fit(edges, &caller, &right));
		assert_false(call_edges_fit(edges, &caller, &wrong));
	}
	struct unwind_frame nowhere = wrong;
	nowhere.module = UINT32_MAX;
	assert_false(call_edges_fit(edges, &caller, &nowhere));
	assert_false(call_edges_fit(edges, &nowhere, &right));
}

static void test_pointer(void **state)
{
	(void)state;
	call_by_pointer(1);
	struct unwind_frame caller = frame_before(return_address);
	struct unwind_frame callees[] = { frame_in(callee), frame_in(stranger) };
	/* A call through a pointer may call any function. */
	for (int i = 0; i < 2; i++)
		assert_true(call_edges_fit(edges, &caller, &callees[i]));
}

static void test_no_call(void **state)
{
	(void)state;
	struct unwind_frame right = frame_in(callee);
	/* The bytes before a function are not a call of another one. */
	struct unwind_frame caller = own_process_frame(&sink, address_of(callee));
	assert_false(call_edges_fit(edges, &caller, &right));
	/* An address at which no code can be read. */
	caller.address = UINT64_MAX;
	assert_false(call_edges_fit(edges, &caller, &right));
	caller.address = 0;
	assert_false(call_edges_fit(edges, &caller, &right));
}

static void *trace[32];
static int trace_count;

static int compare_and_trace(const void *a, const void *b)
{
	trace_count = backtrace(trace, 32);
	return *(const int *)a - *(const int *)b;
}

/* A call of another module's function goes through a PLT stub. It can reach any function of another module, and none
 * of the caller's own unless that was learnt. */
static void test_stub(void **state)
{
	(void)state;
	static const int numbers[] = { 1, 2, 3 };
	size_t count = 3;
	assert_ptr_equal(lfind(&numbers[0], numbers, &count, sizeof(int), compare_and_trace), numbers);
	struct unwind_frame here = frame_in(callee);
	int outer = 0;
	while (frame_before(trace[outer]).module != here.module) /* frames of a sanitizer */
		outer++;
	while (frame_before(trace[outer]).module == here.module) /* compare_and_trace */
		outer++;
	struct unwind_frame inside = frame_before(trace[outer]); /* lfind */
	assert_true(inside.module != here.module && inside.module != UINT32_MAX);
	struct unwind_frame caller = frame_before(trace[outer + 1]); /* this function */
	assert_int_equal(caller.module, here.module);
	assert_true(call_edges_fit(edges, &caller, &inside));
	assert_false(call_edges_fit(edges, &caller, &here));
	struct unwind_frame comparing = frame_in((unsigned (*)(unsigned))(uintptr_t)compare_and_trace);
	assert_true(call_edges_fit(edges, &inside, &comparing)); /* lfind calls by a pointer */
}

static void test_tail_call(void **state)
{
	(void)state;
	call_what_jumps(1);
	struct unwind_frame caller = frame_before(return_address), inner = frame_in(callee), other = frame_in(stranger);
	assert_true(call_edges_fit(edges, &caller, &inner));
	assert_false(call_edges_fit(edges, &caller, &other));
}

/* --- learned calls --- */

static void test_learns(void **state)
{
	(void)state;
	call_directly(1);
	struct unwind_frame caller = frame_before(return_address);
	struct unwind_frame reached = frame_in(stranger); /* as by a jump from callee() */
	assert_false(call_edges_fit(edges, &caller, &reached));
	call_edges_add(edges, &caller, &reached);
	assert_true(call_edges_fit(edges, &caller, &reached));
	/* Valid for any address in that function, but only for this call site. */
	reached.address++;
	assert_true(call_edges_fit(edges, &caller, &reached));
	caller.address++;
	assert_false(call_edges_fit(edges, &caller, &reached));
	struct unwind_frame other = frame_in(call_directly);
	caller.address--;
	assert_false(call_edges_fit(edges, &caller, &other));
}

static void test_recalls(void **state)
{
	(void)state;
	struct unwind_frame inner = frame_in(callee);
	assert_int_equal(call_edges_find_callers(edges, 1, &inner, 0x7000), PROFILE_NONE);
	call_edges_store_callers(edges, 1, &inner, 0x7000, 42);
	assert_int_equal(call_edges_find_callers(edges, 1, &inner, 0x7000), 42);
	call_edges_store_callers(edges, 1, &inner, 0x7000, 42);
	inner.address++; /* elsewhere in the same function */
	assert_int_equal(call_edges_find_callers(edges, 1, &inner, 0x7000), 42);
	/* Valid only for this thread, this address on the stack and this function. */
	struct unwind_frame other = frame_in(stranger);
	assert_int_equal(call_edges_find_callers(edges, 2, &inner, 0x7000), PROFILE_NONE);
	assert_int_equal(call_edges_find_callers(edges, 1, &inner, 0x7008), PROFILE_NONE);
	assert_int_equal(call_edges_find_callers(edges, 1, &other, 0x7000), PROFILE_NONE);
	call_edges_store_callers(edges, 2, &inner, 0x7000, 43);
	assert_int_equal(call_edges_find_callers(edges, 1, &inner, 0x7000), 42);
	/* With two different callers, the entry is never used again. */
	call_edges_store_callers(edges, 1, &inner, 0x7000, 44);
	assert_int_equal(call_edges_find_callers(edges, 1, &inner, 0x7000), PROFILE_NONE);
	call_edges_store_callers(edges, 1, &inner, 0x7000, 42);
	assert_int_equal(call_edges_find_callers(edges, 1, &inner, 0x7000), PROFILE_NONE);
	assert_int_equal(call_edges_find_callers(edges, 2, &inner, 0x7000), 43);
}

/* --- memory runs short --- */

static void learn_short_of_memory(void)
{
	struct call_edges *small = call_edges_new(sink.modules);
	if (!small)
		return;
	struct unwind_frame caller = frame_before(return_address);
	struct unwind_frame inner = frame_in(stranger);
	for (uint32_t i = 0; i < 50; i++) {
		/* An entry that cannot be stored is dropped. */
		call_edges_store_callers(small, i, &inner, 0x7000, 7);
		uint32_t node = call_edges_find_callers(small, i, &inner, 0x7000);
		assert_true(node == 7 || node == PROFILE_NONE);
		caller.address += 8;
		call_edges_add(small, &caller, &inner);
	}
	call_edges_free(small);
}

static void test_memory_runs_short(void **state)
{
	(void)state;
	call_directly(1);
	ALLOC_FAIL_EACH(learn_short_of_memory());
	call_edges_free(NULL);
}

int main(void)
{
	/* The first call allocates memory. */
	backtrace(trace, 1);
#define RECORDED(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		RECORDED(test_direct),  RECORDED(test_pointer),           RECORDED(test_no_call),
		RECORDED(test_stub),    RECORDED(test_tail_call),         RECORDED(test_learns),
		RECORDED(test_recalls), RECORDED(test_memory_runs_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
