#include "frames/native/roles.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/module_name.h"
#include "profile/thread_mark.h"

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

uint8_t role_of_name(const struct module_file *file, const char *name)
{
	static const char *const starts[] = {
		/* glibc */
		"_start",
		"__libc_start_main",
		"__libc_start_main_impl",
		"__libc_start_call_main",
		"__libc_init_first",
		"generic_start_main",
		"clone",
		"__clone",
		"clone3",
		"__clone3",
		"__clone_internal",
		"start_thread",
		/* musl */
		"_start_c",
		"libc_start_main_stage2",
		NULL,
	};
	static const char *const creators[] = {
		"pthread_create", "__pthread_create", "__pthread_create_2_1", "thrd_create", NULL,
	};
	/* Names that a program may also use for its own functions. */
	static const char *const library_starts[] = { "start", "start_c11", "thread_start", NULL };
	static const char *const linker_starts[] = { "_start", "_dl_start_user", NULL };
	/* With the preload backend, pthread_create and clone start these functions, which call the program's. */
	if (file->is_runtime && (strcmp(name, "cpprof_thread_main") == 0 || strcmp(name, "cpprof_clone_main") == 0))
		return ROLE_START;
	if (file->is_executable && strcmp(name, "main") == 0)
		return ROLE_MAIN;
	if (file->is_dynamic_linker && is_one_of(name, linker_starts))
		return ROLE_START;
	if (file->is_executable && (strcmp(name, "_start") == 0 || strcmp(name, "_start_c") == 0))
		return ROLE_START;
	if ((file->is_c_library || file->is_static) && is_one_of(name, starts))
		return ROLE_START;
	if ((file->is_c_library || file->is_static) && is_one_of(name, creators))
		return ROLE_CREATE;
	if (file->is_c_library && is_one_of(name, library_starts))
		return ROLE_START;
	return ROLE_NONE;
}

/* Marks of a function while the functions without names are tested. */
enum {
	CANDIDATE = 1, /* nameless, in a file that has start functions */
	CALLS_OUT = 2, /* calls main, or code outside of the C library */
	CALLS_MAIN = 4,
	UNDER_CLONE = 8, /* called by clone or clone3 */
	IN_LIBRARY = 16, /* its module is the C library */
};

struct role_search {
	struct profile *profile;
	uint8_t *marks; /* per function */
	bool *is_start; /* per node: all its frames and all above are start functions */
	bool *creates;  /* per node: it is pthread_create or the like, or below it in the same stack */
};

/* Returns whether the name is only a module and an address: "libc.so.6+0x29c10". */
static bool is_nameless(const struct profile *profile, const struct profile_function *function)
{
	const char *name = profile_string(profile, function->name);
	size_t length;
	if (function->linkage != 0 || function->module == PROFILE_NONE)
		return false;
	const char *module = module_name(profile_string(profile, profile->modules[function->module].path), &length);
	return strncmp(name, module, length) == 0 && strncmp(name + length, "+0x", 3) == 0;
}

/* Sets modules[] to the marks of each module: IN_LIBRARY, and CALLS_MAIN for "contains main". */
static void mark_modules(const struct profile *profile, uint8_t *modules)
{
	for (size_t i = 0; i < profile->module_count; i++)
		if (module_name_is_c_library(profile_string(profile, profile->modules[i].path)))
			modules[i] |= IN_LIBRARY;
	for (size_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].role == ROLE_MAIN && profile->functions[i].module != PROFILE_NONE)
			modules[profile->functions[i].module] |= CALLS_MAIN;
}

/* Returns 1 if there are candidates, 0 if not, or ERROR_MEMORY. */
static int find_candidates(struct role_search *role_search)
{
	struct profile *profile = role_search->profile;
	uint8_t *modules = calloc(profile->module_count + 1, sizeof(*modules));
	if (!modules)
		return ERROR_MEMORY;
	mark_modules(profile, modules);
	int any = 0;
	for (size_t i = 0; i < profile->function_count; i++) {
		struct profile_function *function = &profile->functions[i];
		if (function->module == PROFILE_NONE)
			continue;
		uint8_t module = modules[function->module];
		role_search->marks[i] = module & IN_LIBRARY;
		if (function->role == ROLE_NONE && module && is_nameless(profile, function)) {
			role_search->marks[i] |= CANDIDATE;
			any = 1;
		}
	}
	free(modules);
	return any;
}

static uint32_t innermost(const struct profile *profile, uint32_t node)
{
	return profile->frames[profile->locations[profile->nodes[node].location].first_frame].function;
}

static uint32_t outermost(const struct profile *profile, uint32_t node)
{
	const struct profile_location *location = &profile->locations[profile->nodes[node].location];
	return profile->frames[location->first_frame + location->frame_count - 1].function;
}

/* Marks the nodes of pthread_create and those below it in the same stack, which are not start code. */
static void find_creation(struct role_search *role_search)
{
	const struct profile *profile = role_search->profile;
	for (uint32_t i = 1; i < profile->node_count; i++) {
		const struct profile_location *location = &profile->locations[profile->nodes[i].location];
		if (thread_mark_is(profile, i))
			continue; /* a stack begins here, and the mark has no frames */
		bool creates = role_search->creates[profile->nodes[i].parent];
		for (uint32_t f = 0; f < location->frame_count; f++) {
			uint32_t function = profile->frames[location->first_frame + f].function;
			creates = creates || profile->functions[function].role == ROLE_CREATE;
		}
		role_search->creates[i] = creates;
	}
}

/* Tests the frames of a node. Returns whether it disproved a candidate. */
static bool disprove_at(struct role_search *role_search, uint32_t node)
{
	const struct profile *profile = role_search->profile;
	const struct profile_location *location = &profile->locations[profile->nodes[node].location];
	bool below_start = role_search->is_start[profile->nodes[node].parent];
	bool all = below_start, changed = false;
	for (uint32_t f = 0; f < location->frame_count; f++) {
		uint32_t function = profile->frames[location->first_frame + f].function;
		if (!below_start && (role_search->marks[function] & CANDIDATE)) {
			role_search->marks[function] &= (uint8_t)~CANDIDATE;
			changed = true;
		}
		all = all &&
		      (profile->functions[function].role == ROLE_START || (role_search->marks[function] & CANDIDATE));
	}
	role_search->is_start[node] = all;
	return changed;
}

/* Disproves candidates that occur below a function that is not a start function. Each round may disprove further
 * candidates; the rounds end when one disproves none. */
static void disprove(struct role_search *role_search)
{
	const struct profile *profile = role_search->profile;
	bool changed = true;
	role_search->is_start[PROFILE_ROOT] = true;
	while (changed) {
		changed = false;
		for (uint32_t i = 1; i < profile->node_count; i++) {
			if (thread_mark_is(profile, i))
				role_search->is_start[i] = true; /* a stack begins here */
			else if (!role_search->creates[i] && disprove_at(role_search, i))
				changed = true;
		}
	}
}

/* Finds the callees of candidates. Children have greater ids than their parents, so the loop visits them first. */
static void find_callees(struct role_search *role_search)
{
	struct profile *profile = role_search->profile;
	for (uint32_t i = (uint32_t)profile->node_count - 1; i > 0; i--) {
		uint32_t parent_node = profile->nodes[i].parent;
		if (parent_node == PROFILE_ROOT || role_search->creates[i] || thread_mark_is(profile, i) ||
		    thread_mark_is(profile, parent_node))
			continue;
		uint32_t callee = outermost(profile, i), caller = innermost(profile, parent_node);
		uint8_t *marks = &role_search->marks[caller];
		if (role_search->marks[callee] & CANDIDATE) {
			const char *name = profile_string(profile, profile->functions[caller].name);
			if (strcmp(name, "clone") == 0 || strcmp(name, "clone3") == 0)
				role_search->marks[callee] |= UNDER_CLONE;
		}
		if (!(*marks & CANDIDATE))
			continue;
		if (profile->functions[callee].role == ROLE_MAIN)
			*marks |= CALLS_OUT | CALLS_MAIN;
		else if ((*marks & IN_LIBRARY) && !(role_search->marks[callee] & IN_LIBRARY))
			*marks |= CALLS_OUT;
		else if ((role_search->marks[callee] & CANDIDATE) && (role_search->marks[callee] & CALLS_OUT))
			*marks |= CALLS_OUT;
	}
}

/* If exactly one start function of the C library has the mark, gives it that name. */
static int name_the_one(struct role_search *role_search, uint8_t mark, const char *name)
{
	struct profile *profile = role_search->profile;
	uint32_t found = PROFILE_NONE;
	for (uint32_t i = 0; i < profile->function_count; i++) {
		const uint8_t wanted = CANDIDATE | CALLS_OUT | IN_LIBRARY;
		if ((role_search->marks[i] & (wanted | mark)) != (wanted | mark))
			continue;
		if (found != PROFILE_NONE)
			return 0; /* two C libraries, or a wrong candidate */
		found = i;
	}
	if (found == PROFILE_NONE)
		return 0;
	int64_t text = profile_add_string(profile, name);
	if (text < 0)
		return (int)text;
	profile->functions[found].name = (uint32_t)text;
	return 0;
}

int roles_assign(struct profile *profile)
{
	struct role_search role_search = {
		.profile = profile,
		.marks = calloc(profile->function_count + 1, sizeof(*role_search.marks)),
		.is_start = calloc(profile->node_count + 1, sizeof(*role_search.is_start)),
		.creates = calloc(profile->node_count + 1, sizeof(*role_search.creates)),
	};
	int status = role_search.marks && role_search.is_start && role_search.creates ? find_candidates(&role_search)
										      : ERROR_MEMORY;
	if (status > 0) {
		find_creation(&role_search);
		disprove(&role_search);
		find_callees(&role_search);
		for (size_t i = 0; i < profile->function_count; i++)
			if ((role_search.marks[i] & CANDIDATE) && (role_search.marks[i] & CALLS_OUT))
				profile->functions[i].role = ROLE_START;
		status = name_the_one(&role_search, CALLS_MAIN, "__libc_start_call_main");
		if (status == 0)
			status = name_the_one(&role_search, UNDER_CLONE, "start_thread");
	}
	free(role_search.marks);
	free(role_search.is_start);
	free(role_search.creates);
	return status;
}
