/* Compiles one source: see build.h. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/source/compile/build.h"
#include "collect/source/compile/dependencies.h"

enum { ATTEMPTS = 3 };

struct unit {
	struct build *build;
	const struct compile_source *source;
	const char *output;
	const char *input;     /* path of the source, or of a copy of standard input */
	char folder[PATH_MAX]; /* contains the copy */
	char saved[PATH_MAX];  /* copy of standard input; "": the source is a file */
	struct overlay overlay;
	struct instrument_result result;
	struct error error; /* reason of the fallback */
};

/* --- the compiler's words --- */

/* "dir/name.c" -> "name" and an ending, in the current directory, as compilers
 * name their output. */
static void name_after(char *name, size_t bytes, const char *path, const char *ending)
{
	const char *base = path_basename(path);
	const char *dot = strrchr(base, '.');
	snprintf(name, bytes, "%.*s%s", dot && dot != base ? (int)(dot - base) : (int)strlen(base), base, ending);
}

/* The files and targets of the dependencies, as if the compiler had compiled
 * and linked in one step. */
static void add_dependency_words(const struct unit *unit, struct word_list *list)
{
	const struct compile_words *words = unit->build->words;
	if (!words->writes_dependencies)
		return;
	char object[PATH_MAX], rules[PATH_MAX + 8];
	if (words->output) {
		const char *dot = strrchr(path_basename(words->output), '.');
		int length = dot ? (int)(dot - words->output) : (int)strlen(words->output);
		snprintf(rules, sizeof(rules), "%.*s.d", length, words->output);
	} else {
		/* gcc names it after a.out, too. */
		bool has_start = words->mode == COMPILE_LINK && !words->is_clang;
		name_after(object, sizeof(object), unit->source->path, ".d");
		snprintf(rules, sizeof(rules), "%s%s", has_start ? "a-" : "", object);
	}
	if (!words->dependency_file) {
		word_list_add(list, "-MF");
		word_list_add(list, "%s", rules);
	}
	if (!words->dependency_target && !unit->result.is_plain) {
		name_after(object, sizeof(object), unit->source->path, ".o");
		word_list_add(list, "-MQ");
		word_list_add(list, "%s", words->output ? words->output : object);
	}
}

static bool has_word(const struct compile_words *words, const char *start)
{
	for (size_t i = words->compiler + 1; i < words->count; i++)
		if (strncmp(words->words[i], start, strlen(start)) == 0)
			return true;
	return false;
}

/* Applies the user's own path maps to a path. */
static void map_name(const struct compile_words *words, const char *path, char *mapped, size_t bytes)
{
	snprintf(mapped, bytes, "%s", path);
	for (size_t i = words->count; i-- > words->compiler + 1;) {
		const char *word = words->words[i];
		const char *map = strncmp(word, "-ffile-prefix-map=", 18) == 0    ? word + 18
				  : strncmp(word, "-fdebug-prefix-map=", 19) == 0 ? word + 19
										  : NULL;
		const char *equals = map ? strchr(map, '=') : NULL;
		size_t length = equals ? (size_t)(equals - map) : 0;
		if (equals && strncmp(map, path, length) == 0) {
			snprintf(mapped, bytes, "%s%s", equals + 1, path + length);
			return;
		}
	}
}

/* Makes the compiler show names in the copies' folders as names in the originals' folders. */
static void add_maps(const struct unit *unit, struct word_list *list)
{
	const struct compile_words *words = unit->build->words;
	bool is_here = false;
	for (size_t i = 0; i < unit->overlay.change_count; i++) {
		const struct path_change *change = &unit->overlay.changes[i];
		char mapped[PATH_MAX];
		map_name(words, change->original, mapped, sizeof(mapped));
		word_list_add(list, "-ffile-prefix-map=%s=%s", change->copy, mapped);
		is_here |= change->original[0] == 0;
	}
	/* The compiler now finds "x.h" beside the source as "./x.h". */
	if (is_here && !has_word(words, "-I.") && !has_word(words, "./") && !has_word(words, "."))
		word_list_add(list, "-ffile-prefix-map=./=");
	if (unit->saved[0])
		word_list_add(list, "-ffile-prefix-map=%s=<stdin>", unit->saved);
}

static void add_colour(const struct compile_words *words, struct word_list *list)
{
	const char *terminal = getenv("TERM");
	if (isatty(STDERR_FILENO) && !has_word(words, "-fdiagnostics-") && !has_word(words, "-fno-color") &&
	    !has_word(words, "-fcolor") && !has_word(words, "-fno-diagnostics-color") && !getenv("NO_COLOR") &&
	    strcmp(terminal ? terminal : "dumb", "dumb") != 0)
		word_list_add(list, "-fdiagnostics-color=always");
}

/* Returns whether the copy has no #line, so that messages show its own name, which is then replaced by the original's:
 * after a #line gcc no longer warns of misleading indentation. It needs a #line if the compiler is clang, if there are
 * files beside the object, which would contain the copy's name, or if the path has a '=', because gcc takes the last
 * '=' of a map for its separator. */
static bool is_bare(const struct unit *unit)
{
	const struct compile_words *words = unit->build->words;
	return !words->is_clang && !unit->saved[0] && !words->has_byproducts && !strchr(unit->source->path, '=');
}

/* Adds a kept word. In a copy, warnings are not errors: if there are any, the original is compiled too (see
 * pass_on). */
static void add_kept(const struct compile_words *words, size_t at, bool is_copy, struct word_list *list)
{
	const char *word = words->words[at];
	if (words->roles[at] != ROLE_KEPT || (is_copy && strcmp(word, "-Werror") == 0))
		return;
	if (words->is_tcc && strncmp(word, "-l", 2) == 0)
		return; /* tcc accepts no libraries if it does not link */
	if (is_copy && strncmp(word, "-Werror=", 8) == 0)
		word_list_add(list, "-W%s", word + 8);
	else
		word_list_add(list, "%s", is_copy && strcmp(word, "-pedantic-errors") == 0 ? "-pedantic" : word);
}

/* Makes the words for compiling the copy, or the original if `copy` is NULL. */
static void make_words(const struct unit *unit, const char *copy, struct word_list *list)
{
	const struct compile_words *words = unit->build->words;
	for (size_t i = 0; i <= words->compiler; i++)
		word_list_add(list, "%s", words->words[i]);
	for (size_t i = 0; copy && i < unit->overlay.words.count; i++)
		word_list_add(list, "%s", unit->overlay.words.items[i]);
	for (size_t i = words->compiler + 1; i < words->count; i++)
		add_kept(words, i, copy != NULL, list);
	if (copy && is_bare(unit)) {
		word_list_add(list, "-include");
		word_list_add(list, "%s", unit->build->installed.profiler);
	}
	if (copy && !unit->result.is_plain) {
		add_maps(unit, list);
		add_colour(words, list);
	}
	if (words->mode == COMPILE_LINK && words->is_clang)
		word_list_add(list, "-Qunused-arguments"); /* clang does not warn of words for the linker */
	add_dependency_words(unit, list);
	word_list_add(list, words->mode == COMPILE_ASSEMBLY ? "-S" : "-c");
	if (unit->source->language) {
		word_list_add(list, "-x");
		word_list_add(list, "%s", unit->source->language);
	}
	word_list_add(list, "%s", copy ? copy : unit->source->path);
	if (unit->output) {
		word_list_add(list, "-o");
		word_list_add(list, "%s", unit->output);
	}
}

/* --- messages --- */

static const char *dependency_file(const struct unit *unit, const struct word_list *list)
{
	const struct compile_words *words = unit->build->words;
	if (words->wp_dependency_file)
		return words->wp_dependency_file;
	if (!words->writes_dependencies)
		return NULL;
	if (words->dependency_file)
		return words->dependency_file;
	for (size_t i = 0; i + 1 < list->count; i++)
		if (strcmp(list->items[i], "-MF") == 0)
			return list->items[i + 1];
	return NULL;
}

/* Returns the compiler's messages with the names of the originals, which the
 * caller frees, or NULL if they cannot be read. */
static char *read_messages(const struct unit *unit, const char *errors, size_t *size)
{
	char *text = text_read(errors, size);
	char *restored =
		text ? text_restore(text, *size, unit->overlay.changes, unit->overlay.change_count, size) : NULL;
	free(text);
	return restored;
}

/* Compiles the original for its own messages: warnings of the optimizer depend
 * on the code, columns on the line, and warnings that are errors on the words.
 * Returns wait()'s status, or -1 if it cannot be run. */
static int compile_for_messages(struct unit *unit, const char *errors)
{
	char object[PATH_MAX + 16];
	struct word_list list = { 0 };
	const char *output = unit->output;
	snprintf(object, sizeof(object), "%s.original.o", unit->folder);
	unit->output = object;
	make_words(unit, NULL, &list);
	unit->output = output;
	add_colour(unit->build->words, &list);
	struct process_streams streams = { .input = unit->saved[0] ? unit->saved : NULL, .errors = errors };
	bool is_ready = word_list_shorten(&list, unit->build, NULL) == 0 && !list.error;
	int status = is_ready ? process_run(list.items, &streams) : -1;
	word_list_release(&list);
	return status;
}

/* Called when the copy is compiled. If the compiler printed something, compiles the original and prints its
 * messages. Returns 0, or ERROR_UNSUPPORTED (with the unit's error) if the original does not compile. */
static int pass_on(struct unit *unit, const char *errors)
{
	const struct build_printer *printer = &unit->build->options->printer;
	size_t size = 0;
	char *text = text_read(errors, &size);
	bool is_empty = !text || !size;
	free(text);
	if (is_empty)
		return 0;
	struct stat status;
	if (compile_for_messages(unit, errors) != 0) {
		/* The copy's object is newer than the source: make would take it. */
		if (lstat(unit->output, &status) == 0 && S_ISREG(status.st_mode))
			unlink(unit->output);
		return error_set(&unit->error, ERROR_UNSUPPORTED, "the original does not compile");
	}
	text = text_read(errors, &size);
	if (text && size)
		printer->pass_on(printer->context, text, size);
	free(text);
	return 0;
}

/* --- attempts --- */

static bool except_points(struct unit *unit, const char *errors)
{
	size_t size = 0;
	char *text = read_messages(unit, errors, &size);
	bool has_any = text && rejected_points_except(unit->build->options->selection, &unit->result, text);
	free(text);
	return has_any;
}

static int instrument(struct unit *unit)
{
	struct word_list list = { 0 };
	parser_words(unit->build, &list);
	const struct build *build = unit->build;
	const struct compile_words *words = build->words;
	struct instrument_source source = {
		.path = unit->input,
		.compiler = words->words[words->compiler],
		.words = (const char *const *)list.items,
		.word_count = list.count,
		.profiler = build->installed.profiler,
		.shown = unit->saved[0] ? "<stdin>" : unit->source->path,
		.selection = build->options->selection,
		.is_bare = is_bare(unit),
		.is_explicit = build->options->is_explicit,
		.headers = build->options->headers,
	};
	instrument_release(&unit->result);
	int code = list.error ? error_memory(&unit->error) : instrument_file(&source, &unit->result, &unit->error);
	word_list_release(&list);
	return code;
}

static size_t instrumented_count(const struct instrument_result *result)
{
	size_t count = 0;
	for (size_t i = 0; i < result->copy_count; i++)
		count += result->copies[i].point_count;
	return count;
}

/* Returns the number of hooks that may be rejected. tcc reports one error at a time. */
static size_t hook_count(const struct instrument_result *result)
{
	size_t count = 0;
	for (size_t i = 0; i < result->point_count; i++)
		count += result->points[i].hook && !result->points[i].skipped;
	return count;
}

/* Sets the reason why nothing is instrumented at the first attempt: libclang reported an error, or all is skipped. */
static int explain_nothing(struct unit *unit)
{
	for (size_t i = 0; i < unit->result.point_count; i++) {
		const char *why = unit->result.points[i].skipped;
		if (why && strcmp(why, INSTRUMENT_DOUBT) == 0)
			return error_set(&unit->error, ERROR_UNSUPPORTED, INSTRUMENT_DOUBT);
	}
	return error_set(&unit->error, ERROR_NOT_FOUND, "there is nothing to instrument in it");
}

/* Compiles the copy once. Returns wait()'s status, or -1 if the copy cannot be made (with the unit's error). */
static int compile_copy(struct unit *unit, const char *errors)
{
	struct build *build = unit->build;
	overlay_release(&unit->overlay);
	snprintf(unit->folder, sizeof(unit->folder), "%s/%zu", build->scratch.path, build->unit_count++);
	const char *name = unit->saved[0] ? unit->saved : unit->source->path;
	if (overlay_make(&unit->overlay, build, name, unit->folder, &unit->result, &unit->error) < 0)
		return -1;
	struct word_list list = { 0 };
	char copy[2 * PATH_MAX + 2];
	snprintf(copy, sizeof(copy), "%s/%s", unit->folder, path_basename(name));
	make_words(unit, copy, &list);
	char rules_path[PATH_MAX];
	const char *rules = dependency_file(unit, &list);
	if (rules) {
		snprintf(rules_path, sizeof(rules_path), "%s", rules);
		rules = rules_path;
	}
	struct process_streams streams = { .errors = errors };
	int status = -1;
	if (word_list_shorten(&list, build, &unit->error) == 0 && !list.error) {
		status = process_run(list.items, &streams);
		if (status < 0)
			error_set_errno(&unit->error, "cannot run '%s'", list.items[0]);
	}
	const char *const headers[] = { build->installed.profiler, build->installed.processor, NULL };
	if (status == 0 && rules &&
	    dependencies_restore(rules, unit->overlay.changes, unit->overlay.change_count, headers, &unit->error) < 0)
		status = -1;
	word_list_release(&list);
	return status;
}

void build_print_line(const struct build_options *options, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	options->printer.print_line(options->printer.context, text);
}

/* Compiles the copy and returns 0 after printing its messages; otherwise the
 * original must be compiled, and the unit's error gives the reason. */
static int try_copy(struct unit *unit)
{
	static const char does_not_compile[] = "the instrumented copy does not compile";
	char errors[PATH_MAX];
	const struct build *build = unit->build;
	snprintf(errors, sizeof(errors), "%s/errors", build->scratch.path);
	int code = 0;
	size_t hooks = 0;
	for (size_t attempt = 0; attempt < ATTEMPTS + hooks; attempt++) {
		code = instrument(unit);
		if (code < 0)
			return code;
		if (instrumented_count(&unit->result) == 0)
			return attempt ? error_set(&unit->error, ERROR_UNSUPPORTED, does_not_compile)
				       : explain_nothing(unit);
		if (attempt == 0)
			hooks = hook_count(&unit->result);
		int status = compile_copy(unit, errors);
		if (status == 0)
			return pass_on(unit, errors);
		if (status < 0)
			return unit->error.code ? unit->error.code : ERROR_SYSTEM;
		code = error_set(&unit->error, ERROR_UNSUPPORTED, does_not_compile);
		if (build->options->verbose) {
			size_t size = 0;
			char *text = text_read(errors, &size);
			if (text)
				build->options->printer.pass_on(build->options->printer.context, text, size);
			free(text);
		}
		if (!except_points(unit, errors))
			break;
	}
	return code;
}

/* Copies standard input to a file, because it is read twice. */
static int save_input(struct unit *unit)
{
	const char *language = unit->source->language;
	snprintf(unit->saved, sizeof(unit->saved), "%s/stdin.%s", unit->build->scratch.path,
		 language && strcmp(language, "c++") == 0 ? "cc" : "c");
	FILE *out = fopen(unit->saved, "wxe");
	char bytes[65536];
	bool is_written = out != NULL;
	for (ssize_t got; is_written && (got = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0;)
		is_written = fwrite(bytes, 1, (size_t)got, out) == (size_t)got;
	if (out && fclose(out) != 0)
		is_written = false;
	unit->input = unit->saved;
	return is_written ? 0 : error_set_errno(&unit->error, "cannot store standard input");
}

/* Prints each mistake in the annotations of an instrumented copy. */
static void print_mistakes(const struct unit *unit)
{
	for (size_t i = 0; i < unit->result.point_count; i++) {
		const struct source_point *point = &unit->result.points[i];
		if (point->mistake)
			build_print_line(unit->build->options, "%s:%u: %s: %s", point->file, (unsigned)point->line,
					 point->name, point->mistake);
	}
}

static void report_result(const struct unit *unit, bool fell_back)
{
	const struct build_options *options = unit->build->options;
	bool is_nothing = unit->error.code == ERROR_NOT_FOUND && unit->result.copy_count;
	if (options->printer.report)
		options->printer.report(options->printer.context, unit->source->path, &unit->result,
					fell_back && !is_nothing ? unit->error.message : NULL);
	if (!options->quiet && (!fell_back || is_nothing))
		print_mistakes(unit);
	if (fell_back && is_nothing) {
		if (options->verbose)
			build_print_line(unit->build->options, "%s: there is nothing to instrument in it",
					 unit->source->path);
	} else if (fell_back) {
		if (options->verbose || (!options->quiet && !unit->saved[0]))
			build_print_line(unit->build->options, "%s: compiled without instrumentation: %s",
					 unit->source->path, unit->error.message);
	} else if (options->verbose) {
		size_t count = instrumented_count(&unit->result);
		build_print_line(unit->build->options, "%s: %zu probe point%s instrumented, %zu skipped (%s)",
				 unit->source->path, count, count == 1 ? "" : "s", unit->result.point_count - count,
				 unit->result.libclang);
	}
}

int unit_compile(struct build *build, size_t source, const char *output)
{
	struct unit unit = { .build = build, .source = &build->words->sources[source], .output = output };
	unit.input = unit.source->path;
	int code = strcmp(unit.source->path, "-") == 0 ? save_input(&unit) : 0;
	if (code == 0)
		code = try_copy(&unit);
	int status = 0;
	if (code < 0) {
		struct word_list list = { 0 };
		make_words(&unit, NULL, &list);
		struct process_streams streams = { .input = unit.saved[0] ? unit.saved : NULL };
		bool is_ready = word_list_shorten(&list, build, NULL) == 0 && !list.error;
		status = is_ready ? process_run(list.items, &streams) : -1;
		word_list_release(&list);
	}
	int number = errno;
	if (status == 0)
		report_result(&unit, code < 0);
	overlay_release(&unit.overlay);
	instrument_release(&unit.result);
	errno = number;
	return status;
}
