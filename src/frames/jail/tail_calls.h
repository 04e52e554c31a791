/*
 * Reads the calls and tail calls of one file in the jail (frames/native/tail_code.h), and checks the answer.
 *
 *   request:  u32 queries | each: u64 caller | u64 callee | text name
 *   answer:   u32 functions | each: u64 start
 *             u32 jumps     | each: u32 from | u32 to | u32 name | u64 address
 *             each query:     u32 target | u32 name | u32 callee
 *             u32 names     | each: text name     numbers of names count from 1
 *
 *   text = bytes, none of them 0 | 0
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
