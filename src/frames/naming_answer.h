/*
 * The answer of a provider: the frames of the locations of one module. A provider runs in the jail, and its process may be in the
 * hands of whoever made the module's file, so an answer is bytes, which are read like a file from outside:
 *
 *   u32 cause, or UINT32_MAX: none | u32 detail: a string | u32 strings | u32 functions | u32 frames
 *   strings: each a text and 0
 *   functions: each a struct function_identity
 *   frames: each a struct frame_record
 *
 * Frames stand in the order of the request's locations, innermost first. The first frame that is not inlined is the outermost one of
 * its location. Texts are numbers of strings; string 0 is "".
 */
#ifndef FRAMES_NAMING_ANSWER_H
#define FRAMES_NAMING_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/strings.h"
#include "frames/functions.h"
#include "frames/provider.h"

struct naming_answer {
	struct strings strings;
	struct buffer functions, frames; /* records */
	struct frames_failure failure;   /* filled in by a provider that cannot name the module */
};

/* As struct function_identity (functions.h). */
struct named_function {
	const char *name;
	const char *key;     /* NULL: the name */
	const char *linkage; /* NULL: none */
	const char *file;    /* NULL: unknown */
	const char *note;    /* a value for PROFILE_NOTE_NESTED; NULL: none */
	uint32_t line, scope;
	bool is_static;
	uint8_t role; /* enum function_role */
};

struct named_frame {
	uint32_t function; /* its number in the answer */
	const char *file;  /* NULL: unknown */
	uint32_t line;     /* 0: unknown */
	uint32_t discriminator;
	bool inlined;
};

/* --- for providers --- */

/* Adds a function, unless it equals the last one. Returns its number in the answer, or a negative error. */
int64_t naming_answer_function(struct naming_answer *answer, const struct named_function *function);

/* Adds a frame of the next location. Returns 0 or a negative error. */
int naming_answer_frame(struct naming_answer *answer, const struct named_frame *frame);

/* Gives the next location one frame without file and line. Returns 0 or a negative error. */
int naming_answer_plain(struct naming_answer *answer, const struct named_function *function);

/* --- for their callers --- */

/* Runs the provider of a request and appends its answer. Returns 0 or a negative error. */
int naming_answer_make(const struct frames_request *request, struct buffer *bytes);

/* Gives the locations of a request, in the profile of `functions`, the frames of an answer, or sets `failure` as the provider did. Returns
 * 0, ERROR_CORRUPT (the answer has an error, and the profile is unchanged), ERROR_MEMORY or ERROR_LIMIT. */
int naming_answer_read(const uint8_t *bytes, size_t size, const struct frames_request *request,
		       struct functions *functions, struct frames_failure *failure);

#endif
