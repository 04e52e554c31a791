#include <string.h>

#include "convert/folded.h"
#include "convert/format.h"

static const struct convert_format folded = {
	.name = "folded",
	.summary = "one line per call path, 'main;f;g 12', as flame graph tools read and write",
	.import = folded_import,
	.export = folded_export,
};

const struct convert_format *const convert_formats[] = { &folded, NULL };

const struct convert_format *convert_find(const char *name)
{
	for (size_t i = 0; convert_formats[i]; i++)
		if (strcmp(convert_formats[i]->name, name) == 0)
			return convert_formats[i];
	return NULL;
}
