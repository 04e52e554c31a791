/*
 * Arbitrary bytes as a function's name: no stage is wider than the name, what was shortened fits where it was to fit, and the parts of the
 * name are inside it. Built for libFuzzer, or with replay.c.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/columns.h"
#include "base/cxx_name.h"
#include "base/short_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { WIDTHS = 40 };
	if (size == 0)
		return 0;
	size_t width = 1 + data[0] % WIDTHS;
	const char *name = (const char *)data + 1;
	size_t length = size - 1, columns = text_columns(name, length);
	struct buffer text;
	buffer_init(&text);
	for (int stage = 0; stage < SHORT_NAME_STAGES; stage++) {
		buffer_clear(&text);
		short_name_append(&text, name, length, (enum short_name_stage)stage);
		require(text_columns((const char *)text.bytes, text.size) <= columns);
		require(length == 0 || text.size > 0);
	}
	buffer_clear(&text);
	short_name_fit(&text, name, length, width);
	require(text_columns((const char *)text.bytes, text.size) <= width);
	struct cxx_name parts = cxx_name_parse(name, length);
	require(parts.start <= parts.end && parts.end <= length);
	buffer_release(&text);
	return 0;
}
