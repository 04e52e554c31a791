#include <string.h>

#include "analyze/narrow.h"
#include "analyze/transform.h"
#include "formats/format.h"

const struct format *const formats[] = {
#define X(name) &format_##name,
	FORMATS(X)
#undef X
		NULL,
};

const struct format *format_find(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

const struct format *format_recognise(const unsigned char *start, size_t bytes)
{
	for (int unmarked = 0; unmarked < 2; unmarked++)
		for (size_t i = 0; formats[i]; i++)
			if (formats[i]->is_unmarked == unmarked && formats[i]->import && formats[i]->recognise &&
			    formats[i]->recognise(start, bytes))
				return formats[i];
	return NULL;
}

/* Units of resources, and the words that formats have for them. */
static const char *const UNITS[][2] = { { "ns", "nanoseconds" },
					{ "us", "microseconds" },
					{ "ms", "milliseconds" },
					{ "s", "seconds" },
					{ "byte", "bytes" } };

static const char *translate(const char *text, size_t from, size_t to)
{
	for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++)
		if (strcmp(UNITS[i][from], text) == 0)
			return UNITS[i][to];
	return text;
}

const char *format_unit(const char *unit)
{
	return translate(unit, 0, 1);
}

const char *format_unit_read(const char *word)
{
	return translate(word, 1, 0);
}

static struct call_paths *make_paths(const struct format *format, const struct format_input *input, struct error *error)
{
	struct view_options options = input->view;
	options.by = format->paths == FORMAT_BY_LINE ? VIEW_FRAME : VIEW_FUNCTION;
	options.every_resource = format->has_several && options.resource == PROFILE_NONE;
	return call_paths_new(input->profile, &options, error);
}

static int export_paths(const struct format *format, const struct format_input *input, struct sink *out,
			struct error *error)
{
	struct format_input ready = *input;
	struct call_paths *paths = make_paths(format, input, error);
	if (!paths)
		return error->code;
	ready.paths = paths;
	int code = format->export(&ready, out, error);
	call_paths_free(paths);
	return code;
}

static bool selects_all(const struct view_options *view)
{
	return view->thread == VIEW_ANY && !view->processes && !view->label_sets && view->from_ns == 0 &&
	       view->to_ns == 0;
}

/* Exports from the profile's tables, with the selected hits of all resources. */
static int export_tables(const struct format *format, const struct format_input *input, struct sink *out,
			 struct error *error)
{
	struct format_input ready = *input;
	const struct profile *whole = input->profile;
	struct view_options options = input->view;
	struct profile narrow;
	options.resource = PROFILE_NONE;
	int code = narrow_init(&narrow, whole, &options, error);
	if (code < 0)
		return code;
	ready.profile = &narrow;
	if (narrow.hit_count == 0 && whole->hit_count > 0)
		code = error_set(error, ERROR_NOT_FOUND, "cannot export: no hits in this selection");
	else
		code = format->export(&ready, out, error);
	narrow_release(&narrow);
	return code;
}

/* Exports from a profile that has been transformed. */
static int export_selection(const struct format *format, const struct format_input *input, struct sink *out,
			    struct error *error)
{
	int code;
	if (format->paths != FORMAT_NO_PATHS)
		code = export_paths(format, input, out, error);
	else if (format->options & SETTING_LABEL && !selects_all(&input->view))
		code = export_tables(format, input, out, error);
	else
		code = format->export(input, out, error);
	if (code < 0 && error->code == 0)
		error_set(error, code, "cannot export: %s", error_text(code));
	return code < 0 ? code : sink_finish(out, format->title, error);
}

int format_export(const struct format *format, const struct format_input *input, struct sink *out, struct error *error)
{
	struct format_input ready = *input;
	*error = (struct error){ 0 };
	struct transformed *transformed;
	if (transformed_get(input->profile, &input->view, &transformed, error) < 0)
		return error->code;
	if (transformed)
		ready.profile = transformed_profile(transformed);
	ready.view.transforms = NULL;
	int code = export_selection(format, &ready, out, error);
	transformed_drop(transformed);
	return code;
}
