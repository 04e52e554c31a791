/*
 * Text from outside, made safe for a terminal and for the eyes of a reader. Names of functions,
 * files and programs may contain anything: sequences that command the terminal, and characters that
 * reverse, hide or break the text around them.
 */
#ifndef BASE_SAFE_TEXT_H
#define BASE_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns whether a code point is a control character, changes the direction of text
 * (bidirectional controls), ends a line, or is invisible. */
bool safe_text_refuses(uint32_t point);

/* Writes `size` bytes of text. A control character becomes "\x1b", another refused one "\u202e",
 * and a byte that is not UTF-8 "\xff". The characters in `kept`, such as "\t\n", are written
 * unchanged. */
void safe_text_write(FILE *out, const char *text, size_t size, const char *kept);

/* Returns the text if it is UTF-8 without a refused character, otherwise `instead`: for words
 * that are part of a sentence. */
const char *safe_word(const char *text, const char *instead);

/* Returns whether a stream writes to a terminal. */
bool is_terminal(FILE *out);

#endif
