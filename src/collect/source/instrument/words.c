#include "collect/source/instrument/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "collect/source/instrument/options.h"

/* The state of sorting a compiler's words. */
struct sorting {
	struct words *words, asked;
	struct instrument_arena *arena;
	const char *language, *standard; /* as passed; NULL: not passed */
	bool has_modules;
};

static void add(struct sorting *sorting, struct words *to, const char *word)
{
	size_t need = to->count + 1;
	if (need > to->capacity) {
		size_t capacity = need * 2 + 16;
		const char **items = instrument_arena_take(sorting->arena, capacity * sizeof(*items));
		if (!items)
			return;
		if (to->count)
			memcpy(items, to->items, to->count * sizeof(*items));
		to->items = items;
		to->capacity = capacity;
	}
	to->items[to->count++] = word;
}

/* `next` is the argument of `word` if it is a separate word, otherwise NULL. */
static void sort_word(struct sorting *sorting, const struct option_rule *rule, const char *word, const char *next)
{
	struct words *const to[] = {
		rule->use == OPTION_KEEP || rule->use == OPTION_ASK ? sorting->words : NULL,
		rule->use == OPTION_ASK || rule->use == OPTION_ASK_ALONE || rule->use == OPTION_STANDARD
			? &sorting->asked
			: NULL,
	};
	for (size_t i = 0; i < 2; i++) {
		if (to[i]) {
			add(sorting, to[i], word);
			if (next)
				add(sorting, to[i], next);
		}
	}
	if (rule->use == OPTION_LANGUAGE)
		sorting->language = next ? next : word + strlen(rule->word);
	if (rule->use == OPTION_STANDARD)
		sorting->standard = strchr(word, '=') ? strchr(word, '=') + 1 : "c90";
	if (rule->use == OPTION_MODULES)
		sorting->has_modules = true;
}

static void sort_words(struct sorting *sorting, const struct instrument_source *source)
{
	for (size_t i = 0; i < source->word_count; i++) {
		const char *word = source->words[i];
		const struct option_rule *rule = option_of(word);
		if (!rule)
			continue;
		bool takes_next = option_takes_next(rule, word) && i + 1 < source->word_count;
		sort_word(sorting, rule, word, takes_next ? source->words[i + 1] : NULL);
		i += takes_next;
	}
}

static enum option_language find_language(const char *given, const char *path, bool is_cxx_compiler)
{
	enum option_language by_name = option_language_of(path);
	if (!given || strcmp(given, "none") == 0)
		return by_name == LANGUAGE_C && is_cxx_compiler ? LANGUAGE_CXX : by_name;
	if (strcmp(given, "c") == 0 || strcmp(given, "c-header") == 0)
		return LANGUAGE_C;
	return strcmp(given, "c++") == 0 || strcmp(given, "c++-header") == 0 ? LANGUAGE_CXX : LANGUAGE_OTHER;
}

/* Whether a compiler is one of C++, by its name: "g++-12", "clang++", "c++". */
static bool is_cxx_compiler(const char *compiler)
{
	return compiler && strstr(path_basename(compiler), "++");
}

/* Maps names of standards that older versions of clang do not support to older names. */
static const char *older_name(const char *standard)
{
	static const char *const names[][2] = {
		{ "c++26", "c++2b" }, { "gnu++26", "gnu++2b" },  { "c++2c", "c++2b" }, { "gnu++2c", "gnu++2b" },
		{ "c++23", "c++2b" }, { "gnu++23", "gnu++2b" },  { "c23", "c2x" },     { "gnu23", "gnu2x" },
		{ "c2y", "c2x" },     { "gnu2y", "gnu2x" },      { "c++20", "c++20" }, { "iso9899:2018", "c17" },
		{ "c90", "c90" },     { "iso9899:2017", "c17" },
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(standard, names[i][0]) == 0)
			return names[i][1];
	return standard;
}

/* Returns the standard for a value of __cplusplus. gcc counts up while a standard is not finished. */
static int cxx_standard(long value)
{
	static const struct {
		long value;
		int standard;
	} standards[] = {
		{ 202302, 26 }, { 202002, 23 }, { 201703, 20 }, { 201402, 17 }, { 201103, 14 }, { 199711, 11 }
	};
	for (size_t i = 0; i < sizeof(standards) / sizeof(standards[0]); i++)
		if (value > standards[i].value)
			return standards[i].standard;
	return 0;
}

static const char *default_standard(struct instrument_arena *arena, const struct compiler *compiler, bool is_cxx)
{
	if (!is_cxx)
		return compiler->c_standard > 201710 ? "gnu2x" : compiler->c_standard > 201112 ? "gnu17" : "gnu11";
	int standard = cxx_standard(compiler->cxx_standard);
	return standard >= 23 ? "gnu++2b" : instrument_arena_format(arena, "gnu++%02d", standard ? standard : 98);
}

/* Adds the macros that select the compiler's branches of #if. */
static void add_plain_macros(struct sorting *sorting, const struct compiler *compiler)
{
	static const char *const words[] = { "-U__GNUC__",  "-U__GNUC_MINOR__",  "-U__GNUC_PATCHLEVEL__",
					     "-U__clang__", "-U__clang_major__", "-U__clang_minor__" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		add(sorting, sorting->words, words[i]);
	if (compiler->tiny_c)
		add(sorting, sorting->words,
		    instrument_arena_format(sorting->arena, "-D__TINYC__=%ld", compiler->tiny_c));
}

/* Adds the header folders in the compiler's order. The compiler's own folders are replaced by clang's, which are
 * searched last. */
static void add_directories(struct sorting *sorting, const struct clang *clang, const struct compiler *compiler)
{
	struct words *words = sorting->words;
	add(sorting, words, "-nostdinc");
	add(sorting, words, "-nostdinc++");
	bool has_own = false;
	for (size_t i = 0; i < compiler->directory_count; i++) {
		const char *directory = compiler->directories[i];
		bool is_own =
			clang->resource_directory &&
			(strstr(directory, "/gcc/") || strstr(directory, "/clang/") || strstr(directory, "/tcc/")) &&
			strstr(directory, "/include") && !strstr(directory, "c++");
		if (is_own && !has_own) {
			add(sorting, words, "-isystem");
			add(sorting, words,
			    instrument_arena_format(sorting->arena, "%s/include", clang->resource_directory));
			has_own = true;
		}
		add(sorting, words, is_own ? "-idirafter" : "-isystem");
		add(sorting, words, directory);
	}
}

int words_make(struct words *words, const struct instrument_source *source, const struct clang *clang,
	       struct instrument_arena *arena, struct error *error)
{
	struct sorting sorting = { .words = words, .arena = arena };
	sort_words(&sorting, source);
	enum option_language language =
		find_language(sorting.language, source->path, is_cxx_compiler(source->compiler));
	if (sorting.has_modules)
		return error_set(error, ERROR_UNSUPPORTED, "modules are not instrumented");
	if (language == LANGUAGE_OTHER)
		return error_set(error, ERROR_UNSUPPORTED, "it is neither C nor C++");
	words->is_cxx = language == LANGUAGE_CXX;
	const char *command = source->compiler ? source->compiler : words->is_cxx ? "c++" : "cc";
	const struct compiler *compiler =
		compiler_query(command, sorting.asked.items, sorting.asked.count, words->is_cxx, error);
	if (!compiler)
		return error ? error->code : ERROR_NOT_FOUND;
	words->is_clang = compiler->is_clang;
	words->is_plain = compiler->is_plain;
	words->standard = words->is_cxx ? cxx_standard(compiler->cxx_standard) : 0;
	add(&sorting, words, "-x");
	add(&sorting, words, words->is_cxx ? "c++" : "c");
	add(&sorting, words,
	    instrument_arena_format(arena, "-std=%s",
				    sorting.standard ? older_name(sorting.standard)
						     : default_standard(arena, compiler, words->is_cxx)));
	/* clang ignores it before -std=. */
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->items[i], "-trigraphs") == 0)
			add(&sorting, words, "-ftrigraphs");
	add_directories(&sorting, clang, compiler);
	if (clang->resource_directory) {
		add(&sorting, words, "-resource-dir");
		add(&sorting, words, clang->resource_directory);
	}
	if (compiler->is_plain)
		add_plain_macros(&sorting, compiler);
	if (source->directory)
		add(&sorting, words, instrument_arena_format(arena, "-working-directory=%s", source->directory));
	add(&sorting, words, "-DCPPROF_TOOL=1");
	add(&sorting, words, "-w");
	add(&sorting, words, "-ferror-limit=0");
	add(&sorting, words, "-fbracket-depth=100000");
	return instrument_arena_error(arena);
}
