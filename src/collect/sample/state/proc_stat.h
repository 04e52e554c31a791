/* Reads numbers from /proc/PID/stat. */
#ifndef COLLECT_SAMPLE_STATE_PROC_STAT_H
#define COLLECT_SAMPLE_STATE_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of fields, from 1 on, as in proc(5). */
enum proc_stat_field {
	PROC_STAT_PARENT = 4,
	PROC_STAT_FLAGS = 9,
	PROC_STAT_CHILD_FAULTS = 11, /* minor faults of the children that the process has waited for */
	PROC_STAT_START = 22,        /* when the process began, in ticks of _SC_CLK_TCK after the boot */
	PROC_STAT_STACK = 28,        /* address where its first thread's stack began; 1: not permitted */
};

/* Reads a field. Returns false if there is no such process. */
bool proc_stat_read(uint32_t pid, enum proc_stat_field field, uint64_t *value);

/* The same from the file's text. */
bool proc_stat_parse(const char *text, enum proc_stat_field field, uint64_t *value);

#endif
