/*
 * The answer of the process in the jail: what naming the locations of one module has added to its copy of the profile.
 * The process may be in the hands of whoever made the module's file, so the answer is read like a file from outside.
 *
 *   i32 status | u32 cause, or UINT32_MAX | text: the failure's detail
 *   u32 strings   | each: text
 *   u32 changed   | each: u32 function | function         functions of the module that the profile had
 *   u32 functions | each: function                        new ones
 *   u32 frames    | each: u32 function | u32 file | u32 line | u8 inlined
 *   u32 locations | each: u32 first frame | u32 frames    in the order of the request
 *   u32 notes     | each: u32 value                       of PROFILE_NOTE_NESTED
 *
 *   text     = u32 size | bytes, none of them 0
 *   function = u32 name | u32 linkage | u32 file | u32 line | u8 role
 *
 * Names, files and values are indexes in the answer's strings. A function below the number that the profile had when it was
 * copied is that function; a greater one is, less that number, an index in the new functions.
 */
#ifndef FRAMES_JAIL_ADDITIONS_H
#define FRAMES_JAIL_ADDITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "frames/provider.h"

struct additions_request {
	const struct frames_provider *provider;
	uint32_t module;
	const uint32_t *locations;
	size_t count;
};

/* The copy of the profile in the jail, when it was made and before a request. */
struct additions_before {
	struct profile_function *copied; /* owned: the functions when the copy was made */
	size_t copied_count;
	size_t function_count, frame_count, note_count;
};

/* Appends an answer to a buffer, after the provider has returned `status` and `failure`. */
void additions_write(struct buffer *answer, const struct profile *profile, const struct additions_before *before,
		     const struct additions_request *request, int status, const struct frames_failure *failure);

/* Adds an answer to the profile. `copied` is additions_before.copied_count. Returns the status of the provider and sets
 * `failure` as it did; or ERROR_CORRUPT if the answer has an error, and the profile is unchanged; or ERROR_MEMORY or
 * ERROR_LIMIT. */
int additions_read(const uint8_t *answer, size_t size, struct profile *profile, size_t copied,
		   const struct additions_request *request, struct frames_failure *failure);

#endif
