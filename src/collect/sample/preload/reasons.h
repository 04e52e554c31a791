/* Determines, from /proc, why a program that was started has not loaded the agent. */
#ifndef COLLECT_SAMPLE_PRELOAD_REASONS_H
#define COLLECT_SAMPLE_PRELOAD_REASONS_H

#include <stdint.h>

/* Size of the channel's path in the environment, which preload_environment sets: "/proc/PID/fd/N". */
enum { PRELOAD_CHANNEL_PATH_BYTES = 64 };

/* Returns a short text that follows "'name' was not recorded: ", or NULL if the process has ended or
 * nothing prevents it from loading the agent. */
const char *preload_reason_of(uint32_t pid, const char *channel_path);

/* The same for a program that has not begun: by its file, and by what its environment lacks (enum
 * channel_exec, or-ed). The file is not examined if its name does not begin with '/', such as one that is
 * looked up in PATH. */
const char *preload_reason_of_exec(const char *path, uint32_t lacks);

#endif
