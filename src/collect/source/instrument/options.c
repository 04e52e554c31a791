#include "collect/source/instrument/options.h"

#include <stddef.h>
#include <string.h>

#include "base/path.h"

/* The first match counts. */
static const struct option_rule rules[] = {
	{ "-include-pch", OPTION_DROP, false, true },
	{ "-include", OPTION_KEEP, true, true },
	{ "-imacros", OPTION_KEEP, true, true },
	{ "-iquote", OPTION_KEEP, true, true },
	{ "-isystem", OPTION_KEEP, true, true },
	{ "-idirafter", OPTION_KEEP, true, true },
	{ "-isysroot", OPTION_ASK_ALONE, true, true },
	{ "--sysroot=", OPTION_ASK_ALONE, true, false },
	{ "--sysroot", OPTION_ASK_ALONE, false, true },
	{ "-iprefix", OPTION_ASK_ALONE, true, true },
	{ "-iwithprefixbefore", OPTION_ASK_ALONE, true, true },
	{ "-iwithprefix", OPTION_ASK_ALONE, true, true },
	{ "-imultilib", OPTION_ASK_ALONE, false, true },
	{ "-B", OPTION_ASK_ALONE, true, true },
	{ "-specs=", OPTION_ASK_ALONE, true, false },
	{ "-I", OPTION_KEEP, true, true },
	{ "-D", OPTION_KEEP, true, true },
	{ "-U", OPTION_KEEP, true, true },
	{ "--define-macro", OPTION_KEEP, false, true },
	{ "--undefine-macro", OPTION_KEEP, false, true },
	{ "--include", OPTION_KEEP, false, true },
	{ "--include-directory", OPTION_KEEP, false, true },
	{ "--imacros", OPTION_KEEP, false, true },
	{ "-undef", OPTION_KEEP, false, false },
	{ "-std=", OPTION_STANDARD, true, false },
	{ "--std=", OPTION_STANDARD, true, false },
	{ "-ansi", OPTION_STANDARD, false, false },
	{ "-x", OPTION_LANGUAGE, true, true },
	{ "-O", OPTION_ASK, true, false },
	{ "-nostdinc++", OPTION_ASK_ALONE, false, false },
	{ "-nostdinc", OPTION_ASK_ALONE, false, false },
	{ "-stdlib=", OPTION_ASK_ALONE, true, false },
	{ "-pthread", OPTION_ASK, false, false },
	{ "-trigraphs", OPTION_KEEP, false, false },
	{ "-fopenmp", OPTION_KEEP, false, false },
	{ "-fmodules-ts", OPTION_MODULES, false, false },
	{ "-fmodules", OPTION_MODULES, false, false },
	{ "-fexceptions", OPTION_KEEP, false, false },
	{ "-fno-exceptions", OPTION_KEEP, false, false },
	{ "-fno-rtti", OPTION_KEEP, false, false },
	{ "-fms-extensions", OPTION_KEEP, false, false },
	{ "-fpermissive", OPTION_DROP, false, false },
	{ "-funsigned-char", OPTION_KEEP, false, false },
	{ "-fsigned-char", OPTION_KEEP, false, false },
	{ "-fshort-enums", OPTION_KEEP, false, false },
	{ "-fshort-wchar", OPTION_KEEP, false, false },
	{ "-fchar8_t", OPTION_KEEP, false, false },
	{ "-fno-char8_t", OPTION_KEEP, false, false },
	{ "-fgnu89-inline", OPTION_KEEP, false, false },
	{ "-fno-gnu-keywords", OPTION_KEEP, false, false },
	{ "-fno-asm", OPTION_KEEP, false, false },
	{ "-fdollars-in-identifiers", OPTION_KEEP, false, false },
	{ "-fno-operator-names", OPTION_KEEP, false, false },
	{ "-fsized-deallocation", OPTION_KEEP, false, false },
	{ "-faligned-new", OPTION_KEEP, false, false },
	{ "-fwrapv", OPTION_KEEP, false, false },
	{ "-ffreestanding", OPTION_KEEP, false, false },
	{ "-fno-builtin", OPTION_KEEP, false, false },
	{ "-ffast-math", OPTION_KEEP, false, false },
	{ "-fblocks", OPTION_KEEP, false, false },
	{ "-fPIC", OPTION_KEEP, false, false },
	{ "-fpic", OPTION_KEEP, false, false },
	{ "-fPIE", OPTION_KEEP, false, false },
	{ "-fpie", OPTION_KEEP, false, false },
	{ "-ftemplate-depth=", OPTION_KEEP, true, false },
	{ "-fconstexpr-depth=", OPTION_KEEP, true, false },
	{ "-m32", OPTION_ASK, false, false },
	{ "-m64", OPTION_ASK, false, false },
	{ "-mx32", OPTION_ASK, false, false },
	{ "-march=", OPTION_KEEP, true, false },
	{ "-msse", OPTION_KEEP, true, false },
	{ "-mssse3", OPTION_KEEP, false, false },
	{ "-mavx", OPTION_KEEP, true, false },
	{ "-mfma", OPTION_KEEP, false, false },
	{ "-mf16c", OPTION_KEEP, false, false },
	{ "-mbmi", OPTION_KEEP, true, false },
	{ "-maes", OPTION_KEEP, false, false },
	{ "-mpclmul", OPTION_KEEP, false, false },
	{ "-mpopcnt", OPTION_KEEP, false, false },
	{ "-mlzcnt", OPTION_KEEP, false, false },
	{ "-msha", OPTION_KEEP, false, false },
	{ "-mrdrnd", OPTION_KEEP, false, false },
	{ "-mcx16", OPTION_KEEP, false, false },
	{ "--target=", OPTION_ASK, true, false },
	{ "-target", OPTION_ASK, false, true },
	/* Options whose value is skipped: it could look like another option. */
	{ "-o", OPTION_DROP, true, true },
	{ "-MF", OPTION_DROP, true, true },
	{ "-MT", OPTION_DROP, true, true },
	{ "-MQ", OPTION_DROP, true, true },
	{ "-MJ", OPTION_DROP, true, true },
	{ "-Xclang", OPTION_DROP, false, true },
	{ "-Xlinker", OPTION_DROP, false, true },
	{ "-Xassembler", OPTION_DROP, false, true },
	{ "-Xpreprocessor", OPTION_DROP, false, true },
	{ "-mllvm", OPTION_DROP, false, true },
	{ "-aux-info", OPTION_DROP, false, true },
	{ "-dumpdir", OPTION_DROP, false, true },
	{ "-dumpbase-ext", OPTION_DROP, false, true },
	{ "-dumpbase", OPTION_DROP, false, true },
	{ "--param", OPTION_DROP, false, true },
	{ "-L", OPTION_DROP, true, true },
	{ "-l", OPTION_DROP, true, true },
	{ "-T", OPTION_DROP, true, true },
	{ "-u", OPTION_DROP, true, true },
	{ "-z", OPTION_DROP, true, true },
	{ "-e", OPTION_DROP, false, true },
	{ "-arch", OPTION_DROP, false, true },
	{ "-wrapper", OPTION_DROP, false, true },
	{ "-G", OPTION_DROP, false, true },
	{ "-A", OPTION_DROP, true, true },
	{ "-imultiarch", OPTION_DROP, false, true },
	{ "-specs", OPTION_DROP, false, true },
	{ "--specs", OPTION_DROP, false, true },
	{ "-b", OPTION_DROP, false, true },
	{ "-V", OPTION_DROP, false, true },
	{ "-F", OPTION_DROP, false, true },
	{ "-iframework", OPTION_DROP, false, true },
	{ "-ivfsoverlay", OPTION_DROP, false, true },
	{ "-cxx-isystem", OPTION_DROP, false, true },
	{ "-stdlib++-isystem", OPTION_DROP, false, true },
	{ "-gcc-toolchain", OPTION_DROP, false, true },
	{ "--gcc-toolchain", OPTION_DROP, false, true },
	{ "-iapinotes-modules", OPTION_DROP, false, true },
	{ "-fmodule-file", OPTION_DROP, false, true },
	{ "-working-directory", OPTION_DROP, false, true },
	{ "-Xcuda-ptxas", OPTION_DROP, false, true },
	{ "-Xopenmp-target", OPTION_DROP, false, true },
	{ "-meabi", OPTION_DROP, false, true },
	{ "-framework", OPTION_DROP, false, true },
	{ "--entry", OPTION_DROP, false, true },
	{ "-rpath", OPTION_DROP, false, true },
	{ "-soname", OPTION_DROP, false, true },
	{ "-h", OPTION_DROP, false, true },
};

const struct option_rule *option_of(const char *word)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		size_t length = strlen(rules[i].word);
		if (strncmp(word, rules[i].word, length) == 0 && (rules[i].is_prefix || !word[length]))
			return &rules[i];
	}
	return NULL;
}

bool option_takes_next(const struct option_rule *rule, const char *word)
{
	return rule && rule->has_next && !word[strlen(rule->word)];
}

struct suffix {
	const char *text;
	enum option_language language;
	bool is_source;
};

static const struct suffix *suffix_of(const char *path)
{
	static const struct suffix suffixes[] = {
		{ ".c", LANGUAGE_C, true },      { ".cc", LANGUAGE_CXX, true },   { ".cp", LANGUAGE_CXX, true },
		{ ".cxx", LANGUAGE_CXX, true },  { ".cpp", LANGUAGE_CXX, true },  { ".CPP", LANGUAGE_CXX, true },
		{ ".c++", LANGUAGE_CXX, true },  { ".C", LANGUAGE_CXX, true },    { ".h", LANGUAGE_C, false },
		{ ".H", LANGUAGE_CXX, false },   { ".hh", LANGUAGE_CXX, false },  { ".hpp", LANGUAGE_CXX, false },
		{ ".hxx", LANGUAGE_CXX, false }, { ".h++", LANGUAGE_CXX, false }, { ".tcc", LANGUAGE_CXX, false },
		{ ".ipp", LANGUAGE_CXX, false }, { ".inl", LANGUAGE_CXX, false },
	};
	const char *dot = strrchr(path_basename(path), '.');
	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strcmp(dot, suffixes[i].text) == 0)
			return &suffixes[i];
	return NULL;
}

enum option_language option_language_of(const char *path)
{
	const struct suffix *suffix = suffix_of(path);
	return suffix ? suffix->language : LANGUAGE_OTHER;
}

bool option_is_source(const char *path)
{
	const struct suffix *suffix = suffix_of(path);
	return suffix && suffix->is_source;
}
