/* The facts about a loaded object's file that gmon.out needs for its addresses. */
#ifndef GPROF_OBJECT_H
#define GPROF_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct object {
	uint64_t low, high; /* range of its code */
	uint64_t outside;   /* the pseudo caller of what is called from other objects: in `_start` of a program, in
			     * `_init` of a library; 0: it has neither */
	uint8_t build_id[32];
	size_t build_id_bytes; /* 0: it has none */
};

/* All 0 on errors: ERROR_NOT_FOUND, ERROR_FORMAT, ... */
int object_read(struct object *object, const char *path, struct error *error);

#endif
