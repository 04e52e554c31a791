/*
 * The interpreters whose functions walks can note (abi/interpreter.h). Each is a file and a row in interpreters.c.
 *
 * Async-signal-unsafe; called in the monitor, for files that the target maps: a file is only read within its bounds.
 */
#ifndef FRAMES_INTERPRETERS_INTERPRETERS_H
#define FRAMES_INTERPRETERS_INTERPRETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/interpreter.h"
#include "elf/dynamic_symbol.h"

struct interpreter_row {
	enum interpreter_kind kind;
	const char *language; /* "Python", for messages */
	const char *file;     /* beginning of the names of its programs and, after "lib", of its libraries */
	const char *symbol;   /* that each such interpreter exports, and no other file */

	/* Fills in the interpreter from its file; addresses are ELF virtual addresses. Returns false if its version is not
	 * known; then *version is that, for a message. */
	bool (*describe)(struct elf_file *file, const struct dynamic_symbols *symbols, struct interpreter *interpreter,
			 uint32_t *version);

	/* Returns the line that executes at `place` of a function, or 0 if the table does not have it. */
	uint32_t (*line_at)(const uint8_t *table, size_t bytes, uint32_t first_line, uint32_t place);
};

extern const struct interpreter_row interpreter_python;

/* Returns the layout of a version of CPython as Py_Version states it, or NULL if it is not known. */
const struct python_layout *interpreters_python_layout(uint32_t version);

/* Returns the row of the interpreter that the file contains, or NULL if it contains none. If the interpreter's version
 * is not known, interpreter->kind is INTERPRETER_NONE, and *version is set. */
const struct interpreter_row *interpreters_find(struct elf_file *file, struct interpreter *interpreter,
						uint32_t *version);

/* Returns whether the path is one that the file of an interpreter usually has. */
bool interpreters_are_named(const char *path);

/* Returns the row of a kind, or NULL. */
const struct interpreter_row *interpreters_row(uint32_t kind);

#endif
