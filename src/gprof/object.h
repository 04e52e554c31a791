/* Properties of a loaded object's file that gmon.out needs for its addresses. */
#ifndef GPROF_OBJECT_H
#define GPROF_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct object {
	uint64_t low, high; /* range of its code */
	/* Pseudo caller of functions that other objects call: in `_start` of a program, in `_init` of a library; 0: the
	 * object has neither. */
	uint64_t outside;
	uint8_t build_id[32];
	size_t build_id_bytes; /* 0: it has none */
};

/* Reads an object's file. Returns 0 or a negative error (ERROR_NOT_FOUND, ERROR_FORMAT, ...), with `error` set and
 * all fields 0. */
int object_read(struct object *object, const char *path, struct error *error);

/* The same for a file that is open; the caller closes it. */
int object_read_from(struct object *object, int fd, const char *path, struct error *error);

#endif
