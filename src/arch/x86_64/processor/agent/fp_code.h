/* Classifies instructions for the counting of floating point exceptions (collect/agent/fp/). */
#ifndef ARCH_X86_64_PROCESSOR_AGENT_FP_CODE_H
#define ARCH_X86_64_PROCESSOR_AGENT_FP_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum fp_next {
	FP_NEXT_UNKNOWN, /* the code is not readable */
	FP_NEXT_STOPS,   /* enters the kernel, or reads or writes the words: must not be stepped over */
	FP_NEXT_LEGACY,  /* an instruction of the legacy unit */
	FP_NEXT_OTHER
};
enum { FP_CODE_BYTES = 16 };

enum fp_next fp_next_instruction(const uint8_t bytes[FP_CODE_BYTES]);

/* Returns whether an instruction loads the legacy unit's flags and does not raise them. `at` is about to be
 * executed, so it is readable. */
bool fp_loads_legacy_flags(const uint8_t *at);

#endif
