#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "formats/firefox.h"

/* In the order of the list of categories in firefox.c. The call paths of a trace are the program's. */
enum category {
	CATEGORY_OTHER,
	CATEGORY_PROGRAM,
	CATEGORY_LIBRARY,
	CATEGORY_KERNEL,
	CATEGORY_JIT,
	CATEGORY_INTERPRETER
};
enum { RESOURCE_LIBRARY = 1 };

struct tables {
	struct firefox *firefox;
	const struct call_paths *paths;
	bool *is_own;          /* per frame of the paths: whether it is the program's own code */
	uint32_t *function_of; /* per frame of the paths: its function */
	uint32_t *first_frame; /* per function: its first frame */
	uint32_t function_count;
	struct strings modules; /* string n is library n - 1; string 0 is "" */
	struct strings files;   /* string n is source n - 1 */
};

uint32_t firefox_string(struct firefox *firefox, const char *text)
{
	int64_t id = strings_add(&firefox->strings, text, strlen(text));
	if (id < 0)
		firefox->json.status = (int)id;
	return id < 0 ? 0 : (uint32_t)id;
}

static uint32_t id_in(struct tables *tables, struct strings *strings, const char *text)
{
	int64_t id = strings_add(strings, text, strlen(text));
	if (id < 0)
		tables->firefox->json.status = (int)id;
	return id < 0 ? 0 : (uint32_t)id;
}

/* --- columns --- */

/* Writes a column of a table: `write` writes element number `row`. */
typedef void write_element(struct tables *tables, uint32_t row);

static void write_column(struct tables *tables, const char *name, uint32_t count, write_element *write)
{
	struct json_out *json = &tables->firefox->json;
	json_out_text(json, ",\"");
	json_out_text(json, name);
	json_out_text(json, "\":[");
	for (uint32_t row = 0; row < count && !json_out_failed(json); row++) {
		if (row > 0)
			json_out_text(json, ",");
		write(tables, row);
	}
	json_out_text(json, "]");
}

static void begin_table(struct tables *tables, const char *name, uint32_t count)
{
	struct json_out *json = &tables->firefox->json;
	json_out_text(json, ",\n\"");
	json_out_text(json, name);
	json_out_text(json, "\":{\"length\":");
	json_out_number(json, count);
}

static void end_table(struct tables *tables)
{
	json_out_text(&tables->firefox->json, "}");
}

static void write_null(struct tables *tables, uint32_t row)
{
	(void)row;
	json_out_text(&tables->firefox->json, "null");
}

static void write_zero(struct tables *tables, uint32_t row)
{
	(void)row;
	json_out_text(&tables->firefox->json, "0");
}

static void write_none(struct tables *tables, uint32_t row)
{
	(void)row;
	json_out_text(&tables->firefox->json, "-1");
}

static void write_false(struct tables *tables, uint32_t row)
{
	(void)row;
	json_out_text(&tables->firefox->json, "false");
}

/* Writes an id of 1 and more as an index from 0 on, and 0 as `none`. */
static void write_index(struct tables *tables, uint32_t id, const char *none)
{
	if (id > 0)
		json_out_number(&tables->firefox->json, id - 1);
	else
		json_out_text(&tables->firefox->json, none);
}

/* --- stacks and frames: those of the paths, then those of the trace --- */

static uint32_t path_stacks(const struct tables *tables)
{
	return tables->paths->count > 0 ? (uint32_t)tables->paths->count - 1 : 0;
}

static void write_stack_frame(struct tables *tables, uint32_t row)
{
	uint32_t own = path_stacks(tables);
	const struct call_paths *paths = tables->paths;
	json_out_number(&tables->firefox->json, row < own
							? paths->frame[row + 1]
							: paths->frame_count + tables->firefox->calls[row - own].name);
}

static void write_stack_prefix(struct tables *tables, uint32_t row)
{
	uint32_t own = path_stacks(tables);
	if (row < own) {
		write_index(tables, tables->paths->parent[row + 1], "null");
		return;
	}
	uint32_t parent = tables->firefox->calls[row - own].parent;
	write_index(tables, parent == PROFILE_NONE ? 0 : parent + 1, "null");
}

static void write_frame_function(struct tables *tables, uint32_t row)
{
	size_t own = tables->paths->frame_count;
	json_out_number(&tables->firefox->json,
			row < own ? tables->function_of[row] : tables->function_count + row - own);
}

static void write_frame_line(struct tables *tables, uint32_t row)
{
	uint32_t line = row < tables->paths->frame_count ? tables->paths->frames[row].line : 0;
	if (line > 0)
		json_out_number(&tables->firefox->json, line);
	else
		json_out_text(&tables->firefox->json, "null");
}

static void write_frame_depth(struct tables *tables, uint32_t row)
{
	bool is_inlined = row < tables->paths->frame_count && tables->paths->frames[row].inlined;
	json_out_number(&tables->firefox->json, is_inlined);
}

static enum category category_of(const struct tables *tables, uint32_t row)
{
	if (row >= tables->paths->frame_count)
		return CATEGORY_PROGRAM;
	switch ((enum frame_kind)tables->paths->frames[row].kind) {
	case FRAME_NATIVE:
		return tables->is_own[row] ? CATEGORY_PROGRAM : CATEGORY_LIBRARY;
	case FRAME_KERNEL:
		return CATEGORY_KERNEL;
	case FRAME_JIT:
		return CATEGORY_JIT;
	case FRAME_INTERPRETER:
		return CATEGORY_INTERPRETER;
	default:
		return CATEGORY_OTHER;
	}
}

static void write_frame_category(struct tables *tables, uint32_t row)
{
	json_out_number(&tables->firefox->json, category_of(tables, row));
}

static uint32_t event_names(const struct tables *tables)
{
	return tables->firefox->events ? call_events_name_count(tables->firefox->events) : 0;
}

static void write_stacks(struct tables *tables)
{
	uint32_t stacks = path_stacks(tables) + (uint32_t)tables->firefox->call_count;
	uint32_t frames = (uint32_t)tables->paths->frame_count + event_names(tables);
	begin_table(tables, "stackTable", stacks);
	write_column(tables, "frame", stacks, write_stack_frame);
	write_column(tables, "prefix", stacks, write_stack_prefix);
	end_table(tables);
	begin_table(tables, "frameTable", frames);
	write_column(tables, "address", frames, write_none);
	write_column(tables, "inlineDepth", frames, write_frame_depth);
	write_column(tables, "category", frames, write_frame_category);
	write_column(tables, "subcategory", frames, write_zero);
	write_column(tables, "func", frames, write_frame_function);
	write_column(tables, "nativeSymbol", frames, write_null);
	write_column(tables, "innerWindowID", frames, write_null);
	write_column(tables, "line", frames, write_frame_line);
	write_column(tables, "column", frames, write_null);
	end_table(tables);
}

/* --- functions --- */

/* Frames are in the order of their names. */
static void number_functions(struct tables *tables)
{
	const struct path_frame *frames = tables->paths->frames;
	for (uint32_t i = 0; i < tables->paths->frame_count; i++) {
		if (i == 0 || strcmp(frames[i].name, frames[i - 1].name) != 0)
			tables->first_frame[tables->function_count++] = i;
		tables->function_of[i] = tables->function_count - 1;
	}
}

static const struct path_frame *first_frame(const struct tables *tables, uint32_t function)
{
	return &tables->paths->frames[tables->first_frame[function]];
}

/* Returns a frame of the function. A function of the trace has the frame of the function of the paths that has its name, or NULL. */
static const struct path_frame *frame_of(const struct tables *tables, uint32_t function)
{
	if (function < tables->function_count)
		return first_frame(tables, function);
	const char *name = call_events_name(tables->firefox->events, function - tables->function_count);
	uint32_t low = 0, high = tables->function_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (strcmp(first_frame(tables, middle)->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	bool is_there = low < tables->function_count && strcmp(first_frame(tables, low)->name, name) == 0;
	return is_there ? first_frame(tables, low) : NULL;
}

static const char *file_of(const struct path_frame *frame)
{
	return frame->home_file[0] ? frame->home_file : frame->file;
}

static void write_function_name(struct tables *tables, uint32_t row)
{
	const struct path_frame *frame = frame_of(tables, row);
	const char *name =
		frame ? frame->name : call_events_name(tables->firefox->events, row - tables->function_count);
	json_out_number(&tables->firefox->json, firefox_string(tables->firefox, name));
}

static void write_function_module(struct tables *tables, uint32_t row)
{
	const struct path_frame *frame = frame_of(tables, row);
	write_index(tables, frame ? id_in(tables, &tables->modules, frame->module) : 0, "-1");
}

static void write_function_source(struct tables *tables, uint32_t row)
{
	const struct path_frame *frame = frame_of(tables, row);
	write_index(tables, frame ? id_in(tables, &tables->files, file_of(frame)) : 0, "null");
}

static void write_function_line(struct tables *tables, uint32_t row)
{
	const struct path_frame *frame = frame_of(tables, row);
	if (frame && frame->home_line)
		json_out_number(&tables->firefox->json, frame->home_line);
	else
		json_out_text(&tables->firefox->json, "null");
}

static void write_functions(struct tables *tables)
{
	uint32_t count = tables->function_count + event_names(tables);
	begin_table(tables, "funcTable", count);
	write_column(tables, "name", count, write_function_name);
	write_column(tables, "isJS", count, write_false);
	write_column(tables, "relevantForJS", count, write_false);
	write_column(tables, "resource", count, write_function_module);
	write_column(tables, "source", count, write_function_source);
	write_column(tables, "lineNumber", count, write_function_line);
	write_column(tables, "columnNumber", count, write_null);
	end_table(tables);
}

/* --- modules, files, strings --- */

static void write_row(struct tables *tables, uint32_t row)
{
	json_out_number(&tables->firefox->json, row);
}

static void write_library_type(struct tables *tables, uint32_t row)
{
	(void)row;
	json_out_number(&tables->firefox->json, RESOURCE_LIBRARY);
}

static void write_module_name(struct tables *tables, uint32_t row)
{
	const char *path = strings_get(&tables->modules, row + 1);
	json_out_number(&tables->firefox->json, firefox_string(tables->firefox, path_basename(path)));
}

static void write_file_name(struct tables *tables, uint32_t row)
{
	json_out_number(&tables->firefox->json, firefox_string(tables->firefox, strings_get(&tables->files, row + 1)));
}

static void write_modules(struct tables *tables)
{
	uint32_t modules = (uint32_t)tables->modules.count - 1, files = (uint32_t)tables->files.count - 1;
	begin_table(tables, "resourceTable", modules);
	write_column(tables, "lib", modules, write_row);
	write_column(tables, "name", modules, write_module_name);
	write_column(tables, "host", modules, write_null);
	write_column(tables, "type", modules, write_library_type);
	end_table(tables);
	begin_table(tables, "sources", files);
	write_column(tables, "id", files, write_null);
	write_column(tables, "filename", files, write_file_name);
	end_table(tables);
	begin_table(tables, "nativeSymbols", 0);
	json_out_text(&tables->firefox->json, ",\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]");
	end_table(tables);
}

static void write_field(struct json_out *json, const char *key, const char *text)
{
	json_out_text(json, key);
	json_out_string(json, text);
}

static void write_library(struct tables *tables, const char *path)
{
	const struct profile *profile = tables->paths->profile;
	struct json_out *json = &tables->firefox->json;
	char id[2 * PROFILE_BUILD_ID_MAX + 1] = "";
	for (size_t i = 0; i < profile->module_count && !id[0]; i++) {
		const struct profile_module *module = &profile->modules[i];
		if (strcmp(profile_string(profile, module->path), path) == 0)
			for (size_t n = 0; n < module->build_id_bytes; n++)
				snprintf(id + 2 * n, 3, "%02x", module->build_id[n]);
	}
	write_field(json, "{\"arch\":\"\",\"breakpadId\":\"\",\"name\":", path_basename(path));
	write_field(json, ",\"debugName\":", path_basename(path));
	write_field(json, ",\"path\":", path);
	write_field(json, ",\"debugPath\":", path);
	if (id[0])
		write_field(json, ",\"codeId\":", id);
	json_out_text(json, id[0] ? "}" : ",\"codeId\":null}");
}

static void write_all(struct tables *tables)
{
	struct json_out *json = &tables->firefox->json;
	json_out_text(json, ",\n\"shared\":{\"from\":\"cpprof\"");
	write_stacks(tables);
	write_functions(tables);
	write_modules(tables);
	json_out_text(json, ",\n\"stringArray\":[");
	for (uint32_t i = 0; i < tables->firefox->strings.count && !json_out_failed(json); i++)
		write_field(json, i ? "," : "", strings_get(&tables->firefox->strings, i));
	json_out_text(json, "]},\n\"libs\":[");
	for (uint32_t i = 1; i < tables->modules.count && !json_out_failed(json); i++) {
		json_out_text(json, i > 1 ? ",\n" : "");
		write_library(tables, strings_get(&tables->modules, i));
	}
	json_out_text(json, "]");
}

int firefox_write_tables(struct firefox *firefox)
{
	struct tables tables = { .firefox = firefox, .paths = firefox->paths };
	size_t frames = firefox->paths->frame_count;
	int status = strings_init(&tables.modules);
	if (strings_init(&tables.files) < 0)
		status = ERROR_MEMORY;
	tables.function_of = malloc((frames + 1) * sizeof(*tables.function_of));
	tables.first_frame = malloc((frames + 1) * sizeof(*tables.first_frame));
	tables.is_own = call_paths_own_frames(firefox->paths);
	if (!tables.function_of || !tables.first_frame || !tables.is_own)
		status = ERROR_MEMORY;
	if (status == 0) {
		number_functions(&tables);
		write_all(&tables);
	}
	strings_release(&tables.modules);
	strings_release(&tables.files);
	free(tables.is_own);
	free(tables.function_of);
	free(tables.first_frame);
	return status;
}
