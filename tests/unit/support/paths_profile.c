#include "paths_profile.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t id(int64_t id)
{
	assert_true(id >= 0);
	return (uint32_t)id;
}

static uint32_t text(struct paths *paths, const char *text)
{
	return id(profile_add_string(paths->profile, text));
}

void paths_start(struct paths *paths, enum resource_kind kind)
{
	*paths = (struct paths){ .profile = profile_new(), .thread = PROFILE_NONE };
	assert_non_null(paths->profile);
	struct profile_resource resource = { .name = text(paths, "cpu"), .kind = (uint8_t)kind, .interval = 1 };
	id(profile_add_resource(paths->profile, &resource));
	paths_module(paths, "/usr/bin/app");
}

void paths_end(struct paths *paths)
{
	profile_free(paths->profile);
}

uint32_t paths_module(struct paths *paths, const char *path)
{
	struct profile_module module = { .path = text(paths, path) };
	return id(profile_add_module(paths->profile, &module));
}

uint32_t paths_function(struct paths *paths, const char *name, uint32_t module, const char *file, uint32_t line,
			enum function_role role)
{
	struct profile_function function = { .name = text(paths, name),
					     .module = module,
					     .file = text(paths, file),
					     .line = line,
					     .role = (uint8_t)role };
	return id(profile_add_function(paths->profile, &function));
}

void paths_define_bare(struct paths *paths, const char *name, uint32_t module, uint64_t address)
{
	assert_true(paths->name_count < PATHS_NAMES);
	snprintf(paths->names[paths->name_count].name, sizeof(paths->names[0].name), "%s", name);
	paths->names[paths->name_count++].location = id(profile_add_location(paths->profile, module, address));
}

void paths_define(struct paths *paths, const char *name, uint32_t module, const uint32_t *functions,
		  const uint32_t *lines, uint32_t count)
{
	struct profile *profile = paths->profile;
	paths_define_bare(paths, name, module, 0x1000 + 16 * paths->name_count);
	struct profile_location *location = &profile->locations[paths->names[paths->name_count - 1].location];
	location->first_frame = (uint32_t)profile->frame_count;
	location->frame_count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct profile_frame frame = { .function = functions[i],
					       .file = profile->functions[functions[i]].file,
					       .line = lines[i],
					       .inlined = i + 1 < count };
		id(profile_add_frame(profile, &frame));
	}
}

static uint32_t location_of(struct paths *paths, const char *name)
{
	for (size_t i = 0; i < paths->name_count; i++)
		if (strcmp(paths->names[i].name, name) == 0)
			return paths->names[i].location;
	uint32_t function = paths_function(paths, name, 0, "", 0, ROLE_NONE);
	paths_define(paths, name, 0, &function, (uint32_t[]){ 0 }, 1);
	return paths->names[paths->name_count - 1].location;
}

void paths_add(struct paths *paths, const char *stack, uint64_t hits)
{
	char *copy = strdup(stack);
	assert_non_null(copy);
	uint32_t node = PROFILE_ROOT;
	for (char *next = copy, *name; (name = strsep(&next, ";"));)
		node = id(profile_add_node(paths->profile, node, location_of(paths, name)));
	free(copy);
	assert_int_equal(profile_add_hit(paths->profile, paths->time_ns, paths->thread, node, paths->resource, hits),
			 0);
}

struct view *paths_view(const struct paths *paths, enum view_by by)
{
	struct view_options options = { .by = by, .thread = VIEW_ANY };
	struct error error = { 0 };
	assert_int_equal(profile_check(paths->profile), 0);
	struct view *view = view_new(paths->profile, &options, &error);
	if (!view)
		fail_msg("%s", error.message);
	return view;
}

uint32_t paths_label(const struct view *view, const char *wanted)
{
	for (uint32_t i = 0; i < view->label_count; i++)
		if (strcmp(view->labels[i].text, wanted) == 0)
			return i;
	fail_msg("no label %s", wanted);
	return 0;
}

struct path_list *paths_down(const struct view *view, const char *root)
{
	uint32_t label = paths_label(view, root);
	return analyze_down(view, &(struct label_set){ .labels = &label, .count = 1 }, NULL);
}

struct path_list *paths_up(const struct view *view, const char *root)
{
	uint32_t label = paths_label(view, root);
	return analyze_up(view, &(struct label_set){ .labels = &label, .count = 1 }, NULL);
}

const char *paths_text(const struct view *view, struct path_list *list)
{
	static char buffer[8192];
	size_t size = 0;
	assert_non_null(list);
	buffer[0] = 0;
	for (size_t i = 0; i < list->count && size < sizeof(buffer); i++) {
		const uint32_t *labels = path_labels(list, &list->entries[i]);
		size += (size_t)snprintf(buffer + size, sizeof(buffer) - size, "%s%" PRIu64, i ? ", " : "",
					 list->entries[i].hits);
		for (uint32_t k = 0; k < list->entries[i].length && size < sizeof(buffer); k++)
			size += (size_t)snprintf(buffer + size, sizeof(buffer) - size, " %s",
						 view->labels[labels[k]].text);
	}
	path_list_free(list);
	return buffer;
}
