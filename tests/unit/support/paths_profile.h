/*
 * Small profiles for the tests of analyze/, in which frames are given by name.
 *
 *   struct paths paths;
 *   paths_start(&paths, RESOURCE_SAMPLED);
 *   paths_add(&paths, "main;f;g", 3);           one hit row
 *   ...
 *   paths_end(&paths);
 *
 * At its first use, a name gets one location with one function in module 0, "/usr/bin/app". A test can define a
 * name with more detail before its first use.
 */
#ifndef TESTS_PATHS_PROFILE_H
#define TESTS_PATHS_PROFILE_H

#include <stdint.h>

#include "analyze/analyses.h"
#include "profile/profile.h"

enum { PATHS_NAMES = 512 };

struct paths {
	struct profile *profile;
	struct {
		char name[48];
		uint32_t location;
	} names[PATHS_NAMES];
	size_t name_count;
	/* for the hits that paths_add adds from now on */
	uint64_t time_ns;
	uint32_t thread;
	uint32_t resource;
};

void paths_start(struct paths *paths, enum resource_kind kind);
void paths_end(struct paths *paths);

uint32_t paths_module(struct paths *paths, const char *path);
/* Adds a function, even if one with this name exists. */
uint32_t paths_function(struct paths *paths, const char *name, uint32_t module, const char *file, uint32_t line,
			enum function_role role);
/* Defines `name` as a location that has a frame for each of these functions (innermost first), at these lines of
 * the functions' files. */
void paths_define(struct paths *paths, const char *name, uint32_t module, const uint32_t *functions,
		  const uint32_t *lines, uint32_t count);
/* Defines `name` as a location without frames. */
void paths_define_bare(struct paths *paths, const char *name, uint32_t module, uint64_t address);
void paths_add(struct paths *paths, const char *stack, uint64_t hits);

struct view *paths_view(const struct paths *paths, enum view_by by);
uint32_t paths_label(const struct view *view, const char *wanted);
/* Return the downward and the upward profile of the label with this text. */
struct path_list *paths_down(const struct view *view, const char *root);
struct path_list *paths_up(const struct view *view, const char *root);
/* Returns the list as text, "5 main, 3 main f, ...", valid until the next call. Frees the list. */
const char *paths_text(const struct view *view, struct path_list *list);

#endif
