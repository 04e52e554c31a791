/* Classifies instructions for the counting of floating point exceptions (collect/agent/fp/). */
#ifndef ARCH_X86_64_PROCESSOR_AGENT_FP_CODE_H
#define ARCH_X86_64_PROCESSOR_AGENT_FP_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether an instruction loads the legacy unit's flags and does not raise them. `at` is about to be
 * executed, so it is readable. */
bool fp_loads_legacy_flags(const uint8_t *at);

#endif
