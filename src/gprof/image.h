/*
 * The subjects of gprof's reports: the functions of one loaded object, by its symbol table; with -l, its source lines.
 *
 * A symbol reaches to the next one, regardless of its size, as in gprof: padding belongs to the symbol before it.
 * One of several symbols at one address is kept: a global one before a static one, then a function before a label, then one whose
 * name begins with no underscore, then the first of the table. Labels that no compiler takes for a function's name ("$d",
 * "fib.cold") are none.
 *
 * Life cycle: image_open, questions, image_close. Addresses are the object's own (ELF virtual addresses).
 */
#ifndef GPROF_IMAGE_H
#define GPROF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strings.h"
#include "frames/native/module_file.h"

struct image_symbol {
	uint64_t start;
	uint64_t end;         /* one past its last address: where the next one, or what is no code, begins */
	const char *name;     /* as the symbol table has it; owned by the image */
	const char *readable; /* demangled, or the same as `name`; owned by the image */
	const char *file;     /* path of the source file as in the debug information; NULL: not known */
	uint32_t line;        /* line of its first instruction; 0: not known */
	bool is_static;
	bool is_function; /* false: an untyped label; with -l: a line of the function before it that is not its first */
};

/* A name in the code that is not a symbol here: "fib.cold", and with -a a
 * static function. */
struct image_label {
	uint64_t start;
	const char *name; /* owned by the image */
};

struct image_options {
	bool no_statics;     /* -a: the symbol before a static function gets its figures */
	bool only_functions; /* -D: untyped symbols are none */
	bool all_clones;     /* --clones: "fib.isra.0" and the like are functions of their own */
	bool no_demangle;
	bool with_source; /* fill in file and line, where there is debug information */
};

struct image {
	struct image_symbol *symbols; /* owned; they ascend, no two begin at one address */
	size_t symbol_count, symbol_capacity;
	struct image_label *labels; /* owned; they ascend */
	size_t label_count, label_capacity;
	uint64_t text_start, text_end; /* addresses of .text */
	uint8_t build_id[64];
	size_t build_id_bytes; /* 0: it has none */
	char *path;            /* owned */
	struct module_file file;
	struct strings texts;
};

#define IMAGE_NONE UINT32_MAX

/* ERROR_NOT_FOUND, ERROR_SYSTEM, ERROR_FORMAT (no ELF file), ERROR_MEMORY; an image without symbols opens, and has none. */
int image_open(struct image *image, const char *path, const struct image_options *options, struct error *error);
void image_close(struct image *image);

/* The number of the symbol that an address lies in, or IMAGE_NONE. */
uint32_t image_find(const struct image *image, uint64_t address);

/* The last label that begins at an address or before it; NULL: none. */
const struct image_label *image_label_before(const struct image *image, uint64_t address);

/* The last part of a path, which reports show unless -L is given. */
const char *image_base_name(const char *path);

#endif
