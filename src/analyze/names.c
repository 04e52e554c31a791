/*
 * Makes the displayed names of functions and modules. Functions of equal name get a suffix, but only where it is
 * needed:
 *
 *   one module, one source file     parse
 *   several modules                 parse@liba.so        parse@libb.so
 *   one module, several files       parse@json.c         parse@xml.c
 *   both                            parse@liba.so:json.c ...
 *
 * Functions whose texts are still equal are instances of one function (an inline function of a header, a template's
 * instances).
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"
#include "base/path.h"

/* Adds the text of the scratch buffer. Returns its id or a negative error. */
static int64_t add_scratch(struct view_build *build)
{
	if (buffer_error(&build->scratch))
		return ERROR_MEMORY;
	return strings_add(build->view->texts, (const char *)build->scratch.bytes, build->scratch.size);
}

static int add_text(struct view_build *build, const char *text, uint32_t *id)
{
	int64_t added = strings_add(build->view->texts, text, strlen(text));
	if (added < 0)
		return (int)added;
	*id = (uint32_t)added;
	return 0;
}

static const char *module_path(const struct profile *profile, uint32_t module)
{
	return profile_string(profile, profile->modules[module].path);
}

/* Names modules by their basenames, or by their paths where two paths have the same basename. */
static int name_modules(struct view_build *build)
{
	const struct profile *profile = build->profile;
	size_t count = profile->module_count;
	build->modules = calloc(count + 1, sizeof(*build->modules));
	if (!build->modules)
		return ERROR_MEMORY;
	struct hash_map first; /* basename's text id -> first module with it */
	hash_map_init(&first);
	bool *clash = calloc(count + 1, sizeof(*clash));
	int result = clash ? 0 : ERROR_MEMORY;
	for (uint32_t i = 0; i < count && result == 0; i++) {
		uint32_t *text = &build->modules[i].text;
		result = add_text(build, path_basename(module_path(profile, i)), text);
		uint32_t other = result == 0 ? hash_map_get(&first, *text) : HASH_MAP_NONE;
		if (result == 0 && other == HASH_MAP_NONE)
			result = hash_map_put(&first, *text, i);
		else if (result == 0 && profile->modules[other].path != profile->modules[i].path)
			clash[other] = clash[i] = true;
	}
	for (uint32_t i = 0; i < count && result == 0; i++) {
		if (clash[hash_map_get(&first, build->modules[i].text)])
			clash[i] = true;
	}
	for (uint32_t i = 0; i < count && result == 0; i++) {
		if (clash[i])
			result = add_text(build, module_path(profile, i), &build->modules[i].text);
		build->modules[i].name_length = build->view->texts->lengths[build->modules[i].text];
	}
	free(clash);
	hash_map_release(&first);
	return result;
}

/* A function whose name occurs more than once. Namesakes are sorted by name, module and source file. */
struct namesake {
	uint32_t function;
	uint32_t name;    /* string id */
	uint32_t module;  /* text id of the module's displayed name; PROFILE_NONE: none */
	const char *file; /* basename */
	const char *path;
	uint32_t line;
	const char *shown_file; /* file or path for the suffix, or NULL if it needs none */
	bool several_modules;
};

static int compare_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_namesakes(const void *left, const void *right)
{
	const struct namesake *a = left, *b = right;
	int order = compare_u32(a->name, b->name);
	if (!order)
		order = compare_u32(a->module, b->module);
	if (!order)
		order = strcmp(a->file, b->file);
	if (!order)
		order = strcmp(a->path, b->path);
	if (!order)
		order = compare_u32(a->line, b->line);
	return order ? order : compare_u32(a->function, b->function);
}

/* Returns whether functions with one name, module and file basename are in several files. If the paths differ but
 * the lines are equal, it is one header that was compiled under two relative paths. */
static bool several_paths(const struct namesake *group, size_t count)
{
	bool same_path = true, same_line = true;
	for (size_t i = 1; i < count; i++) {
		same_path = same_path && strcmp(group[i].path, group[0].path) == 0;
		same_line = same_line && group[i].line == group[0].line;
	}
	return !same_path && !same_line;
}

/* `group` has one name and one module. */
static void choose_files(struct namesake *group, size_t count)
{
	size_t files = 0;
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && strcmp(group[next].file, group[i].file) == 0; next++)
			;
		if (!group[i].file[0])
			continue;
		bool paths = several_paths(&group[i], next - i);
		files += paths ? 2 : 1;
		for (size_t k = i; k < next; k++)
			group[k].shown_file = paths ? group[k].path : group[k].file;
	}
	for (size_t i = 0; i < count && files < 2; i++)
		group[i].shown_file = NULL;
}

/* `group` has one name. */
static void choose_suffixes(struct namesake *group, size_t count)
{
	bool several = group[0].module != group[count - 1].module;
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && group[next].module == group[i].module; next++)
			;
		choose_files(&group[i], next - i);
	}
	for (size_t i = 0; i < count; i++)
		group[i].several_modules = several;
}

static int apply_suffix(struct view_build *build, const struct namesake *one)
{
	struct buffer *scratch = &build->scratch;
	bool module = one->several_modules && one->module != PROFILE_NONE;
	if (!module && !one->shown_file)
		return 0;
	buffer_clear(scratch);
	buffer_append_string(scratch, profile_string(build->profile, one->name));
	buffer_append_byte(scratch, '@');
	if (module)
		buffer_append_string(scratch, strings_get(build->view->texts, one->module));
	if (module && one->shown_file)
		buffer_append_byte(scratch, ':');
	if (one->shown_file)
		buffer_append_string(scratch, one->shown_file);
	int64_t text = add_scratch(build);
	if (text < 0)
		return (int)text;
	build->functions[one->function].text = (uint32_t)text;
	return 0;
}

/* Lists the functions whose name occurs more than once. */
static int collect_namesakes(struct view_build *build, struct namesake **found, size_t *count)
{
	const struct profile *profile = build->profile;
	*found = NULL;
	*count = 0;
	uint8_t *uses = calloc(profile->strings.count, 1); /* per name: 0, 1, or 2 for more */
	if (!uses)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->function_count; i++) {
		uint8_t *use = &uses[profile->functions[i].name];
		*use = *use ? 2 : 1;
	}
	size_t shared = 0;
	for (size_t i = 0; i < profile->function_count; i++)
		shared += uses[profile->functions[i].name] == 2;
	*found = shared ? calloc(shared, sizeof(**found)) : NULL;
	for (uint32_t i = 0; i < profile->function_count && *found; i++) {
		const struct profile_function *function = &profile->functions[i];
		if (uses[function->name] != 2)
			continue;
		const char *path = profile_string(profile, function->file);
		(*found)[(*count)++] = (struct namesake){
			.function = i,
			.name = function->name,
			.module =
				function->module == PROFILE_NONE ? PROFILE_NONE : build->modules[function->module].text,
			.file = path_basename(path),
			.path = path,
			.line = function->line,
		};
	}
	free(uses);
	return shared && !*found ? ERROR_MEMORY : 0;
}

static int disambiguate(struct view_build *build)
{
	struct namesake *all;
	size_t count;
	int result = collect_namesakes(build, &all, &count);
	if (result < 0 || count == 0)
		return result;
	qsort(all, count, sizeof(*all), compare_namesakes);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && all[next].name == all[i].name; next++)
			;
		choose_suffixes(&all[i], next - i);
	}
	for (size_t i = 0; i < count && result == 0; i++)
		result = apply_suffix(build, &all[i]);
	free(all);
	return result;
}

int names_make(struct view_build *build)
{
	const struct profile *profile = build->profile;
	int result = name_modules(build);
	build->functions = calloc(profile->function_count + 1, sizeof(*build->functions));
	if (result < 0 || !build->functions)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->function_count && result == 0; i++) {
		struct shown_name *shown = &build->functions[i];
		result = add_text(build, profile_string(profile, profile->functions[i].name), &shown->text);
		shown->name_length = result == 0 ? build->view->texts->lengths[shown->text] : 0;
	}
	return result < 0 ? result : disambiguate(build);
}
