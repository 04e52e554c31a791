/* What the kernel permits of perf events, and how to say what it refuses. */
#ifndef COLLECT_SAMPLE_PERF_ACCESS_H
#define COLLECT_SAMPLE_PERF_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "resources/resources.h"

/* Fills in why perf_event_open refused `row` with `refusal` (an errno), and what
 * would do. `user_mode_only`: in user mode it would have been permitted. */
int perf_access_refused(const struct resource_row *row, int refusal, bool user_mode_only, struct error *error);

/* The same for events that watch all threads of a CPU. */
int perf_access_everything_refused(int refusal, struct error *error);

/* kernel.perf_event_paranoid, or -2 if it cannot be read. */
int perf_access_paranoid(void);

/* kernel.perf_event_max_sample_rate: interrupts a second; 0 if it cannot be read. */
long perf_access_max_sample_rate(void);

/* How large the rings of each CPU may be: all that is wanted for who is
 * privileged, else what the limits of locked memory leave
 * (kernel.perf_event_mlock_kb for each CPU, plus RLIMIT_MEMLOCK). */
void perf_access_ring_sizes(size_t cpu_count, size_t side_wanted, size_t samples_wanted, size_t samples_min,
			    size_t *side_bytes, size_t *sample_bytes);

#endif
