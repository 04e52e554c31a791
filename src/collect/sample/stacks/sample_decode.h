/* Decodes a sample record (abi/sample_record.h) into a backend's sample. */
#ifndef COLLECT_SAMPLE_STACKS_SAMPLE_DECODE_H
#define COLLECT_SAMPLE_STACKS_SAMPLE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/interpreter.h"
#include "abi/sample_record.h"
#include "collect/sample/backend.h"

/* Returns the bytes of a record's frames, or registers and stack; also of an event's text (abi/channel.h). What follows
 * them begins at a multiple of 8 bytes. */
static inline uint64_t sample_content_bytes(const struct sample_record *record)
{
	uint64_t registers = record->kind == SAMPLE_FALLBACK ? sizeof(struct arch_registers) : 0;
	return (uint64_t)record->frames * sizeof(uint64_t) + registers + record->stack_bytes;
}

static inline uint64_t sample_aligned(uint64_t bytes)
{
	enum { SAMPLE_ALIGNMENT = 8 };
	return (bytes + SAMPLE_ALIGNMENT - 1) / SAMPLE_ALIGNMENT * SAMPLE_ALIGNMENT;
}

/* Returns the bytes of all that follows a record. */
static inline uint64_t sample_all_bytes(const struct sample_record *record)
{
	uint64_t bytes = sample_content_bytes(record);
	if (record->kernel_frames || record->interpreted)
		bytes = sample_aligned(bytes) + record->kernel_frames * sizeof(uint64_t);
	if (record->interpreted)
		bytes += record->frames * sizeof(uint64_t) + record->interpreted * sizeof(struct interpreted_frame);
	return bytes;
}

/* Fills in everything except the request's amount, which stays 0, and the labels. `content`
 * follows the record: its frames, or its registers and stack, the kernel's frames and the
 * interpreter's, of the lengths that the record has (the caller has checked them). `stack_asked`
 * is the number of bytes that were requested of a copied stack. `stack` is a buffer of
 * SAMPLE_STACK_BYTES for memory that is read from process `pid` now. The sample points into
 * `content` and `stack`. */
void decode_sample(const struct sample_record *record, const void *content, size_t stack_asked, uint8_t *stack,
		   struct backend_sample *sample);

#endif
