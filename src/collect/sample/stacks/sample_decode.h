/* Decodes a sample record (abi/sample_record.h) into a backend's sample. */
#ifndef COLLECT_SAMPLE_STACKS_SAMPLE_DECODE_H
#define COLLECT_SAMPLE_STACKS_SAMPLE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/sample_record.h"
#include "collect/sample/backend.h"

/* Fills in everything except the request's amount, which stays 0, and the labels. `content` follows the
 * record: its frames, or its registers and stack, of the lengths that the record has (the caller has
 * checked them). `stack_asked` is the number of bytes that were requested of a copied stack. `stack` is a
 * buffer of SAMPLE_STACK_BYTES for memory that is read from process `pid` now. The sample points into
 * `content` and `stack`. */
void decode_sample(const struct sample_record *record, const void *content, size_t stack_asked, uint8_t *stack,
		   struct backend_sample *sample);

#endif
