/* Determines what the kernel permits for perf events, and explains its refusals. */
#ifndef COLLECT_SAMPLE_PERF_ACCESS_H
#define COLLECT_SAMPLE_PERF_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "resources/resources.h"

/* Sets `error` to the reason why perf_event_open refused `row` with `refusal` (an errno), with the remedy.
 * `user_mode_only`: it would have been permitted in user mode. Returns the error's code. */
int perf_access_refused(const struct resource_row *row, int refusal, bool user_mode_only, struct error *error);

/* The same for events that watch all threads of a CPU. */
int perf_access_everything_refused(int refusal, struct error *error);

/* Returns kernel.perf_event_paranoid, or -2 if it cannot be read. */
int perf_access_paranoid(void);

/* Returns kernel.perf_event_max_sample_rate in interrupts a second, or 0 if it cannot be read. */
long perf_access_max_sample_rate(void);

/* Computes the sizes in bytes of the rings of each CPU: a privileged user gets all that is wanted (bounded
 * over many CPUs), others what the limits of locked memory leave (kernel.perf_event_mlock_kb for each CPU,
 * plus RLIMIT_MEMLOCK). */
void perf_access_ring_sizes(size_t cpu_count, size_t side_wanted, size_t samples_wanted, size_t samples_min,
			    size_t *side_bytes, size_t *sample_bytes);

#endif
