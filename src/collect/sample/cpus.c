#include "collect/sample/cpus.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Reads the lines "cpu0 ..." of /proc/stat, which has those that are online. Returns 0 or ERROR_MEMORY. */
static int read_lines(FILE *file, struct cpus *cpus)
{
	char line[64] = ""; /* only the beginning of a line matters */
	size_t capacity = 0;
	bool begins = true;
	while (fgets(line, sizeof(line), file)) {
		int cpu;
		bool is_single = begins && isdigit((unsigned char)line[strlen("cpu")]); /* the first line is of all */
		if (is_single && sscanf(line, "cpu%d ", &cpu) == 1) {
			if (ARRAY_RESERVE(cpus->ids, capacity, cpus->count + 1) < 0)
				return ERROR_MEMORY;
			cpus->ids[cpus->count++] = cpu;
		}
		begins = strchr(line, '\n') != NULL;
	}
	return 0;
}

/* Reads and closes a file; does nothing if it is NULL. */
static int read_file(FILE *file, int (*read)(FILE *file, struct cpus *cpus), struct cpus *cpus)
{
	int result = file ? read(file, cpus) : 0;
	if (file)
		fclose(file);
	return result;
}

int cpus_find(struct cpus *cpus, struct error *error)
{
	*cpus = (struct cpus){ .ids = NULL };
	int result = read_file(fopen("/sys/devices/system/cpu/online", "re"), read_list, cpus);
	if (result == 0 && cpus->count == 0) /* in some containers, /sys is not mounted */
		result = read_file(fopen("/proc/stat", "re"), read_lines, cpus);
	if (result < 0)
		return error_memory(error);
	if (cpus->count == 0)
		return error_set(
			error, ERROR_SYSTEM,
			"cannot list the CPUs: neither /sys/devices/system/cpu/online nor /proc/stat has any (mount "
			"/proc)");
	return 0;
}

void cpus_release(struct cpus *cpus)
{
	free(cpus->ids);
	*cpus = (struct cpus){ .ids = NULL };
}
