#include "base/quote.h"

#include <stdbool.h>
#include <string.h>

const char *quote_text(char shown[QUOTE_BYTES], const char *text, size_t length)
{
	size_t room = QUOTE_BYTES - sizeof("'...'");
	bool cut = length > room;
	if (cut) {
		length = room;
		while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
	}
	size_t at = 0;
	shown[at++] = '\'';
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];
		shown[at++] = (char)(byte < ' ' || byte == 0x7f ? '?' : byte);
	}
	memcpy(shown + at, cut ? "...'" : "'", cut ? 5 : 2);
	return shown;
}

void quote_for_shell(struct buffer *line, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%^";
	if (word[0] && strspn(word, plain) == strlen(word)) {
		buffer_append_string(line, word);
		return;
	}
	buffer_append_byte(line, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buffer_append_string(line, "'\\''");
		else
			buffer_append_byte(line, (uint8_t)*word);
	}
	buffer_append_byte(line, '\'');
}

static bool is_white(char byte)
{
	return byte && strchr(" \t\r\n\v\f", byte);
}

const char *quote_strip(const char *text, size_t length, size_t *bare_length)
{
	while (length && is_white(text[0]))
		text++, length--;
	while (length && is_white(text[length - 1]))
		length--;
	char mark = length >= 2 ? text[0] : 0;
	if ((mark == '\'' || mark == '"') && memchr(text + 1, mark, length - 1) == text + length - 1) {
		text++;
		length -= 2;
	}
	*bare_length = length;
	return text;
}
