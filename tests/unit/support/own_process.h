/*
 * The test program as the recorded process: attach_process reports its maps and its thread to a sample sink, through
 * a backend that records no samples.
 */
#ifndef TESTS_OWN_PROCESS_H
#define TESTS_OWN_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/sample/sample_sink.h"

/* Initializes the sink. Returns 0, or a negative error after which the sink is already released. */
int own_process_sink(struct sample_sink *sink, struct error *error);

/* Returns a frame for a run-time pc of this process, with the address in its module and the module's id
 * (UINT32_MAX if the pc is in no module). */
struct unwind_frame own_process_frame(struct sample_sink *sink, uint64_t pc);

/* Copies up to `size` bytes from `address`. Returns the number of bytes copied. The kernel makes the copy, because
 * a sanitizer would report a read of the stack between variables. */
size_t own_process_copy(uint64_t address, void *to, size_t size);

#endif
