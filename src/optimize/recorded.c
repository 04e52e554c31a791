/* Call paths in a profile, and the sources that it was recorded with. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "base/path.h"
#include "optimize/contextualize.h"

struct view *recorded_view(const struct profile *profile, struct error *error)
{
	const struct view_options options = { .resource = 0, .kernel = VIEW_KERNEL_SHOW, .thread = VIEW_ANY };
	return view_new(profile, &options, error);
}

/* --- paths --- */

int recorded_path_init(struct recorded_path *path, const char *text, const struct program *program,
		       const struct contextualize_result *result, struct error *error)
{
	*path = (struct recorded_path){ .text = strdup(text) };
	if (!path->text)
		return error_memory(error);
	path->length = sources_split_path(path->text, path->names, COPY_PATH_MAX);
	for (size_t i = 0; i < path->length; i++) {
		char *file = strrchr(path->names[i], '@');
		if (file && file > path->names[i]) {
			*file = 0;
			path->files[i] = file + 1;
		}
		const struct program_function *function = result ? &program->functions[result->path[i]] : NULL;
		path->unread = function && function->is_unread ? function : NULL;
		if (!function || function->file == PROGRAM_NONE || program_is_supplied(program, function))
			continue;
		path->functions[i] = function;
		path->files[i] = function->shown_file;
	}
	return 0;
}

void recorded_path_release(struct recorded_path *path)
{
	free(path->text);
	*path = (struct recorded_path){ 0 };
}

/* --- hits --- */

/* Returns how many of the last components of two paths are equal. */
static size_t common_components(const char *a, const char *b)
{
	size_t end_a = strlen(a), end_b = strlen(b), count = 0;
	while (end_a > 0 && end_b > 0) {
		size_t at_a = end_a, at_b = end_b;
		while (at_a > 0 && a[at_a - 1] != '/')
			at_a--;
		while (at_b > 0 && b[at_b - 1] != '/')
			at_b--;
		if (end_a - at_a != end_b - at_b || memcmp(a + at_a, b + at_b, end_a - at_a) != 0)
			break;
		count++;
		end_a = at_a > 0 ? at_a - 1 : 0;
		end_b = at_b > 0 ? at_b - 1 : 0;
	}
	return count;
}

static size_t likeness(const struct view *view, uint32_t label, const char *file)
{
	uint32_t function = view->labels[label].function;
	const struct profile *profile = view->profile;
	return function == PROFILE_NONE
		       ? 0
		       : common_components(profile_string(profile, profile->functions[function].file), file);
}

/* Reduces the labels of several functions to those whose file is most like this one. Keeps all if none is. */
static void keep_file(const struct view *view, struct label_set *labels, const char *file)
{
	size_t best = 0, kept = 0;
	for (size_t i = 0; i < labels->count; i++)
		if (likeness(view, labels->labels[i], file) > best)
			best = likeness(view, labels->labels[i], file);
	for (size_t i = 0; i < labels->count && best > 0; i++)
		if (likeness(view, labels->labels[i], file) == best)
			labels->labels[kept++] = labels->labels[i];
	if (best > 0)
		labels->count = kept;
}

/* Finds the labels of a step. Returns 0, ERROR_NOT_FOUND or ERROR_MEMORY. The caller releases them after 0. */
static int find_step(const struct view *view, const struct recorded_path *path, size_t step, struct label_set *labels)
{
	int64_t count = view_find(view, path->names[step], labels);
	if (count > 1 && path->files[step])
		keep_file(view, labels, path->files[step]);
	return count < 0 ? (int)count : count == 0 ? ERROR_NOT_FOUND : 0;
}

int recorded_hits(const struct view *view, const struct recorded_path *path, size_t length, double *hits,
		  struct error *error)
{
	struct label_set steps[COPY_PATH_MAX] = { { 0 } };
	const struct what_if term = { .steps = steps, .length = length, .factor = 1 };
	struct what_if_result result = { 0 };
	struct error reason = { 0 };
	size_t found = 0;
	int code = 0;
	for (; found < length && code == 0; found++)
		code = find_step(view, path, found, &steps[found]);
	if (code == 0)
		code = analyze_what_if(view, &term, 1, &result, &reason);
	*hits = result.affected ? (double)result.affected[0] : 0;
	free(result.affected);
	for (size_t i = 0; i < found; i++)
		label_set_release(&steps[i]);
	if (code == 0 || code == ERROR_NOT_FOUND)
		return 0;
	return error_set(error, code, "%s", *reason.message ? reason.message : error_text(code));
}

/* --- the build --- */

/* Returns whether a profile has a function of the sources at another line of its file: the build was made before an edit. */
static bool is_moved(const struct profile *profile, const struct profile_function *recorded,
		     const struct program_function *function)
{
	const char *name = profile_string(profile, recorded->name), *file = profile_string(profile, recorded->file);
	return recorded->line != 0 && strcmp(name, function->qualified) == 0 &&
	       strcmp(path_basename(file), path_basename(function->shown_file)) == 0 &&
	       recorded->line != function->shown_line;
}

static int check_lines(const struct view *view, const char *file, const struct recorded_path *path, struct error *error)
{
	const struct profile *profile = view->profile;
	for (size_t i = 0; i < path->length; i++) {
		struct label_set labels;
		int code = path->functions[i] ? find_step(view, path, i, &labels) : ERROR_NOT_FOUND;
		if (code == ERROR_NOT_FOUND)
			continue;
		if (code < 0)
			return error_memory(error);
		uint32_t line = 0;
		for (size_t k = 0; k < labels.count; k++) {
			uint32_t number = view->labels[labels.labels[k]].function;
			if (number != PROFILE_NONE &&
			    is_moved(profile, &profile->functions[number], path->functions[i]))
				line = profile->functions[number].line;
		}
		label_set_release(&labels);
		if (line)
			return error_set(error, ERROR_UNSUPPORTED,
					 "cannot contextualize: '%s' is of another build: '%s' began in line %u there, "
					 "and begins in line %u (build and record again)",
					 file, path->names[i], line, path->functions[i]->shown_line);
	}
	return 0;
}

/* Returns a label of a step that is in a module, which is PROFILE_NONE for any, or NULL. */
static const struct profile_function *recorded_in(const struct view *view, const struct recorded_path *path,
						  size_t step, uint32_t module)
{
	const struct profile_function *found = NULL;
	struct label_set labels;
	if (find_step(view, path, step, &labels) < 0)
		return NULL;
	for (size_t i = 0; i < labels.count && !found; i++) {
		uint32_t number = view->labels[labels.labels[i]].function;
		if (number != PROFILE_NONE &&
		    (module == PROFILE_NONE || view->profile->functions[number].module == module))
			found = &view->profile->functions[number];
	}
	label_set_release(&labels);
	return found;
}

/* A function of the program without lines may be one of a static library, whose source the user may not have. */
static int check_sources(const struct view *view, const struct recorded_path *path, struct error *error)
{
	const struct profile_function *first = path->unread ? recorded_in(view, path, 0, PROFILE_NONE) : NULL;
	const struct profile_function *last = first && first->module != PROFILE_NONE
						      ? recorded_in(view, path, path->length - 1, first->module)
						      : NULL;
	const char *file = last ? profile_string(view->profile, last->file) : "";
	return *file ? error_set(error, ERROR_UNSUPPORTED,
				 "cannot contextualize: '%s' is a function of the program, but its source was not read "
				 "(--source %s)",
				 path->unread->qualified, file)
		     : 0;
}

int recorded_check(const struct profile *profile, const char *file, const char *text, const struct recorded_path *path,
		   struct error *error)
{
	double hits = 0;
	struct view *view = recorded_view(profile, error);
	int code = view ? recorded_hits(view, path, path->length, &hits, error) : error->code;
	if (code == 0 && hits == 0)
		code = error_set(error, ERROR_NOT_FOUND,
				 "cannot contextualize: no sample in '%s' is on the path '%s' (cpprof report --down "
				 "FUNCTION prints paths)",
				 file, text);
	if (code == 0)
		code = check_lines(view, file, path, error);
	if (code == 0)
		code = check_sources(view, path, error);
	view_free(view);
	return code;
}
