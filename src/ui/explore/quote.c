#include "ui/explore/quote.h"

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
