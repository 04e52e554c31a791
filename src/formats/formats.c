#include <string.h>

#include "formats/folded.h"
#include "formats/format.h"
#include "formats/gmon.h"

static const struct convert_format folded = {
	.name = "folded",
	.summary = "one line per call path, 'main;f;g 12', as flame graph tools read and write",
	.import = folded_import,
	.export = folded_export,
};

static const struct convert_format gmon = {
	.name = "gmon",
	.summary = "gmon.out, what gprof reads: calls and samples of one program or library",
	.is_of_object = true,
	.import = gmon_import,
	.export = gmon_export,
};

const struct convert_format *const convert_formats[] = { &folded, &gmon, NULL };

const struct convert_format *convert_find(const char *name)
{
	for (size_t i = 0; convert_formats[i]; i++)
		if (strcmp(convert_formats[i]->name, name) == 0)
			return convert_formats[i];
	return NULL;
}
