/*
 * Small profiles for the tests of analyze/, built by name.
 *
 *	struct paths paths;
 *	paths_start(&paths, RESOURCE_SAMPLED);
 *	paths_add(&paths, "main;f;g", 3);           one hit row
 *	...
 *	paths_end(&paths);
 *
 * A name stands for one location with one function in module 0, "/usr/bin/app".
 * Names can also be defined before their first use, with more detail.
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
	/* Of the hits that paths_add adds from now on. */
	uint64_t time_ns;
	uint32_t thread;
	uint32_t resource;
};

void paths_start(struct paths *paths, enum resource_kind kind);
void paths_end(struct paths *paths);

uint32_t paths_module(struct paths *paths, const char *path);
/* A function of its own, even if one of this name exists. */
uint32_t paths_function(struct paths *paths, const char *name, uint32_t module, const char *file, uint32_t line,
			enum function_role role);
/* Names a location with frames of these functions (innermost first) at these lines of their files. */
void paths_define(struct paths *paths, const char *name, uint32_t module, const uint32_t *functions,
		  const uint32_t *lines, uint32_t count);
/* Names a location that has no frames. */
void paths_define_bare(struct paths *paths, const char *name, uint32_t module, uint64_t address);
void paths_add(struct paths *paths, const char *stack, uint64_t hits);

struct view *paths_view(const struct paths *paths, enum view_by by);
uint32_t paths_label(const struct view *view, const char *wanted);
/* The profile of the label with that text. */
struct path_list *paths_down(const struct view *view, const char *root);
struct path_list *paths_up(const struct view *view, const char *root);
/* "5 main, 3 main f, ...", in a buffer that the next call uses again; frees the list. */
const char *paths_text(const struct view *view, struct path_list *list);

#endif
