/*
 * The subjects of gprof's reports: the functions of one loaded object, by its symbol table; with -l, its source
 * lines.
 *
 * A symbol extends to the next one, regardless of its size, as in gprof: padding belongs to the symbol before it. If
 * several symbols have one address, one is kept: a global one rather than a static one, then a function rather than
 * a label, then a name without a leading underscore, then the first one in the table. Labels with names that no
 * compiler gives to functions ("$d", "fib.cold") are not symbols.
 *
 * The symbols and the debug information are read in a jail (frames/jail/once.h): anybody may have made the file.
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

struct elf_file;
struct module_file;

struct image_symbol {
	uint64_t start;
	uint64_t end;         /* one past its last address: start of the next symbol, or end of the code */
	const char *name;     /* from the symbol table; owned by the image */
	const char *readable; /* demangled, or the same as `name`; owned by the image */
	const char *file;     /* path in the debug information; owned by the image; NULL: not known */
	uint32_t line;        /* line of its first instruction; 0: not known */
	bool is_static;
	bool is_function; /* false: an untyped label or, with -l, a line that is not a function's first */
};

/* A name of code that is not a symbol here: "fib.cold" and, with -a, a static function. */
struct image_label {
	uint64_t start;
	const char *name; /* owned by the image */
};

struct image_options {
	bool no_statics;     /* -a: the figures of a static function go to the symbol before it */
	bool only_functions; /* -D: leave out untyped symbols */
	bool all_clones;     /* --clones: "fib.isra.0" and the like are separate functions */
	bool no_demangle;
	bool with_source; /* fill in file and line from debug information */
	bool by_line;     /* -l: the lines of functions instead of functions (lines.c) */
};

struct image {
	struct image_symbol *symbols; /* owned; sorted by start, which is unique */
	size_t symbol_count, symbol_capacity;
	struct image_label *labels; /* owned; sorted by start */
	size_t label_count, label_capacity;
	uint64_t text_start, text_end; /* addresses of .text */
	uint8_t build_id[64];
	size_t build_id_bytes;    /* 0: it has none */
	char *path;               /* owned */
	uint64_t author;          /* file_author */
	struct elf_file *bytes;   /* owned; the code; NULL: a file of another machine */
	struct module_file *file; /* while its symbols are read; NULL otherwise */
	struct strings texts;
};

#define IMAGE_NONE UINT32_MAX

/* Opens an image, which may have no symbols. Returns 0, ERROR_NOT_FOUND, ERROR_SYSTEM,
 * ERROR_FORMAT (not an ELF file), ERROR_LIMIT or ERROR_CORRUPT (the jail exceeded a limit, or
 * ended), ERROR_MEMORY or another negative error, with `error` set; after an error there is
 * nothing to close. */
int image_open(struct image *image, const char *path, const struct image_options *options, struct error *error);
/* The same for a file that is open; the caller closes it. */
int image_open_from(struct image *image, int fd, const char *path, const struct image_options *options,
		    struct error *error);
void image_close(struct image *image);

/* Returns the number of the symbol that contains an address, or IMAGE_NONE if there is none. */
uint32_t image_find(const struct image *image, uint64_t address);

/* Returns the last label that begins at an address or before it, or NULL if there is none. */
const struct image_label *image_label_before(const struct image *image, uint64_t address);

#endif
