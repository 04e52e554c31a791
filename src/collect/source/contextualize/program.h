/*
 * The functions of a program's sources, and their calls, as libclang finds them: the input of contextualize.h.
 *
 *     sources ---- libclang: one unit for each ---- functions with a body in the user's files
 *                                                      calls, by name or through a parameter, with their arguments
 *                                                      parameters that are function pointers, and their uses
 *
 * All texts are in the arena. Units stay parsed until program_release, because cursors refer to them.
 */
#ifndef COLLECT_SOURCE_CONTEXTUALIZE_PROGRAM_H
#define COLLECT_SOURCE_CONTEXTUALIZE_PROGRAM_H

#include "base/hash_map.h"
#include "collect/source/instrument/arena.h"
#include "collect/source/instrument/clang.h"
#include "collect/source/instrument/instrument.h"
#include "collect/source/instrument/words.h"

#define PROGRAM_NONE SIZE_MAX

struct program_unit {
	CXTranslationUnit unit;
	struct words words;
	const char *path, *directory; /* as given to the compiler; directory NULL: the current one */
	bool is_cxx;
};

struct program_file {
	const char *path; /* without links */
	const char *text; /* owned by libclang */
	size_t size;
	size_t unit;   /* the first one that contains it */
	CXFile handle; /* in that unit */
};

struct program_argument {
	uint32_t start, end; /* in bytes of the caller's file */
	bool in_macro;
	size_t parameter; /* the caller's parameter that is passed on; PROGRAM_NONE: another value */
	const char *usr;  /* the function that is passed; NULL: another value */
	CXCursor function;
};

struct program_call {
	const char *usr; /* of the called function; NULL: called through the parameter */
	size_t parameter;
	CXCursor callee;   /* the declaration that the caller's unit has */
	uint32_t at, size; /* of the name, in bytes */
	bool in_macro;
	struct program_argument *arguments;
	size_t argument_count;
};

struct program_parameter {
	const char *name, *type; /* as spelled by libclang */
	uint32_t start, end;
	bool in_macro;
	bool is_pointer;   /* to a function */
	bool is_modified;  /* perhaps: assigned, or its address taken */
	bool is_needed;    /* the rest of the head names it: the list of K&R, the size of an array, a decltype */
	bool can_be_local; /* its declaration, with a value behind it, can declare a variable */
};

/* A place where a parameter is named. */
struct program_use {
	size_t parameter;
	uint32_t at;
	bool in_macro;
};

struct program_function {
	const char *usr;       /* program_usr */
	const char *name;      /* "f" */
	const char *qualified; /* "ns::C::f" */
	size_t unit, file;     /* file PROGRAM_NONE: a library function without a source, which calls nothing */
	CXCursor cursor;
	uint32_t start, name_at, open, end; /* open: of the `{`; end: behind the `}` */
	const char *shown_file;             /* of the name, as #line states it and debug information has it */
	uint32_t shown_line;
	bool is_method, is_inline, has_storage; /* has_storage: declared static or extern */
	bool is_unread; /* without a source, and declared by the program's own files: it may be the program's */
	const char *
		refusal; /* why its text cannot be copied: "it has a static variable"; NULL: it can. See program_symbol_of */
	struct program_parameter *parameters;
	size_t parameter_count;
	struct program_call *calls;
	size_t call_count, call_capacity;
	struct program_use *uses;
	size_t use_count, use_capacity;
};

struct program {
	const struct clang *clang;
	CXIndex index;
	struct instrument_arena *arena;
	struct program_unit *units;
	size_t unit_count, unit_capacity;
	struct program_file *files;
	size_t file_count, file_capacity;
	struct program_function *functions;
	size_t function_count, function_capacity;
	struct hash_map by_usr; /* hash of a USR -> index of the function with a definition */
	int error;              /* ERROR_MEMORY */
	/* A file with definitions of library functions, as of qsort, from which only copies are made; not owned, NULL: none. */
	const char *supplied_path;
	size_t supplied_unit, supplied_file; /* PROGRAM_NONE: it has not been parsed so far */
};

/* Loads libclang. Returns 0 or a negative error. The caller releases the program in any case, and may set supplied_path before the first
 * path is contextualized. */
int program_init(struct program *program, struct error *error);
/* Parses one source and adds its functions. Returns 0; ERROR_FORMAT with "FILE:LINE: text" if clang does not understand
 * it; or another negative error. */
int program_add(struct program *program, const struct instrument_source *source, struct error *error);
void program_release(struct program *program);

/* Parses a source of the program again, with these texts instead of the texts of files. Returns 0, or ERROR_FORMAT with
 * clang's first error. */
int program_check(struct program *program, size_t unit, struct CXUnsavedFile *texts, size_t count, struct error *error);

/* Parses the supplied file once, with the options of a unit that calls its functions, and adds its functions. Returns 0;
 * ERROR_UNSUPPORTED if the unit is C++; or the error of program_add. */
int program_supply(struct program *program, size_t unit, struct error *error);

static inline bool program_is_supplied(const struct program *program, const struct program_function *function)
{
	return function->file != PROGRAM_NONE && function->file == program->supplied_file;
}

/* Returns the function with a definition, or PROGRAM_NONE. */
size_t program_find(const struct program *program, const char *usr);
/* Adds a function of a library, which has only a declaration. Returns its index, or PROGRAM_NONE (program->error). */
size_t program_add_library(struct program *program, size_t unit, CXCursor declaration);

/* Finds a declaration of a function in a unit. Returns whether there is one; *is_visible is
 * whether it precedes an offset of a file. */
bool program_declared(const struct program *program, size_t unit, const char *usr, size_t file, uint32_t offset,
		      CXCursor *found, bool *is_visible);

/* Returns the index of a file of a unit, or PROGRAM_NONE. Adds it if `add` is set. */
size_t program_file(struct program *program, size_t unit, CXFile file, bool add);

/* Properties of a symbol and its parameters, as the declarations of a function and pragmas state them. */
struct program_symbol {
	const char *refusal;     /* why a copy would differ, as of a constructor or a weak symbol; NULL: it would not */
	bool numbers_parameters; /* an attribute has the number of a parameter: nonnull(2) */
};

/* Goes through the unit of a function with a body. */
struct program_symbol program_symbol_of(const struct program *program, const struct program_function *function);

/* Returns whether a preprocessor directive has these words: "weak", "f" for `#pragma weak f`, "define", "f" for `#define f(x)`. */
bool program_has_directive(const struct program *program, const char *word, const char *name);

/* Returns whether a unit defines a macro of this name. */
bool program_has_macro(const struct program *program, size_t unit, const char *name);

/* Returns whether a unit contains the definition of a function, as of one in a header. */
bool program_defined(const struct program *program, size_t unit, const char *usr);

/* Sets the range of a cursor. Returns whether it is in one file and not in a macro; *file is its
 * index, or PROGRAM_NONE if no function of the program is in it. */
bool program_range(const struct program *program, size_t unit, CXCursor cursor, size_t *file, uint32_t *start,
		   uint32_t *end);
/* Returns a name of a function that is equal in all units, and different for static functions of two files: libclang's USR, for static
 * functions with the path of their definition, because a USR has only its last component. */
const char *program_usr(const struct program *program, size_t unit, CXCursor cursor);
/* Returns the name of a function with its namespaces and classes: "ns::C::f". */
const char *program_qualified(const struct program *program, CXCursor cursor);
/* Returns the text of a declaration as clang prints it, in the arena: without its body, and with the attributes that macros contain. */
const char *program_printed(const struct program *program, CXCursor cursor);
/* Returns a copy of a libclang string in the arena, and disposes of the string. */
const char *program_text(const struct program *program, CXString string);

/* calls.c: the calls in a function, and the uses of its parameters. */

/* Fills in calls, uses, is_modified and, if the function's code forbids a copy, the refusal. Calls in lambdas are left out.
 * Sets program->error. */
void calls_take(struct program *program, struct program_function *function, CXCursor body);

#endif
