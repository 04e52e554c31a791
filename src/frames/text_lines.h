/* Reads the lines of foreign text files, such as maps of symbols. */
#ifndef FRAMES_TEXT_LINES_H
#define FRAMES_TEXT_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Takes one line, without its newline and without a terminator. Returns 0, or an error that ends the reading. */
typedef int text_line_take(void *context, const char *line, size_t length);

/* Passes the lines of a file to `take`, from the file's beginning, whatever the descriptor's position is. A line is cut after
 * 16 KB; a last line without a newline is left out, and so are holes of the file. Returns 0, an error of `take`, ERROR_MEMORY, or ERROR_SYSTEM with errno
 * set. */
int text_lines_read(int fd, text_line_take *take, void *context);

/* Reads a hexadecimal number of at most 16 digits, with or without "0x", and the space behind it. Returns what follows, or
 * NULL. */
const char *text_line_number(const char *text, const char *end, uint64_t *number);

#endif
