#include "gprof/object_map.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns the colon behind the object's name, or NULL if the line has another form:
 *
 *	parse.o:0000000000001139 T parse_line
 *	       ^ returned
 *
 * The object's path itself may contain colons.
 */
static const char *find_colon(const char *line)
{
	for (const char *colon = line; (colon = strchr(colon, ':')); colon++) {
		size_t digits = strspn(colon + 1, "0123456789abcdefABCDEF");
		const char *behind = colon + 1 + digits;
		if (digits > 0 && behind[0] == ' ' && isalpha((unsigned char)behind[1]) && behind[2] == ' ' &&
		    behind[3])
			return colon;
	}
	return NULL;
}

/* Returns 1 if the line contained a function, 0 if not, or ERROR_MEMORY. */
static int add_line(struct object_map *map, const char *line)
{
	const char *colon = find_colon(line);
	if (!colon || colon == line)
		return 0;
	const char *name = strchr(colon, ' ') + 3;
	int64_t object = strings_add(&map->objects, line, (size_t)(colon - line));
	int64_t function = strings_add(&map->functions, name, strlen(name));
	if (object < 0 || function < 0)
		return ERROR_MEMORY;
	if (hash_map_get(&map->object_by_name, (uint64_t)function) == HASH_MAP_NONE &&
	    hash_map_put(&map->object_by_name, (uint64_t)function, (uint32_t)object) < 0)
		return ERROR_MEMORY;
	return 1;
}

static int read_lines(struct object_map *map, FILE *in, const char *path, struct error *error)
{
	char *line = NULL;
	size_t capacity = 0;
	int known = 0, status = 0;
	while (status >= 0 && getline(&line, &capacity, in) >= 0) {
		line[strcspn(line, "\n")] = 0;
		status = add_line(map, line);
		known |= status == 1;
	}
	free(line);
	if (status < 0)
		return error_set(error, status, "out of memory");
	if (ferror(in))
		return error_set_errno(error, "cannot read '%s'", path);
	if (!known)
		return error_set(error, ERROR_FORMAT,
				 "%s has no line like \"parse.o:0000000000001139 T parse_line\", as nm -o writes them",
				 path);
	return 0;
}

int object_map_read(struct object_map *map, const char *path, struct error *error)
{
	*map = (struct object_map){ 0 };
	hash_map_init(&map->object_by_name);
	if (strings_init(&map->objects) < 0 || strings_init(&map->functions) < 0)
		return error_memory(error);
	FILE *in = fopen(path, "re");
	if (!in)
		return error_set_errno(error, "cannot read '%s'", path);
	int status = read_lines(map, in, path, error);
	fclose(in);
	return status;
}

void object_map_release(struct object_map *map)
{
	strings_release(&map->objects);
	strings_release(&map->functions);
	hash_map_release(&map->object_by_name);
}

uint32_t object_map_find(struct object_map *map, const char *function)
{
	int64_t number = strings_add(&map->functions, function, strlen(function));
	return number < 0 ? HASH_MAP_NONE : hash_map_get(&map->object_by_name, (uint64_t)number);
}
