#include "optimize/contextualize.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text_output.h"
#include "collect/source/compile/build.h"
#include "collect/source/compile/dependencies.h"
#include "collect/source/compile/scratch.h"

/* Arguments: the file's path, its name in the patch, the old and the new text, the patch. A tab ends a name with blanks for `patch`. */
static const char diff_script[] =
	"style() { clang-format --style=file --fallback-style=none --assume-filename=\"$1\" <\"$2\"; }\n"
	"if command -v clang-format >/dev/null && style \"$1\" \"$3\" 2>/dev/null | cmp -s - \"$3\"; then\n"
	"\tstyle \"$1\" \"$4\" >\"$4.formatted\" && mv \"$4.formatted\" \"$4\" || exit 2\n"
	"fi\n"
	"case $2 in *[[:blank:]]*) end=$(printf '\\t') ;; *) end= ;; esac\n"
	"diff -u --label \"a/$2$end\" --label \"b/$2$end\" -- \"$3\" \"$4\" >>\"$5\"\n"
	"[ $? -le 1 ]\n";

/* --- reading --- */

static int add(struct sources *sources, const struct instrument_source *source, struct error *error)
{
	struct error reason = { 0 };
	int code = program_add(&sources->program, source, &reason);
	return code < 0 ? error_set(error, code, "cannot read '%s': %s", source->path, reason.message) : 0;
}

/* libclang does not distinguish why it cannot read a source. */
static int check_readable(const char *path, struct error *error)
{
	return access(path, R_OK) < 0 ? error_set_errno(error, "cannot read '%s'", path) : 0;
}

/* Parses the named files with the flags. The first one is the compiler, if it is not an option. */
static int add_paths(struct sources *sources, struct error *error)
{
	bool has_compiler = sources->flag_count > 0 && sources->flags[0][0] != '-';
	int code = 0;
	for (size_t i = 0; i < sources->path_count && code == 0; i++) {
		const struct instrument_source source = {
			.path = sources->paths[i],
			.compiler = has_compiler ? sources->flags[0] : NULL,
			.words = has_compiler ? (const char *const *)sources->flags + 1
					      : (const char *const *)sources->flags,
			.word_count = sources->flag_count - has_compiler,
		};
		code = check_readable(source.path, error);
		if (code == 0)
			code = add(sources, &source, error);
	}
	return code;
}

static int add_entry(struct sources *sources, const struct database_entry *entry, struct error *error)
{
	const struct instrument_source source = {
		.path = entry->file,
		.directory = entry->directory,
		.compiler = entry->words[0],
		.words = (const char *const *)entry->words + 1,
		.word_count = entry->word_count - 1,
	};
	return add(sources, &source, error);
}

int sources_read(struct sources *sources, const char *database, struct error *error)
{
	int code = program_init(&sources->program, error);
	sources->program.supplied_path = sources->supplied;
	if (code == 0 && database)
		code = database_read(&sources->database, database, error);
	if (code == 0 && !database && sources->path_count == 0)
		code = error_set(error, ERROR_USAGE,
				 "missing the sources of the path (-p compile_commands.json, or --source FILE)");
	if (code == 0)
		code = add_paths(sources, error);
	for (size_t i = 0; i < sources->database.entry_count && code == 0; i++)
		code = add_entry(sources, &sources->database.entries[i], error);
	return code;
}

void sources_release(struct sources *sources)
{
	program_release(&sources->program);
	database_release(&sources->database);
}

char *sources_trim_path(const char *path)
{
	char *trimmed = strdup(path), *end = trimmed;
	for (const char *at = path; trimmed && *at; at += *at == ';') {
		const char *part_end = strchrnul(at, ';'), *last = part_end;
		at += strspn(at, " \t");
		while (last > at && isblank((unsigned char)last[-1]))
			last--;
		for (; at < last; at++)
			*end++ = *at;
		at = part_end;
		if (*at)
			*end++ = ';';
	}
	if (trimmed)
		*end = 0;
	return trimmed;
}

size_t sources_split_path(char *path, const char **names, size_t max)
{
	size_t count = 0;
	for (char *rest = path, *name; (name = strsep(&rest, ";"));) {
		if (count == max)
			return 0;
		names[count++] = name;
	}
	return count;
}

/* --- the patch --- */

static int append_diff(const struct contextualize_change *change, const struct scratch *scratch, const char *patch,
		       struct error *error)
{
	char here[PATH_MAX], old[sizeof(scratch->path) + 8], new[sizeof(scratch->path) + 8];
	struct word_list words = { 0 };
	const struct process_streams streams = { 0 };
	snprintf(old, sizeof(old), "%s/old", scratch->path);
	snprintf(new, sizeof(new), "%s/new", scratch->path);
	size_t length = getcwd(here, sizeof(here)) ? strlen(here) : 0;
	if (length == 0 || strncmp(change->path, here, length) != 0 || change->path[length] != '/')
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot write a patch for '%s': it is not below the working folder (start cpprof "
				 "in the project's folder)",
				 change->path);
	int code = text_write(old, change->before, change->before_size, error);
	if (code == 0)
		code = text_write(new, change->after, change->after_size, error);
	if (code < 0)
		return code;
	word_list_add(&words, "sh");
	word_list_add(&words, "-c");
	word_list_add(&words, "%s", diff_script);
	word_list_add(&words, "sh");
	word_list_add(&words, "%s", change->path);
	word_list_add(&words, "%s", change->path + length + 1);
	word_list_add(&words, "%s", old);
	word_list_add(&words, "%s", new);
	word_list_add(&words, "%s", patch);
	int status = words.error ? -1 : process_run(words.items, &streams);
	if (words.error)
		code = error_memory(error);
	else if (status < 0)
		code = error_set_errno(error, "cannot run 'sh'");
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		code = error_set(error, ERROR_SYSTEM, "cannot compare '%s' with its changed text: diff failed",
				 change->path);
	word_list_release(&words);
	return code;
}

static int copy_out(const char *from, FILE *out, struct error *error)
{
	char bytes[8192];
	size_t size;
	FILE *file = fopen(from, "re");
	if (!file)
		return error_set_errno(error, "cannot read '%s'", from);
	while ((size = fread(bytes, 1, sizeof(bytes), file)) > 0)
		fwrite(bytes, 1, size, out);
	int code = ferror(file) ? error_set_errno(error, "cannot read '%s'", from) : 0;
	fclose(file);
	return code;
}

/* Text in front of the first file is a comment of a patch. */
static void write_title(FILE *out, const struct contextualize_result *result, const char *title)
{
	fprintf(out, "Copies for the call path %s:\n", title);
	for (size_t i = 0; i < result->copy_count; i++) {
		const struct contextualize_copy *copy = &result->copies[i];
		fprintf(out, "  %s%s%s%s%s\n", copy->name, *copy->constants ? ", where " : "", copy->constants,
			copy->supplied  ? ": defined in "
			: copy->on_path ? ""
					: ": leads back to the path",
			copy->supplied ? copy->supplied : "");
		if (copy->is_unread)
			fprintf(out, "    It only calls '%s', of which no source was read (--source FILE)\n",
				copy->function);
	}
	fputc('\n', out);
}

int sources_write_patch(const struct contextualize_result *result, const char *title, const char *path,
			struct error *error)
{
	struct scratch scratch = { 0 };
	int code = scratch_init(&scratch, error);
	char patch[sizeof(scratch.path) + 8];
	if (code < 0)
		return code;
	snprintf(patch, sizeof(patch), "%s/patch", scratch.path);
	for (size_t i = 0; i < result->change_count && code == 0; i++)
		code = append_diff(&result->changes[i], &scratch, patch, error);
	struct text_output output;
	if (code == 0)
		code = text_output_open(&output, path, TEXT_OUTPUT_SHARED, error);
	if (code == 0) {
		write_title(output.stream, result, title);
		code = copy_out(patch, output.stream, error);
		if (code == 0)
			code = text_output_commit(&output, error);
		else
			text_output_discard(&output);
	}
	scratch_release(&scratch);
	return code;
}
