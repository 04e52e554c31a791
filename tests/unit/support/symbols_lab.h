/*
 * Shared by the tests of frames/native: a folder in which programs are built, the marks in these programs
 * (frames/native/symbols/mark.h), and profiles of addresses.
 */
#ifndef TESTS_SYMBOLS_LAB_H
#define TESTS_SYMBOLS_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

enum { LAB_MARKS = 64 };

struct mark {
	int id;
	uint32_t line;
	uint64_t address;
};

/* cmocka fixtures: make a new folder below $TMPDIR or /tmp, and remove it. */
int lab_setup(void **state);
int lab_teardown(void **state);
/* Returns the path of a file in the folder, valid for the next seven calls. */
const char *lab_path(const char *name);

/* Runs a shell command in the folder; $S in it is the sources' folder, $CC and
 * $OBJCOPY work for the processor of the test. The test fails if the command fails. */
void lab_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same. Returns the command's output, which the caller frees. */
char *lab_output(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reads the marks of a file in the folder, at most LAB_MARKS. Returns their number. */
size_t lab_marks(const char *name, struct mark *marks);
/* Returns the first mark with this id; the test fails if there is none. */
struct mark lab_mark(const char *name, int id);
/* Returns the address of a symbol; the test fails if there is none. */
uint64_t lab_symbol(const char *name, const char *symbol);
/* Returns the offset of a section in the file, and the file's size in *file_bytes. */
uint64_t lab_section(const char *name, const char *section, uint64_t *file_bytes);
/* Returns the number of the first line of a source that contains the text. */
uint32_t lab_line(const char *source, const char *text);

/* Returns a profile with one module, which is a file in the folder, and no locations. */
struct profile *lab_profile(const char *name);
/* Symbolizes a profile and checks that it is consistent. */
void lab_symbolize(struct profile *profile);
/* Returns a symbolized profile with one address. */
struct profile *lab_symbolized(const char *name, uint64_t address);

/* Return frame `index` of a location, counted from the innermost, its function, and its function's name. */
const struct profile_frame *lab_frame(const struct profile *profile, uint32_t location, uint32_t index);
const struct profile_function *lab_function(const struct profile *profile, uint32_t location, uint32_t index);
const char *lab_name(const struct profile *profile, uint32_t location, uint32_t index);
/* Checks a frame of the first location: its name and, unless `file` is NULL, the last component of its file and
 * its line. */
void lab_expect(const struct profile *profile, uint32_t index, const char *name, const char *file, uint32_t line);

#endif
