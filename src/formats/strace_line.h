/* Parts of a line that strace prints: the beginning in front of a call, and the call. strace.c has the picture. */
#ifndef FORMATS_STRACE_LINE_H
#define FORMATS_STRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Times since 1970 (-ttt) are larger than those since the last line (-r). */
static const uint64_t STRACE_RELATIVE_MOST_NS = UINT64_C(100000000) * 1000000000;

/* The beginning of a line, in front of the call: "4711<prog> 12:00:01.250000 ". */
struct strace_head {
	bool has_tid, has_time;
	bool is_relative, is_of_day; /* the time */
	uint32_t tid;
	const char *comm; /* not terminated; NULL: none */
	size_t comm_bytes;
	uint64_t time_ns;
	const char *rest;
};

/* "name(...) = value <0.000058>" */
struct strace_call {
	const char *name; /* not terminated */
	size_t name_bytes;
	const char *arguments;
	const char *value; /* behind "= "; NULL: the call is unfinished */
	bool is_resumed, has_spent;
	uint64_t spent_ns;
};

static inline bool strace_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Reads what stands in front of a call or of a remark: each part may be absent. The texts are parts of the line. */
struct strace_head strace_read_head(const char *line);

/* Reads a call, or the rest of one that another thread's line interrupted. Returns false if the text is neither. */
bool strace_read_call(const char *text, struct strace_call *call);

/* Returns whether the call has returned. */
bool strace_has_returned(const struct strace_call *call);

/* Returns whether the call is of this name. */
bool strace_is_call(const struct strace_call *call, const char *name);

#endif
