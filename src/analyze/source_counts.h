/*
 * Counts of the positions in the source, by calling context, in the form that compilers read to optimize a program.
 * docs/definitions.md, "Counts for compilers", defines each count.
 *
 *   functions   of one linkage name each: compilers find a function by its name
 *   contexts    a function, called from a position in the context above it. A context without a parent begins
 *               anew: nothing is assumed about its caller. Parents have smaller ids than their children
 *   lines       the hits of a context's own code at one position, ordered by context and position
 *   calls       the hits below a context's call of a function, ordered by context, position and name
 *
 * A position is a line relative to the first line of its function, so that it stays valid if other functions of the
 * file change, with the base discriminator, which distinguishes several blocks in one line.
 */
#ifndef ANALYZE_SOURCE_COUNTS_H
#define ANALYZE_SOURCE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/* The calls whose callee is a context below the caller's context. Another callee begins anew. */
enum source_nesting {
	NEST_INLINED, /* calls that were inlined when the profile was recorded: each other function has one context */
	NEST_FILE,    /* ... and calls of functions in the file of the outermost function: a compiler sees both */
	NEST_ALL,     /* all calls */
};

struct source_position {
	uint32_t offset; /* lines from the first line of the function */
	uint32_t discriminator;
};

struct source_function {
	const char *name; /* linkage name without the suffixes of clones; owned by the counts */
	uint32_t file;    /* string of the profile: the file that defines it */
	uint32_t line;    /* the first line, if it has one; 0: it has no debug information, and no context */
	bool is_shared;   /* several functions have the name, and their counts are added up */
};

struct source_context {
	uint32_t parent;             /* or PROFILE_NONE */
	uint32_t function;           /* index in functions */
	struct source_position call; /* in the function of the parent */
	uint64_t head;               /* hits at or below the function in this context; calls of it */
	uint64_t total;              /* sum of its lines and of the lines of the contexts below it */
	uint64_t own;                /* sum of its lines */
	uint64_t hits;               /* hits in its lines: of all instructions */
};

struct source_line {
	uint32_t context;
	struct source_position position;
	uint64_t count; /* the maximum of the hits of its instructions */
};

struct source_call {
	uint32_t context;
	struct source_position position;
	uint32_t function; /* the callee: index in functions */
	uint64_t count;
};

/* Hits in no line, by the reason. */
struct source_losses {
	uint64_t without_lines; /* in code without line numbers, or in functions without linkage names */
	uint64_t line_zero;     /* in code that the compiler assigned to no line */
	uint64_t above_start;   /* in lines above the first line of the function */
	uint64_t names;         /* functions whose name is shared by other functions */
};

struct source_counts {
	struct source_function *functions;
	struct source_context *contexts;
	struct source_line *lines;
	struct source_call *calls;
	size_t function_count, context_count, line_count, call_count;
	uint64_t hits;
	struct source_losses losses;

	/* Private. */
	size_t function_capacity, context_capacity, line_capacity, call_capacity;
	struct strings names;
};

/* Counts the hits of one resource. Where it counts calls exactly, heads and calls are the numbers of calls. Returns NULL if memory is exhausted. */
struct source_counts *source_counts_new(const struct profile *profile, uint32_t resource, enum source_nesting nesting,
					struct error *error);
void source_counts_free(struct source_counts *counts); /* accepts NULL */

#endif
