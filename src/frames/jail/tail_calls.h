/*
 * The search for tail calls in the code of one file (frames/native/tail_code.h), in the jail: the process without privileges in which
 * files of others are parsed. This file has both ends. In the jail it reads the request, searches, and writes the answer. Outside it
 * writes the request, and checks the answer like bytes from outside. The fields are the members of struct tail_query, tail_jump and
 * tail_found, in the byte order of the machine:
 *
 *   request:  u32 number of queries, then for each: u64 caller, u64 callee, text name
 *   answer:   u32 number of functions, then for each: u64 start
 *             u32 number of jumps, then for each: u32 from, u32 to, u32 name, u64 address
 *             for each query: u32 target, u32 name, u32 callee
 *             u32 number of names, then for each: text
 *
 * Functions are numbered from 0, names from 1; TAIL_CODE_NONE is neither. A text ends with a byte 0.
 */
#ifndef FRAMES_JAIL_TAIL_CALLS_H
#define FRAMES_JAIL_TAIL_CALLS_H

#include "frames/jail/jail.h"
#include "frames/native/tail_code.h"

/* Answers queries about an open file, which this does not close. Without a jail, the file is read in this process if it belongs to root
 * or to our user. Returns 0 or a negative error; ERROR_MEMORY concerns this process. The caller releases the result if it is 0. */
int tail_calls_query(struct jail *jail, int fd, const char *path, const struct tail_query *queries, size_t count,
		     struct tail_code *code);

/* Appends an answer; reads it like bytes from outside. Returns 0, or ERROR_CORRUPT, or ERROR_MEMORY: then there is nothing to release. */
void tail_calls_write(struct buffer *answer, const struct tail_code *code);
int tail_calls_read(struct cursor *answer, size_t queries, struct tail_code *code);

#endif
