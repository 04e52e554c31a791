/* Why a program that was started has not loaded the runtime, as far as /proc tells. */
#ifndef COLLECT_SAMPLE_PRELOAD_REASONS_H
#define COLLECT_SAMPLE_PRELOAD_REASONS_H

#include <stdint.h>

/* What the environment says where our channel is, as of preload_environment: "/proc/PID/fd/N". */
enum { PRELOAD_CHANNEL_PATH_BYTES = 64 };

/* In few words, behind "'name' was not seen: "; NULL: it has ended, or there is nothing in the way. */
const char *preload_reason_of(uint32_t pid, const char *channel_path);

/* The same before it begins: of a program file, and of what its environment lacks (enum channel_exec, or-ed). NULL also
 * if the file cannot be read here, as one whose name is looked for in PATH. */
const char *preload_reason_of_exec(const char *path, uint32_t lacks);

#endif
