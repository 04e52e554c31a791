/*
 * Reads a compiler's command line, as gcc and clang do: which words are input files, and how each input is
 * processed.
 *
 *     gcc -O2 -x c a.txt -x none b.o -o program -lm
 *      |   |   |---------|        |  |--------|  '- for the linker: keeps its position, because the order matters there
 *      |   |   a source, in C     |  output
 *      |   kept                   no source: keeps its position
 *      the compiler
 */
#ifndef COLLECT_SOURCE_COMPILE_WORDS_H
#define COLLECT_SOURCE_COMPILE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum compile_mode {
	COMPILE_PASS, /* not compiled by cpprof: -E, --version, ...: see `why` */
	COMPILE_OBJECT,
	COMPILE_ASSEMBLY, /* -S */
	COMPILE_LINK,
};

enum compile_role {
	ROLE_KEPT,
	ROLE_MODE,     /* -c, -S */
	ROLE_OUTPUT,   /* -o and its value */
	ROLE_LANGUAGE, /* -x and its value */
	ROLE_INPUT,    /* a file that is not one of our sources, or a library: for the linker */
	ROLE_SOURCE,
};

struct compile_source {
	size_t word;
	const char *path;     /* "-": standard input */
	const char *language; /* from -x; NULL: by its suffix */
};

/* The command line. Pointers refer to its own copies of the words. */
struct compile_words {
	char **words;         /* NULL-terminated; [0] is the compiler, or a launcher before it */
	unsigned char *roles; /* enum compile_role of each word */
	size_t count;
	size_t compiler; /* index of the compiler: not 0 behind a launcher such as ccache */
	struct compile_source *sources;
	size_t source_count, source_capacity;
	size_t input_count; /* inputs that are files or libraries */
	enum compile_mode mode;
	const char *why;               /* COMPILE_PASS: why sources are left unchanged; NULL: no message */
	const char *output;            /* argument of -o; NULL: there is none */
	bool is_clang, is_tcc, is_cxx; /* by the compiler's name */
	bool is_shared, is_static, is_relocatable, is_bare; /* -shared, -static, -r, -nostdlib or -nodefaultlibs */
	bool emits_llvm;
	bool has_byproducts;      /* the compiler makes files named after the object: .dwo, .gcno, .gcda, .su */
	bool writes_dependencies; /* -MD, -MMD */
	bool had_response_file;
	const char *dependency_file, *dependency_target; /* arguments of -MF, and of -MT or -MQ */
	const char *wp_dependency_file;                  /* from -Wp,-MD,FILE */
};

/* Copies and reads the words, including the words of @files. Returns 0 or ERROR_MEMORY; call compile_words_release in
 * any case. */
int compile_words_read(struct compile_words *words, char **argv);
void compile_words_release(struct compile_words *words);

/* Returns whether the command links for this processor. Other objects may then need the library, even if the sources
 * are compiled unchanged (COMPILE_PASS). */
bool compile_words_link(const struct compile_words *words);

/* Returns whether a configure script compiles a trial program: then nothing is printed and nothing instrumented. */
bool compile_words_is_probe(const struct compile_words *words);

#endif
