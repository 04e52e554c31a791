/*
 * What the tests of symbolize/ have in common: a folder to build programs in,
 * the marks that these carry (symbols/mark.h), and profiles of addresses.
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

/* A new folder below $TMPDIR or /tmp, and its removal. */
int lab_setup(void **state);
int lab_teardown(void **state);
/* A file's name inside the folder; valid until the next call but seven. */
const char *lab_path(const char *name);

/* Runs a shell command in the folder; $S in it is the sources' folder, $CC and
 * $OBJCOPY work for the processor of the test. The test fails if the command does. */
void lab_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Same, and returns what it printed, to be freed. */
char *lab_output(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Marks of a file in the folder; their number. */
size_t lab_marks(const char *name, struct mark *marks);
/* The first mark of an id; the test fails if there is none. */
struct mark lab_mark(const char *name, int id);
/* The address of a symbol; the test fails if there is none. */
uint64_t lab_symbol(const char *name, const char *symbol);
/* Where in the file a section begins; *file_bytes: the file's size. */
uint64_t lab_section(const char *name, const char *section, uint64_t *file_bytes);
/* The number of the first line of a source that contains the text. */
uint32_t lab_line(const char *source, const char *text);

/* A profile with one module, a file in the folder, and no locations. */
struct profile *lab_profile(const char *name);
/* Symbolizes, and checks that the profile is sound. */
void lab_symbolize(struct profile *profile);
/* A symbolized profile of one address. */
struct profile *lab_symbolized(const char *name, uint64_t address);

/* Frame `index`, from the innermost, of a location. */
const struct profile_frame *lab_frame(const struct profile *profile, uint32_t location, uint32_t index);
const struct profile_function *lab_function(const struct profile *profile, uint32_t location, uint32_t index);
const char *lab_name(const struct profile *profile, uint32_t location, uint32_t index);
/* Checks a frame: its name; unless NULL its file's last part and its line. */
void lab_expect(const struct profile *profile, uint32_t index, const char *name, const char *file, uint32_t line);

#endif
