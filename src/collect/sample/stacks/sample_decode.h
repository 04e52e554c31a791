/* A record, as it was written where a sample was taken (abi/sample_record.h), told as a
 * backend tells a sample. */
#ifndef COLLECT_SAMPLE_STACKS_SAMPLE_DECODE_H
#define COLLECT_SAMPLE_STACKS_SAMPLE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/sample_record.h"
#include "collect/sample/backend.h"

/* Everything but request's amount, which is left 0, and labels. `content` is what follows
 * the record: its frames, or registers and stack, of the lengths that it says (checked by
 * the caller). `stack_asked`: how much of a stack that is handed over was to be copied.
 * `stack`: SAMPLE_STACK_BYTES of the caller's, for what has to be fetched from process
 * `pid` now. The sample points into both. */
void told_sample(const struct sample_record *record, const void *content, size_t stack_asked, uint8_t *stack,
		 struct backend_sample *sample);

#endif
