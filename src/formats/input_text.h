/* Parts of the text that other tools print about code and times: numbers, times in seconds, names of symbols. */
#ifndef FORMATS_INPUT_TEXT_H
#define FORMATS_INPUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

static inline bool input_text_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Ends a line before its line feed and carriage return. Returns its length then. */
size_t input_text_end(char *line, size_t length);

/* Returns what follows the blanks and tabs at the start. */
const char *input_text_skip_blanks(const char *text);

/* Reads a decimal number of at most `most`. Returns what follows it, or NULL if there is none. */
const char *input_text_number(const char *text, uint64_t most, uint64_t *number);

/* The same for hexadecimal digits. */
const char *input_text_hex(const char *text, uint64_t most, uint64_t *number);

/* Reads "1234.567890", in seconds with at most 9 digits behind the point. Returns what follows it, or NULL. */
const char *input_text_seconds(const char *text, uint64_t *ns);

/* Returns the length of "name+0x1d" without the offset. */
size_t input_text_without_offset(const char *text, size_t length);

/* Returns the kind of the code in a module. perf reads the names of generated code from
 * /tmp/perf-PID.map, and the names of jitdump from libraries that it writes. */
enum frame_kind input_text_kind(const char *module);

enum { INPUT_TEXT_ADDRESS_BYTES = 64 };

/* Writes the name of code without a symbol: "prog+0x55d0c222", or the address alone if the
 * module is "". `digits` are the address's first `count` hexadecimal digits. Returns the name's
 * length. */
size_t input_text_address(char name[INPUT_TEXT_ADDRESS_BYTES], const char *module, const char *digits, size_t count);

#endif
