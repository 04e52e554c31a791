/* Maps functions to object files, as nm -o lists them. */
#ifndef GPROF_OBJECT_MAP_H
#define GPROF_OBJECT_MAP_H

#include "base/error.h"
#include "base/hash_map.h"
#include "base/strings.h"

struct object_map {
	struct strings objects;         /* 0: "", no object */
	struct strings functions;       /* 0: "" */
	struct hash_map object_by_name; /* by function: number of its object */
};

/* Reads a map. Returns 0 or a negative error, with `error` set; call object_map_release in any case. */
int object_map_read(struct object_map *map, const char *path, struct error *error);
void object_map_release(struct object_map *map);

/* Returns the number of a function's object, the first if several have a function of that name, or HASH_MAP_NONE if
 * none has. Adds the name to `functions`. */
uint32_t object_map_find(struct object_map *map, const char *function);

#endif
