#include "collect/sample/cpus.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

/* Reads a list like "0-3,8", up to the first text that does not continue the list. Returns 0 or
 * ERROR_MEMORY. */
static int read_list(FILE *file, struct cpus *cpus)
{
	unsigned first, last;
	size_t capacity = 0;
	int separator = ',';
	while (separator == ',' && fscanf(file, "%u", &first) == 1) {
		last = first;
		separator = fgetc(file);
		if (separator == '-') {
			if (fscanf(file, "%u", &last) != 1)
				break;
			separator = fgetc(file);
		}
		for (unsigned cpu = first; cpu <= last; cpu++) {
			if (ARRAY_RESERVE(cpus->ids, capacity, cpus->count + 1) < 0)
				return ERROR_MEMORY;
			cpus->ids[cpus->count++] = (int)cpu;
		}
	}
	return 0;
}

int cpus_find(struct cpus *cpus, struct error *error)
{
	*cpus = (struct cpus){ .ids = NULL };
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	int result = file ? read_list(file, cpus) : 0;
	if (file)
		fclose(file);
	if (result < 0)
		return error_memory(error);
	if (cpus->count == 0)
		return error_set(error, ERROR_SYSTEM,
				 "cannot list the CPUs: /sys/devices/system/cpu/online is unreadable");
	return 0;
}

void cpus_release(struct cpus *cpus)
{
	free(cpus->ids);
	*cpus = (struct cpus){ .ids = NULL };
}
