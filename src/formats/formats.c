#include <string.h>

#include "formats/format.h"

/* meson.build defines FORMAT_ROWS as ROW(folded) ROW(gmon) ... */
#define ROW(name) extern const struct format format_##name;
FORMAT_ROWS
#undef ROW

#define ROW(name) &format_##name,
const struct format *const formats[] = { FORMAT_ROWS NULL };
#undef ROW

const struct format *format_find(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

const char *format_unit(const char *unit)
{
	static const char *const words[][2] = { { "ns", "nanoseconds" },
						{ "us", "microseconds" },
						{ "ms", "milliseconds" },
						{ "s", "seconds" },
						{ "byte", "bytes" } };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i][0], unit) == 0)
			return words[i][1];
	return unit;
}

static struct call_paths *make_paths(const struct format *format, const struct format_input *input, struct error *error)
{
	struct view_options options = input->view;
	options.by = format->paths == FORMAT_BY_LINE ? VIEW_FRAME : VIEW_FUNCTION;
	options.every_resource = format->has_several && options.resource == PROFILE_NONE;
	return call_paths_new(input->profile, &options, error);
}

int format_export(const struct format *format, const struct format_input *input, struct sink *out, struct error *error)
{
	struct format_input ready = *input;
	struct call_paths *paths = NULL;
	if (format->paths != FORMAT_NO_PATHS) {
		paths = make_paths(format, input, error);
		if (!paths)
			return error->code;
		ready.paths = paths;
	}
	int code = format->export(&ready, out, error);
	call_paths_free(paths);
	return code < 0 ? code : sink_finish(out, format->title, error);
}
