#include "collect/sample/stacks/sample_decode.h"

#include <string.h>
#include <sys/uio.h>

/* Reads the stack of a sleeping thread, page by page. It has not changed since the sample. */
static size_t read_stack(const struct sample_record *record, uint64_t from, uint8_t *stack)
{
	struct iovec pages[SAMPLE_STACK_PAGES];
	struct iovec to = { .iov_base = stack, .iov_len = SAMPLE_STACK_BYTES };
	uint64_t at = from;
	size_t left = SAMPLE_STACK_BYTES;
	size_t count = 0;
	for (; count < SAMPLE_STACK_PAGES && left > 0; count++) {
		size_t part = SAMPLE_PAGE_BYTES - at % SAMPLE_PAGE_BYTES;
		part = part < left ? part : left;
		pages[count] = (struct iovec){ .iov_base = (void *)(uintptr_t)at, .iov_len = part };
		at += part;
		left -= part;
	}
	ssize_t got = process_vm_readv((pid_t)record->pid, &to, 1, pages, count, 0);
	return got < 0 ? 0 : (size_t)got;
}

/* Reads the pages that were absent when the stack was copied. If the process has ended, they stay zeros:
 * in all likelihood they were never touched. */
static void fetch_absent(const struct sample_record *record, const uint8_t *copy, uint64_t from, uint8_t *stack)
{
	memcpy(stack, copy, record->stack_bytes);
	size_t at = 0;
	for (uint32_t page = 0; page < SAMPLE_STACK_PAGES && at < record->stack_bytes; page++) {
		size_t bytes = SAMPLE_PAGE_BYTES - (from + at) % SAMPLE_PAGE_BYTES;
		bytes = bytes < record->stack_bytes - at ? bytes : record->stack_bytes - at;
		struct iovec to = { .iov_base = stack + at, .iov_len = bytes };
		struct iovec there = { .iov_base = (void *)(uintptr_t)(from + at), .iov_len = bytes };
		if (record->absent >> page & 1)
			process_vm_readv((pid_t)record->pid, &to, 1, &there, 1, 0);
		at += bytes;
	}
}

static void fill_fallback(const struct sample_record *record, const void *content, size_t stack_asked, uint8_t *stack,
			  struct backend_sample *sample)
{
	const uint64_t *words = content;
	memcpy(sample->registers.value, words, sizeof(sample->registers.value));
	sample->has_registers = true;
	sample->stack = (const uint8_t *)(words + ARCH_REGISTERS);
	sample->stack_bytes = record->stack_bytes;
	sample->stack_asked = record->flags & SAMPLE_STACK_CUT ? record->stack_bytes : stack_asked;
	uint64_t sp = sample->registers.value[ARCH_SP_REGISTER];
	if (record->end == WALK_ASLEEP) {
		sample->stack = stack;
		sample->stack_bytes = read_stack(record, sp, stack);
	} else if (record->absent && record->stack_bytes <= SAMPLE_STACK_BYTES) {
		fetch_absent(record, sample->stack, sp, stack);
		sample->stack = stack;
	}
}

static enum unwind_cause cause_of(const struct sample_record *record)
{
	if (record->end != WALK_ROOT)
		return UNWIND_NO_USER_STACK;
	return record->flags & SAMPLE_GENERATED ? UNWIND_ROOT_NAMELESS : UNWIND_ROOT;
}

void decode_sample(const struct sample_record *record, const void *content, size_t stack_asked, uint8_t *stack,
		   struct backend_sample *sample)
{
	*sample = (struct backend_sample){
		.pid = record->pid,
		.tid = record->tid,
		.request = record->request,
		.hits = record->hits,
		.time_ns = record->time_ns,
		.in_kernel = record->flags & SAMPLE_IN_KERNEL,
		.other_abi = record->end == WALK_OTHER_ABI,
		.syscall = record->syscall,
		.syscall_result = record->flags & SAMPLE_SYSCALL ? record->detail : BACKEND_NO_RESULT,
		.has_touched = record->flags & SAMPLE_TOUCHED,
		.touched = record->flags & SAMPLE_TOUCHED ? (uint64_t)record->detail : 0,
	};
	if (record->kind == SAMPLE_FALLBACK) {
		fill_fallback(record, content, stack_asked, stack, sample);
	} else {
		sample->addresses = content;
		sample->address_count = record->frames;
		sample->cause = cause_of(record);
	}
	const uint64_t *behind =
		(const uint64_t *)content + sample_aligned(sample_content_bytes(record)) / sizeof(uint64_t);
	if (record->kernel_frames) {
		sample->kernel = behind;
		sample->kernel_count = record->kernel_frames;
	}
	if (record->interpreted) {
		sample->stack_pointers = record->frames ? behind + record->kernel_frames : NULL;
		sample->interpreted =
			(const struct interpreted_frame *)(behind + record->kernel_frames + record->frames);
		sample->interpreted_count = record->interpreted;
	}
	sample->interpreted_end = record->interpreted_end;
}
