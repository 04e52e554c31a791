/* A record, as it was written where a sample was taken (sampling/record.h), told as a
 * backend tells a sample. */
#ifndef RECORD_TOLD_SAMPLE_H
#define RECORD_TOLD_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "record/backend.h"
#include "sampling/record.h"

/* Everything but request's amount, which is left 0, and labels. `content` is what follows
 * the record: its frames, or registers and stack, of the lengths that it says (checked by
 * the caller). `stack_asked`: how much of a stack that is handed over was to be copied.
 * `stack`: SAMPLE_STACK_BYTES of the caller's, for what has to be fetched from process
 * `pid` now. The sample points into both. */
void told_sample(const struct sample_record *record, const void *content, size_t stack_asked, uint8_t *stack,
		 struct backend_sample *sample);

#endif
