#include "collect/source/compile/words.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "collect/source/compile/word_list.h"
#include "collect/source/instrument/options.h"
#include "processor/names.h"

static bool begins(const char *word, const char *start)
{
	return strncmp(word, start, strlen(start)) == 0;
}

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

/* Words that need no compilation, or produce no object. */
static const char *const pass_words[] = { "-E",
					  "-M",
					  "-MM",
					  "-fsyntax-only",
					  "-###",
					  "--version",
					  "-dumpversion",
					  "-dumpfullversion",
					  "-dumpmachine",
					  "-dumpspecs",
					  "--help",
					  "-dM",
					  "--target-help",
					  "-cc1",
					  "-cc1as",
					  "--preprocess",
					  "--analyze",
					  "--precompile",
					  "-print-libgcc-file-name",
					  "-print-search-dirs",
					  "-print-multi-lib",
					  NULL };

static const char other_size[] = "it is not for this processor's 64 bits";
static const char other_processor[] = "it is for another processor";

/* Options with an output that cannot use the library, or that is made in another way. */
static const struct {
	const char *word, *why;
} refusals[] = {
	{ "-m32", other_size },
	{ "-mx32", other_size },
	{ "-m16", other_size },
	{ "-pg", "each call would be counted twice: the compiler puts hooks in (-pg)" },
	{ "-finstrument-functions",
	  "each call would be counted twice: the compiler puts hooks in (-finstrument-functions)" },
	{ "-finstrument-functions-after-inlining",
	  "each call would be counted twice: the compiler puts hooks in (-finstrument-functions-after-inlining)" },
	{ "-ffreestanding", "it is freestanding (-ffreestanding): no library can be linked" },
	{ "-nostdinc", "it has no standard headers (-nostdinc)" },
	{ "-fpreprocessed", "it is preprocessed already" },
	{ "-fdirectives-only", "it is preprocessed already" },
	{ "-traditional-cpp", "it is for the preprocessor before C90" },
	{ "-fmodules-ts", "it has modules" },
	{ "-fmodules", "it has modules" },
	{ "-fmodule-header", "it has modules" },
	{ "-save-temps", "it keeps intermediate files (-save-temps)" },
	{ "-save-temps=obj", "it keeps intermediate files (-save-temps)" },
	{ "-save-temps=cwd", "it keeps intermediate files (-save-temps)" },
};

static const char *const launchers[] = { "ccache", "sccache", "distcc", "icecc", "env", NULL };

static int add_source(struct compile_words *words, size_t at, const char *language)
{
	const char *path = words->words[at];
	bool is_ours = language ? strcmp(language, "c") == 0 || strcmp(language, "c++") == 0 : option_is_source(path);
	if (!is_ours) {
		words->roles[at] = ROLE_INPUT;
		words->input_count++;
		/* A header is compiled to itself, not to an object. */
		const char *dot = strrchr(path_basename(path), '.');
		bool is_header = language ? strstr(language, "header") != NULL
					  : dot && (dot[1] == 'h' || dot[1] == 'H') && dot[2] != 's';
		if (is_header || (language && words->mode != COMPILE_PASS))
			words->mode = COMPILE_PASS;
		return 0;
	}
	int code = ARRAY_RESERVE(words->sources, words->source_capacity, words->source_count + 1);
	if (code < 0)
		return code;
	words->roles[at] = ROLE_SOURCE;
	words->sources[words->source_count++] =
		(struct compile_source){ .word = at, .path = path, .language = language };
	return 0;
}

/* Returns the value of "-oFILE" or "-o" "FILE", and sets the roles of both words. Sets *at to the last of them. */
static const char *take_value(struct compile_words *words, size_t *at, size_t letters, enum compile_role role)
{
	const char *word = words->words[*at];
	words->roles[*at] = (unsigned char)role;
	if (word[letters])
		return word + letters;
	if (*at + 1 >= words->count)
		return NULL;
	words->roles[++*at] = (unsigned char)role;
	return words->words[*at];
}

static void refuse(struct compile_words *words, const char *why)
{
	words->mode = COMPILE_PASS;
	words->why = why;
}

static void read_dependencies(struct compile_words *words, size_t *at)
{
	const char *word = words->words[*at];
	if (strcmp(word, "-MD") == 0 || strcmp(word, "-MMD") == 0)
		words->writes_dependencies = true;
	else if (begins(word, "-MF"))
		words->dependency_file = take_value(words, at, 3, ROLE_KEPT);
	else if (begins(word, "-MT") || begins(word, "-MQ"))
		words->dependency_target = take_value(words, at, 3, ROLE_KEPT);
	if (begins(word, "-MJ")) {
		take_value(words, at, 3, ROLE_KEPT);
		refuse(words, "it writes an entry of a compilation database (-MJ)");
	}
}

static void read_wp(struct compile_words *words, const char *word)
{
	const char *file = begins(word, "-Wp,-MD,") ? word + 8 : begins(word, "-Wp,-MMD,") ? word + 9 : NULL;
	if (file && !strchr(file, ',') && words->is_clang) {
		/* The compiler reads that as -MD -MF FILE, with the object's name as the target. */
		words->writes_dependencies = true;
		words->dependency_file = file;
	} else if (file && !strchr(file, ',')) {
		words->wp_dependency_file = file;
	} else if (file || strstr(word, ",-M")) {
		refuse(words, "it writes dependencies in an unsupported way (-Wp)");
	}
}

static void set_mode(struct compile_words *words, size_t at, enum compile_mode mode)
{
	words->roles[at] = ROLE_MODE;
	if (words->mode == COMPILE_LINK || (words->mode == COMPILE_OBJECT && mode == COMPILE_ASSEMBLY))
		words->mode = mode;
}

/* Reads a flag without a value. */
static void read_flag(struct compile_words *words, const char *word)
{
	if (is_one_of(word, pass_words) || begins(word, "-print-") || begins(word, "--print-") ||
	    begins(word, "--help="))
		refuse(words, NULL);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (strcmp(refusals[i].word, word) == 0 && words->mode != COMPILE_PASS)
			refuse(words, refusals[i].why);
	if (begins(word, "--target=") && !begins(word, "--target=" ARCH_TARGET))
		refuse(words, other_processor);
	if (begins(word, "-Wp,"))
		read_wp(words, word);
	words->is_shared |= strcmp(word, "-shared") == 0;
	words->is_static |= strcmp(word, "-static") == 0 || strcmp(word, "-static-pie") == 0;
	words->is_relocatable |= strcmp(word, "-r") == 0 || strcmp(word, "-Wl,-r") == 0;
	words->is_bare |= strcmp(word, "-nostdlib") == 0 || strcmp(word, "-nodefaultlibs") == 0;
	words->has_byproducts |= strcmp(word, "-gsplit-dwarf") == 0 || strcmp(word, "--coverage") == 0 ||
				 strcmp(word, "-ftest-coverage") == 0 || strcmp(word, "-fprofile-arcs") == 0 ||
				 strcmp(word, "-fstack-usage") == 0 || begins(word, "-fdump-") ||
				 begins(word, "-fprofile-generate") || begins(word, "-fprofile-use") ||
				 begins(word, "-ftime-trace");
	words->emits_llvm |= strcmp(word, "-emit-llvm") == 0;
}

static int read_word(struct compile_words *words, size_t *at, const char **language)
{
	const char *word = words->words[*at];
	if (word[0] != '-' || !word[1])
		return add_source(words, *at, *language);
	if (strcmp(word, "-c") == 0 || strcmp(word, "--compile") == 0) {
		set_mode(words, *at, COMPILE_OBJECT);
	} else if (strcmp(word, "-S") == 0 || strcmp(word, "--assemble") == 0) {
		set_mode(words, *at, COMPILE_ASSEMBLY);
	} else if (begins(word, "-o") && !begins(word, "-object")) {
		words->output = take_value(words, at, 2, ROLE_OUTPUT);
	} else if (strcmp(word, "--output") == 0) {
		words->output = take_value(words, at, strlen(word), ROLE_OUTPUT);
	} else if (begins(word, "--output=")) {
		words->output = take_value(words, at, strlen("--output="), ROLE_OUTPUT);
	} else if (begins(word, "-x")) {
		const char *value = take_value(words, at, 2, ROLE_LANGUAGE);
		*language = value && strcmp(value, "none") != 0 ? value : NULL;
	} else if (begins(word, "-M")) {
		read_dependencies(words, at);
		read_flag(words, word);
	} else if (option_takes_next(option_of(word), word)) {
		*at += words->words[*at + 1] != NULL;
		words->input_count += strcmp(word, "-l") == 0;
	} else {
		words->input_count += begins(word, "-l") && word[2];
		read_flag(words, word);
	}
	return 0;
}

/* Finds the compiler behind launchers and their own words ("ccache", "env CCACHE_DIR=x"). */
static void find_compiler(struct compile_words *words)
{
	size_t at = 0;
	while (at + 1 < words->count && is_one_of(path_basename(words->words[at]), launchers)) {
		at++;
		while (at + 1 < words->count && (strchr(words->words[at], '=') || words->words[at][0] == '-'))
			at++;
	}
	words->compiler = at;
	const char *name = path_basename(words->words[at]);
	words->is_clang = strstr(name, "clang") != NULL;
	words->is_tcc = strstr(name, "tcc") != NULL;
	words->is_cxx = strstr(name, "++") != NULL;
	static const char *const others[] = { ARCH_OTHER_COMPILERS, "*mingw*-", "*-none-*", NULL };
	for (const char *const *other = others; *other; other++) {
		char pattern[32];
		snprintf(pattern, sizeof(pattern), "%s*", *other);
		if (fnmatch(pattern, name, 0) == 0)
			refuse(words, other_processor);
	}
}

static int read_words(struct compile_words *words)
{
	const char *language = NULL;
	int code = 0;
	words->roles = malloc(words->count + 1);
	if (!words->roles)
		return ERROR_MEMORY;
	memset(words->roles, ROLE_KEPT, words->count + 1);
	find_compiler(words);
	for (size_t at = words->compiler + 1; at < words->count && code == 0; at++)
		code = read_word(words, &at, &language);
	return code;
}

/* Decides from all words together whether the sources are instrumented. */
static void decide_mode(struct compile_words *words)
{
	if (words->mode == COMPILE_PASS)
		return;
	bool several = words->source_count > 1;
	bool has_input = words->source_count || words->input_count;
	if (!has_input)
		refuse(words, NULL);
	else if (words->mode != COMPILE_LINK && words->source_count == 0)
		refuse(words, NULL);
	else if (words->mode != COMPILE_LINK && several && words->output)
		refuse(words, NULL); /* the compiler reports that error */
	else if (words->is_bare && words->source_count)
		refuse(words, "it is linked without the C library (-nostdlib)");
	else if (words->dependency_file && strcmp(words->dependency_file, "-") == 0)
		refuse(words, "dependencies go to standard output");
	else if (words->source_count && (getenv("DEPENDENCIES_OUTPUT") || getenv("SUNPRO_DEPENDENCIES")))
		refuse(words, "an environment variable requests dependencies");
	else if (words->mode == COMPILE_LINK && words->source_count && words->has_byproducts)
		refuse(words, "it is compiled and linked in one go, with files beside the object");
	for (size_t i = 0; several && i < words->source_count; i++)
		if (strcmp(words->sources[i].path, "-") == 0)
			refuse(words, "standard input is one of several sources");
}

bool compile_words_link(const struct compile_words *words)
{
	if (words->mode != COMPILE_PASS)
		return words->mode == COMPILE_LINK;
	for (size_t i = 0; i < words->count; i++)
		if (words->roles[i] == ROLE_MODE)
			return false;
	return words->why && words->why != other_size && words->why != other_processor;
}

int compile_words_read(struct compile_words *words, char **argv)
{
	struct word_list list = { 0 };
	*words = (struct compile_words){ .mode = COMPILE_LINK };
	for (; *argv; argv++) {
		if (list.count && word_list_expand(&list, *argv))
			words->had_response_file = true;
		else
			word_list_add(&list, "%s", *argv);
	}
	words->words = list.items;
	words->count = list.count;
	int code = list.error ? list.error : read_words(words);
	if (code == 0)
		decide_mode(words);
	return code;
}

void compile_words_release(struct compile_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->words[i]);
	free(words->words);
	free(words->roles);
	free(words->sources);
	*words = (struct compile_words){ 0 };
}

/* --- configure scripts --- */

/* Whether a file is a trial program of autoconf, meson or CMake. */
static bool is_trial(const char *path)
{
	static const char *const folders[] = { "CMakeFiles/CMakeTmp",     "CMakeFiles/CMakeScratch", "CompilerIdC",
					       "CMakeFiles/ShowIncludes", "meson-private",           NULL };
	const char *name = path_basename(path);
	if (begins(name, "conftest.") || begins(name, "sanitycheckc"))
		return true;
	for (const char *const *folder = folders; *folder; folder++)
		if (strstr(path, *folder))
			return true;
	return false;
}

bool compile_words_is_probe(const struct compile_words *words)
{
	char folder[PATH_MAX];
	if (getcwd(folder, sizeof(folder)) && is_trial(folder))
		return true;
	if (words->output && (strcmp(words->output, "/dev/null") == 0 || is_trial(words->output)))
		return true;
	for (size_t i = 0; i < words->count; i++)
		if (words->roles[i] >= ROLE_INPUT && is_trial(words->words[i]))
			return true;
	return false;
}
