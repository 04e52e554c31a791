#include "collect/source/instrument/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "collect/source/instrument/compiler.h"

/* The treatment of a compiler's option. */
enum use {
	DROP,      /* for warnings, code generation, linking, ...: irrelevant for a parser */
	KEEP,      /* passed to libclang unchanged */
	ASK,       /* ... and to the compiler, when it is run to find its header folders */
	ASK_ALONE, /* to the compiler only: header folders are passed on by name */
	LANGUAGE,
	STANDARD,
	MODULES /* no copy can be made of modules */
};

struct rule {
	const char *word;
	enum use use;
	bool is_prefix; /* further text may follow in the same word */
	bool has_next;  /* the next word is its argument, unless one is attached */
};

/* The first match counts. */
static const struct rule rules[] = {
	{ "-include-pch", DROP, false, true },
	{ "-include", KEEP, true, true },
	{ "-imacros", KEEP, true, true },
	{ "-iquote", KEEP, true, true },
	{ "-isystem", KEEP, true, true },
	{ "-idirafter", KEEP, true, true },
	{ "-isysroot", ASK_ALONE, true, true },
	{ "--sysroot=", ASK_ALONE, true, false },
	{ "--sysroot", ASK_ALONE, false, true },
	{ "-iprefix", ASK_ALONE, true, true },
	{ "-iwithprefixbefore", ASK_ALONE, true, true },
	{ "-iwithprefix", ASK_ALONE, true, true },
	{ "-imultilib", ASK_ALONE, false, true },
	{ "-B", ASK_ALONE, true, true },
	{ "-specs=", ASK_ALONE, true, false },
	{ "-I", KEEP, true, true },
	{ "-D", KEEP, true, true },
	{ "-U", KEEP, true, true },
	{ "-undef", KEEP, false, false },
	{ "-std=", STANDARD, true, false },
	{ "--std=", STANDARD, true, false },
	{ "-ansi", STANDARD, false, false },
	{ "-x", LANGUAGE, true, true },
	{ "-O", ASK, true, false },
	{ "-nostdinc++", ASK_ALONE, false, false },
	{ "-nostdinc", ASK_ALONE, false, false },
	{ "-stdlib=", ASK_ALONE, true, false },
	{ "-pthread", ASK, false, false },
	{ "-trigraphs", KEEP, false, false },
	{ "-fopenmp", KEEP, false, false },
	{ "-fmodules-ts", MODULES, false, false },
	{ "-fmodules", MODULES, false, false },
	{ "-fexceptions", KEEP, false, false },
	{ "-fno-exceptions", KEEP, false, false },
	{ "-fno-rtti", KEEP, false, false },
	{ "-fms-extensions", KEEP, false, false },
	{ "-fpermissive", DROP, false, false },
	{ "-funsigned-char", KEEP, false, false },
	{ "-fsigned-char", KEEP, false, false },
	{ "-fshort-enums", KEEP, false, false },
	{ "-fshort-wchar", KEEP, false, false },
	{ "-fchar8_t", KEEP, false, false },
	{ "-fno-char8_t", KEEP, false, false },
	{ "-fgnu89-inline", KEEP, false, false },
	{ "-fno-gnu-keywords", KEEP, false, false },
	{ "-fno-asm", KEEP, false, false },
	{ "-fdollars-in-identifiers", KEEP, false, false },
	{ "-fno-operator-names", KEEP, false, false },
	{ "-fsized-deallocation", KEEP, false, false },
	{ "-faligned-new", KEEP, false, false },
	{ "-fwrapv", KEEP, false, false },
	{ "-ffreestanding", KEEP, false, false },
	{ "-fno-builtin", KEEP, false, false },
	{ "-ffast-math", KEEP, false, false },
	{ "-fblocks", KEEP, false, false },
	{ "-fPIC", KEEP, false, false },
	{ "-fpic", KEEP, false, false },
	{ "-fPIE", KEEP, false, false },
	{ "-fpie", KEEP, false, false },
	{ "-ftemplate-depth=", KEEP, true, false },
	{ "-fconstexpr-depth=", KEEP, true, false },
	{ "-m32", ASK, false, false },
	{ "-m64", ASK, false, false },
	{ "-mx32", ASK, false, false },
	{ "-march=", KEEP, true, false },
	{ "-msse", KEEP, true, false },
	{ "-mssse3", KEEP, false, false },
	{ "-mavx", KEEP, true, false },
	{ "-mfma", KEEP, false, false },
	{ "-mf16c", KEEP, false, false },
	{ "-mbmi", KEEP, true, false },
	{ "-maes", KEEP, false, false },
	{ "-mpclmul", KEEP, false, false },
	{ "-mpopcnt", KEEP, false, false },
	{ "-mlzcnt", KEEP, false, false },
	{ "-msha", KEEP, false, false },
	{ "-mrdrnd", KEEP, false, false },
	{ "-mcx16", KEEP, false, false },
	{ "--target=", ASK, true, false },
	{ "-target", ASK, false, true },
	/* Options with an argument, which is skipped: it could look like another option. */
	{ "-o", DROP, true, true },
	{ "-MF", DROP, true, true },
	{ "-MT", DROP, true, true },
	{ "-MQ", DROP, true, true },
	{ "-MJ", DROP, true, true },
	{ "-Xclang", DROP, false, true },
	{ "-Xlinker", DROP, false, true },
	{ "-Xassembler", DROP, false, true },
	{ "-Xpreprocessor", DROP, false, true },
	{ "-mllvm", DROP, false, true },
	{ "-aux-info", DROP, false, true },
	{ "-dumpdir", DROP, false, true },
	{ "-dumpbase-ext", DROP, false, true },
	{ "-dumpbase", DROP, false, true },
	{ "--param", DROP, false, true },
	{ "-L", DROP, true, true },
	{ "-l", DROP, true, true },
	{ "-T", DROP, true, true },
	{ "-u", DROP, true, true },
	{ "-z", DROP, true, true },
	{ "-e", DROP, false, true },
	{ "-arch", DROP, false, true },
	{ "-wrapper", DROP, false, true },
	{ "-G", DROP, false, true },
	{ "-A", DROP, true, true },
};

static const struct rule *find_rule(const char *word)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		size_t length = strlen(rules[i].word);
		if (strncmp(word, rules[i].word, length) == 0 && (rules[i].is_prefix || !word[length]))
			return &rules[i];
	}
	return NULL;
}

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
static void sort_word(struct sorting *sorting, const struct rule *rule, const char *word, const char *next)
{
	struct words *const to[] = {
		rule->use == KEEP || rule->use == ASK ? sorting->words : NULL,
		rule->use == ASK || rule->use == ASK_ALONE || rule->use == STANDARD ? &sorting->asked : NULL,
	};
	for (size_t i = 0; i < 2; i++) {
		if (to[i]) {
			add(sorting, to[i], word);
			if (next)
				add(sorting, to[i], next);
		}
	}
	if (rule->use == LANGUAGE)
		sorting->language = next ? next : word + strlen(rule->word);
	if (rule->use == STANDARD)
		sorting->standard = strchr(word, '=') ? strchr(word, '=') + 1 : "c90";
	if (rule->use == MODULES)
		sorting->has_modules = true;
}

static void sort_words(struct sorting *sorting, const struct instrument_source *source)
{
	for (size_t i = 0; i < source->word_count; i++) {
		const char *word = source->words[i];
		const struct rule *rule = find_rule(word);
		if (!rule)
			continue;
		bool takes_next = rule->has_next && !word[strlen(rule->word)] && i + 1 < source->word_count;
		sort_word(sorting, rule, word, takes_next ? source->words[i + 1] : NULL);
		i += takes_next;
	}
}

enum language { NEITHER, C, CXX };

static enum language language_by_name(const char *path, bool is_cxx_compiler)
{
	static const struct {
		const char *ending;
		enum language language;
	} endings[] = {
		{ "c", C },     { "h", C },     { "cc", CXX },  { "cp", CXX },  { "cxx", CXX }, { "cpp", CXX },
		{ "CPP", CXX }, { "c++", CXX }, { "C", CXX },   { "H", CXX },   { "hh", CXX },  { "hpp", CXX },
		{ "hxx", CXX }, { "h++", CXX }, { "tcc", CXX }, { "ipp", CXX }, { "inl", CXX },
	};
	const char *dot = strrchr(path_basename(path), '.');
	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcmp(dot + 1, endings[i].ending) == 0)
			return endings[i].language == C && is_cxx_compiler ? CXX : endings[i].language;
	return NEITHER;
}

static enum language find_language(const char *given, const char *path, bool is_cxx_compiler)
{
	if (!given || strcmp(given, "none") == 0)
		return language_by_name(path, is_cxx_compiler);
	if (strcmp(given, "c") == 0 || strcmp(given, "c-header") == 0)
		return C;
	return strcmp(given, "c++") == 0 || strcmp(given, "c++-header") == 0 ? CXX : NEITHER;
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
	enum language language = find_language(sorting.language, source->path, is_cxx_compiler(source->compiler));
	if (sorting.has_modules)
		return error_set(error, ERROR_UNSUPPORTED, "modules are not instrumented");
	if (language == NEITHER)
		return error_set(error, ERROR_UNSUPPORTED, "it is neither C nor C++");
	words->is_cxx = language == CXX;
	const char *command = source->compiler ? source->compiler : words->is_cxx ? "c++" : "cc";
	const struct compiler *compiler =
		compiler_ask(command, sorting.asked.items, sorting.asked.count, words->is_cxx, error);
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
