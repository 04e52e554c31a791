#include "formats/input_text.h"

#include <stdio.h>
#include <string.h>

#include "formats/import_tree.h"

size_t input_text_end(char *line, size_t length)
{
	while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
		line[--length] = 0;
	return length;
}

const char *input_text_skip_blanks(const char *text)
{
	while (input_text_is_blank(*text))
		text++;
	return text;
}

static const char *read_digits(const char *text, uint64_t base, uint64_t most, uint64_t *number)
{
	static const char digits[] = "0123456789abcdef";
	const char *start = text;
	*number = 0;
	for (const char *found; *text; text++) {
		found = memchr(digits, *text >= 'A' && *text <= 'F' ? *text - 'A' + 'a' : *text, base);
		if (!found)
			break;
		uint64_t digit = (uint64_t)(found - digits);
		if (digit > most || *number > (most - digit) / base)
			return NULL;
		*number = *number * base + digit;
	}
	return text > start ? text : NULL;
}

const char *input_text_number(const char *text, uint64_t most, uint64_t *number)
{
	enum { DECIMAL = 10 };
	return read_digits(text, DECIMAL, most, number);
}

const char *input_text_hex(const char *text, uint64_t most, uint64_t *number)
{
	enum { HEXADECIMAL = 16 };
	return read_digits(text, HEXADECIMAL, most, number);
}

const char *input_text_seconds(const char *text, uint64_t *ns)
{
	static const uint64_t second = 1000000000;
	uint64_t seconds, fraction, unit = second;
	const char *point = input_text_number(text, UINT64_MAX / second - 1, &seconds);
	if (!point || *point != '.')
		return NULL;
	const char *next = input_text_number(point + 1, second - 1, &fraction);
	if (!next)
		return NULL;
	for (ptrdiff_t i = 0; i < next - point - 1 && unit > 1; i++)
		unit /= 10;
	*ns = seconds * second + fraction * unit;
	return next;
}

size_t input_text_without_offset(const char *text, size_t length)
{
	size_t at = length;
	while (at > 0 && text[at - 1] != '+')
		at--;
	bool is_offset = at > 1 && length - at > 2 && text[at] == '0' && text[at + 1] == 'x' &&
			 strspn(text + at + 2, "0123456789abcdef") >= length - at - 2;
	return is_offset ? at - 1 : length;
}

enum frame_kind input_text_kind(const char *module)
{
	bool is_generated =
		strncmp(module, "/tmp/perf-", strlen("/tmp/perf-")) == 0 || strstr(module, "/jitted-") != NULL;
	if (import_tree_is_kernel(module))
		return FRAME_KERNEL;
	return is_generated ? FRAME_JIT : FRAME_NATIVE;
}

size_t input_text_address(char name[INPUT_TEXT_ADDRESS_BYTES], const char *module, const char *digits, size_t count)
{
	enum { DIGITS_MOST = 16 };
	const char *base = strrchr(module, '/') ? strrchr(module, '/') + 1 : module;
	return (size_t)snprintf(name, INPUT_TEXT_ADDRESS_BYTES, "%.30s%s0x%.*s", base, base[0] ? "+" : "",
				(int)(count < DIGITS_MOST ? count : DIGITS_MOST), digits);
}
