/*
 * A compiler's command line, as gcc and clang read it: which of its words are input files, and what is to become of them.
 *
 *     gcc -O2 -x c a.txt -x none b.o -o program -lm
 *      |   |   |---------|        |  |--------|  '- for the linker: kept where it stands, since there order counts
 *      |   |   a source, in C     |  output
 *      |   kept                   no source: kept where it stands
 *      the compiler
 */
#ifndef COLLECT_SOURCE_COMPILE_WORDS_H
#define COLLECT_SOURCE_COMPILE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum compile_mode {
	COMPILE_PASS, /* not for us: -E, --version, ...: see `why` */
	COMPILE_OBJECT,
	COMPILE_ASSEMBLY, /* -S */
	COMPILE_LINK,
};

enum compile_role {
	ROLE_KEPT,
	ROLE_MODE,     /* -c, -S */
	ROLE_OUTPUT,   /* -o and its value */
	ROLE_LANGUAGE, /* -x and its value */
	ROLE_INPUT,    /* a file that is no source of ours, or a library: for the linker */
	ROLE_SOURCE,
};

struct compile_source {
	size_t word;
	const char *path;     /* "-": standard input */
	const char *language; /* of -x; NULL: by its suffix */
};

/* Pointers go into its own copies of the words. */
struct compile_words {
	char **words;         /* [0] is the compiler (with a launcher before it: the launcher); NULL-terminated */
	unsigned char *roles; /* enum compile_role, of each */
	size_t count, capacity, role_capacity;
	size_t compiler; /* which of them is the compiler: not 0 behind ccache and its like */
	struct compile_source *sources;
	size_t source_count, source_capacity;
	size_t input_count; /* inputs that are files or libraries */
	enum compile_mode mode;
	const char *why;               /* COMPILE_PASS: nothing to say about (NULL), or why sources are left alone */
	const char *output;            /* argument of -o; NULL: there is none */
	bool is_clang, is_tcc, is_cxx; /* by the compiler's name */
	bool is_shared, is_static, is_relocatable, is_bare; /* -shared, -static, -r, -nostdlib or -ffreestanding */
	bool emits_llvm;
	bool has_byproducts;      /* files are named after the object: .dwo, .gcno, .gcda, .su */
	bool writes_dependencies; /* -MD, -MMD */
	bool had_response_file;
	const char *dependency_file, *dependency_target; /* arguments of -MF, and of -MT or -MQ */
	const char *wp_dependency_file;                  /* from -Wp,-MD,FILE */
};

/* Copies and reads the words, @files' too. 0 or ERROR_MEMORY; to be released in any case. */
int compile_words_read(struct compile_words *words, char **argv);
void compile_words_release(struct compile_words *words);

/* Returns whether the words link, for this processor: then other objects may
 * need the library, also if COMPILE_PASS compiles the sources unchanged. */
bool compile_words_link(const struct compile_words *words);

/* Returns whether this is a trial program of a configure script: then nothing
 * is printed and nothing instrumented. */
bool compile_words_is_probe(const struct compile_words *words);

/* Replaces an @file in a list by its words; for words.c. Returns 1, 0 if it
 * cannot be read (the compiler then takes it for a name), or ERROR_MEMORY. */
int compile_words_expand(struct compile_words *words, const char *path, int depth);
int compile_words_add(struct compile_words *words, const char *text, size_t length);

#endif
