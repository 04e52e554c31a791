#include "collect/source/compile/build.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"

enum { STATUS_CANNOT_RUN = 127 };

static int cannot_run(const struct build_options *options, const char *name)
{
	int number = errno;
	bool is_missing = number == ENOENT && !strchr(name, '/');
	build_print_line(options, "cannot run '%s': %s", name, is_missing ? "command not found" : strerror(number));
	return number == EACCES ? 126 : STATUS_CANNOT_RUN;
}

/* Executes the compiler in place of this process. Returns only if that fails. */
static int become(const struct build_options *options, char *const *words)
{
	execvp(words[0], words);
	return cannot_run(options, words[0]);
}

/* --- linking --- */

/* Links the library behind everything that may need it. With --as-needed, only code with Profiler objects gets it. */
static void add_library(const struct build *build, struct word_list *list)
{
	const struct compile_words *words = build->words;
	const struct installed *installed = &build->installed;
	if (words->is_relocatable || words->is_bare)
		return;
	if (words->is_static && installed->static_library[0]) {
		/* -x none: after an earlier -x the compiler would read it as a source. */
		word_list_add(list, "-x");
		word_list_add(list, "none");
		word_list_add(list, "%s", installed->static_library);
		return;
	}
	if (words->is_tcc) {
		word_list_add(list, "-L%s", installed->library_folder);
		word_list_add(list, "-lcpprof");
		word_list_add(list, "-Wl,-rpath=%s", installed->library_folder);
		return;
	}
	word_list_add(list, "-Wl,--push-state,--as-needed");
	if (!installed->is_searched)
		word_list_add(list, "-L%s", installed->library_folder);
	word_list_add(list, "-lcpprof");
	word_list_add(list, "-Wl,--pop-state");
	if (!installed->is_searched)
		word_list_add(list, "-Wl,-rpath,%s", installed->library_folder);
}

static int link_as_given(struct build *build)
{
	struct word_list list = { 0 };
	for (char **word = build->argv; *word; word++)
		word_list_add(&list, "%s", *word);
	add_library(build, &list);
	int status = list.error ? cannot_run(build->options, build->argv[0]) : become(build->options, list.items);
	word_list_release(&list);
	return status;
}

/* Executes the command with objects instead of the sources. */
static int link_objects(struct build *build, const struct word_list *objects)
{
	const struct compile_words *words = build->words;
	struct word_list list = { 0 };
	size_t source = 0;
	for (size_t i = 0; i < words->count; i++) {
		if (words->roles[i] == ROLE_SOURCE)
			word_list_add(&list, "%s", objects->items[source++]);
		else if (words->roles[i] != ROLE_LANGUAGE)
			word_list_add(&list, "%s", words->words[i]);
		if (i == words->compiler && words->is_clang)
			word_list_add(&list, "-Qunused-arguments"); /* some words are for compiling, not for linking */
	}
	add_library(build, &list);
	struct process_streams streams = { 0 };
	bool is_ready = word_list_shorten(&list, build, NULL) == 0 && !list.error;
	int status = is_ready ? process_run(list.items, &streams) : -1;
	word_list_release(&list);
	return status;
}

/* --- compiling --- */

static void name_output(const struct build *build, size_t source, char *name, size_t bytes)
{
	const struct compile_words *words = build->words;
	const char *base = path_basename(words->sources[source].path);
	const char *dot = strrchr(base, '.');
	bool is_assembly = words->mode == COMPILE_ASSEMBLY;
	const char *ending = words->emits_llvm ? (is_assembly ? ".ll" : ".bc") : is_assembly ? ".s" : ".o";
	int length = dot && dot != base ? (int)(dot - base) : (int)strlen(base);
	if (words->mode == COMPILE_LINK)
		snprintf(name, bytes, "%s/object%zu-%.*s.o", build->scratch.path, source, length, base);
	else if (words->output)
		snprintf(name, bytes, "%s", words->output);
	else
		snprintf(name, bytes, "%.*s%s", length, base, ending);
}

/* Limits our own CPU time, without the compilers'. SIGPROF ends a process that
 * exceeds it. */
static void limit_cpu_time(double seconds)
{
	enum { US_PER_S = 1000 * 1000 };
	static const double longest_s = 1e9;
	uint64_t us = (uint64_t)ceil((seconds < longest_s ? seconds : longest_s) * US_PER_S);
	const struct itimerval limit = { .it_value = { (time_t)(us / US_PER_S), (suseconds_t)(us % US_PER_S) } };
	setitimer(ITIMER_PROF, &limit, NULL);
}

/* Compiles all sources, then links. Returns the first status that is not 0. */
static int compile_all(struct build *build)
{
	const struct compile_words *words = build->words;
	struct word_list outputs = { 0 };
	int first = 0;
	for (size_t i = 0; i < words->source_count; i++) {
		char name[PATH_MAX];
		name_output(build, i, name, sizeof(name));
		limit_cpu_time(build->options->seconds);
		word_list_add(&outputs, "%s", name);
		int status = unit_compile(build, i, name);
		if (first == 0)
			first = status;
		if (status < 0 || WIFSIGNALED(status))
			break;
	}
	if (first == 0 && words->mode == COMPILE_LINK)
		first = outputs.error ? -1 : link_objects(build, &outputs);
	word_list_release(&outputs);
	return first < 0 ? cannot_run(build->options, words->words[0]) : process_exit_status(first);
}

/* Compiles in a child process, because libclang may crash on some input, or not come to an end. Then the caller
 * compiles the original in this process. */
static int compile_in_child(struct build *build)
{
	process_block_signals();
	pid_t child = fork();
	if (child == 0) {
		scratch_disown();
		process_unblock_signals();
		int status = compile_all(build);
		_exit(status);
	}
	process_set_child(child);
	process_unblock_signals();
	if (child < 0)
		return -1;
	return process_wait(child);
}

static bool is_crash(int status)
{
	int number = status >= 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return status < 0 || number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGILL ||
	       number == SIGFPE || number == SIGPROF;
}

static int compile(struct build *build)
{
	struct error error = { 0 };
	int code = installed_find(&build->installed, &error);
	if (code == 0)
		code = scratch_init(&build->scratch, &error);
	if (code == 0) {
		int status = compile_in_child(build);
		scratch_release(&build->scratch);
		if (!is_crash(status))
			return process_exit_status(status);
		if (status >= 0 && WTERMSIG(status) == SIGPROF)
			error_set(&error, ERROR_SYSTEM, "reading it took longer than %g s (--limit)",
				  build->options->seconds);
		else
			error_set(&error, ERROR_SYSTEM, "instrumenting it crashed");
	}
	if (!build->options->quiet)
		build_print_line(build->options, "%s: compiled without instrumentation: %s",
				 build->words->sources[0].path, error.message);
	/* Other objects may need the library, if it can be found. */
	if (compile_words_link(build->words) && build->installed.library[0])
		return link_as_given(build);
	return become(build->options, build->argv);
}

int build_run(const struct build_options *options, const struct compile_words *words, char **argv)
{
	struct build build = { .options = options, .words = words, .argv = argv };
	struct error error = { 0 };
	if (compile_words_is_probe(words))
		return become(options, argv);
	if (words->mode == COMPILE_PASS) {
		for (size_t i = 0; i < words->source_count && words->why && !options->quiet; i++)
			build_print_line(options, "%s: compiled without instrumentation: %s", words->sources[i].path,
					 words->why);
		if (compile_words_link(words) && installed_find(&build.installed, NULL) == 0)
			return link_as_given(&build);
		return become(options, argv);
	}
	if (words->source_count)
		return compile(&build);
	if (installed_find(&build.installed, &error) == 0)
		return link_as_given(&build);
	if (!options->quiet)
		build_print_line(options, "linked without libcpprof: %s", error.message);
	return become(options, argv);
}
