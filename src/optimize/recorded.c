/* Call paths in a profile, and the sources that it was recorded with. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "analyze/lookup.h"
#include "base/path.h"
#include "collect/source/contextualize/copy_plan.h"
#include "optimize/contextualize.h"

struct view *recorded_view(const struct profile *profile, struct error *error)
{
	const struct view_options options = { .resource = 0, .kernel = VIEW_KERNEL_SHOW, .thread = VIEW_ANY };
	return view_new(profile, &options, error);
}

int recorded_hits(const struct view *view, const char *path, double *hits, struct error *error)
{
	struct lookup_what_if term = { 0 };
	struct what_if_result result = { 0 };
	struct error reason = { 0 };
	int code = lookup_path_init(&term, view, path, &reason);
	if (code == 0)
		code = analyze_what_if(view, term.paths, term.count, &result, &reason);
	*hits = result.affected ? (double)result.affected[0] : 0;
	free(result.affected);
	lookup_what_if_release(&term);
	return code == 0 || code == ERROR_NOT_FOUND ? 0 : error_set(error, code, "%s", reason.message);
}

static uint32_t line_of(const struct program *program, const struct program_function *function)
{
	const char *text = program->files[function->file].text;
	uint32_t line = 1;
	for (uint32_t i = 0; i < function->name_at; i++)
		line += text[i] == '\n';
	return line;
}

/* Returns whether the profile has a function of the sources at another line of its file: the build was made before an edit. */
static bool is_moved(const struct profile *profile, const struct profile_function *recorded,
		     const struct program *program, const struct program_function *function)
{
	const char *name = profile_string(profile, recorded->name), *file = profile_string(profile, recorded->file);
	return function->file != PROGRAM_NONE && recorded->line != 0 && strcmp(name, function->qualified) == 0 &&
	       strcmp(path_basename(file), path_basename(program->files[function->file].path)) == 0 &&
	       recorded->line != line_of(program, function);
}

static int check_lines(const struct profile *profile, const char *file, char *path, const struct program *program,
		       struct error *error)
{
	const char *names[COPY_PATH_MAX];
	size_t count = sources_split_path(path, names, COPY_PATH_MAX);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < profile->function_count; k++)
			for (size_t j = 0; j < program->function_count; j++)
				if (strcmp(program->functions[j].qualified, names[i]) == 0 &&
				    is_moved(profile, &profile->functions[k], program, &program->functions[j]))
					return error_set(
						error, ERROR_UNSUPPORTED,
						"cannot contextualize: '%s' is of another build: '%s' began in "
						"line %u there, and begins in line %u (build and record again)",
						file, names[i], profile->functions[k].line,
						line_of(program, &program->functions[j]));
	return 0;
}

int recorded_check(const struct profile *profile, const char *file, const char *path, const struct program *program,
		   struct error *error)
{
	double hits = 0;
	struct view *view = recorded_view(profile, error);
	int code = view ? recorded_hits(view, path, &hits, error) : error->code;
	view_free(view);
	if (code == 0 && hits == 0)
		return error_set(error, ERROR_NOT_FOUND,
				 "cannot contextualize: no sample in '%s' is on the path '%s' (cpprof report --down "
				 "FUNCTION prints paths)",
				 file, path);
	char *words = code == 0 && program ? strdup(path) : NULL;
	if (code == 0 && program)
		code = words ? check_lines(profile, file, words, program, error) : error_memory(error);
	free(words);
	return code;
}
