/*
 * Time namespaces. The kernel stamps the events of perf and of eBPF programs by its own clock. In a time namespace,
 * CLOCK_MONOTONIC is that clock plus an offset, the first line of /proc/self/timens_offsets:
 *
 *   monotonic      100000         0          seconds, which may be negative, and nanoseconds
 *   boottime            0         0
 *
 * All times of a recording are by the kernel's clock: the recorder and the agent subtract the
 * offsets of their namespaces.
 */
#ifndef COLLECT_SHARED_TIME_OFFSET_H
#define COLLECT_SHARED_TIME_OFFSET_H

#include <stdint.h>
#include <string.h>

#define TIME_OFFSET_FILE "/proc/self/timens_offsets"
enum { TIME_OFFSET_BYTES = 256 }; /* of the file, with a NUL */

/* Reads a decimal number behind spaces. Returns its end. */
static inline const char *time_offset_number(const char *text, int64_t *number)
{
	enum { DECIMAL = 10 };
	const int64_t longest = INT64_MAX / DECIMAL - 1;
	text += strspn(text, " ");
	int64_t sign = *text == '-' ? -1 : 1;
	text += *text == '-';
	*number = 0;
	for (; *text >= '0' && *text <= '9' && *number < longest; text++)
		*number = *number * DECIMAL + (*text - '0');
	*number *= sign;
	return text;
}

/* Returns the offset of CLOCK_MONOTONIC in ns, from the text of the file; 0 if it has none. */
static inline int64_t time_offset_parse(const char *text)
{
	static const char name[] = "monotonic ";
	const int64_t ns_per_s = 1000000000;
	int64_t seconds, nanoseconds;
	if (strncmp(text, name, sizeof(name) - 1) != 0)
		return 0;
	time_offset_number(time_offset_number(text + sizeof(name) - 1, &seconds), &nanoseconds);
	return (int64_t)((uint64_t)seconds * (uint64_t)ns_per_s + (uint64_t)nanoseconds);
}

#endif
