/* Maps functions to object files, as nm -o lists them. */
#ifndef GPROF_OBJECT_MAP_H
#define GPROF_OBJECT_MAP_H

#include "base/error.h"
#include "base/hash_map.h"
#include "base/strings.h"

struct object_map {
	struct strings objects;         /* 0: "", no object */
	struct strings functions;       /* 0: "" */
	struct hash_map object_by_name; /* number of a function -> number of its object */
};

/* Fails with a sentence; call object_map_release in any case. */
int object_map_read(struct object_map *map, const char *path, struct error *error);
void object_map_release(struct object_map *map);

/* The number of a function's object, or HASH_MAP_NONE. Where several have one of that name: the first. The name is kept. */
uint32_t object_map_find(struct object_map *map, const char *function);

#endif
