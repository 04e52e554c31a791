#include "collect/source/instrument/instrument.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/source/instrument/exits.h"
#include "collect/source/instrument/parts.h"
#include "collect/source/instrument/selection.h"
#include "collect/source/instrument/source_points.h"

static const char *kind_names[] = { "CPPROF_KIND_FUNCTION", "CPPROF_KIND_REGION", "CPPROF_KIND_LOOP",
				    "CPPROF_KIND_CALL", "CPPROF_KIND_BLOCK" };

/* --- errors --- */

/* Evaluates one of clang's errors: an error within a function excludes only that function. */
static int take_error(struct source_points *points, CXDiagnostic diagnostic, struct error *error)
{
	static const char nested[] = "function definition is not allowed here";
	const struct clang *clang = points->clang;
	CXString text = clang->getDiagnosticSpelling(diagnostic);
	const char *said = clang->getCString(text);
	bool is_nested = said && strstr(said, nested);
	clang->disposeString(text);
	uint32_t offset;
	CXFile at = source_points_offset(points, clang->getDiagnosticLocation(diagnostic), &offset);
	struct source_points_file *file = source_points_file(points, at);
	size_t file_index = file ? (size_t)(file - points->files) : 0;
	bool is_within = false;
	for (size_t i = 0; file && i < points->item_count; i++) {
		struct source_points_item *item = &points->items[i];
		if (item->point.kind != PROBE_FUNCTION || item->file != file_index || offset < item->start ||
		    offset >= item->point.end)
			continue;
		is_within = true;
		item->has_nested |= is_nested;
		if (!item->has_nested && !item->point.skipped)
			item->point.skipped = INSTRUMENT_DOUBT;
	}
	return is_within ? 0 : clang_report(clang, diagnostic, error);
}

static int take_errors(struct source_points *points, struct error *error)
{
	const struct clang *clang = points->clang;
	unsigned count = clang->getNumDiagnostics(points->unit);
	int code = 0;
	for (unsigned i = 0; i < count && !code; i++) {
		CXDiagnostic diagnostic = clang->getDiagnostic(points->unit, i);
		enum CXDiagnosticSeverity severity = clang->getDiagnosticSeverity(diagnostic);
		if (severity == CXDiagnostic_Fatal)
			code = clang_report(clang, diagnostic, error);
		else if (severity == CXDiagnostic_Error)
			code = take_error(points, diagnostic, error);
		clang->disposeDiagnostic(diagnostic);
	}
	return code;
}

/* --- the copy --- */

/* Writes a text as a string literal. */
static void append_literal(struct buffer *buffer, const char *text)
{
	buffer_append_byte(buffer, '"');
	for (; *text; text++) {
		if (*text == '\n') {
			buffer_append_string(buffer, "\\n");
			continue;
		}
		if (*text == '"' || *text == '\\')
			buffer_append_byte(buffer, '\\');
		buffer_append_byte(buffer, (uint8_t)*text);
	}
	buffer_append_byte(buffer, '"');
}

/* Returns the part of the macros' names that depends on the function that contains a probe point. */
static const char *variant_of(const struct source_points *points, const struct source_points_item *item)
{
	const struct source_points_item *function = &points->items[item->function];
	if (points->is_explicit)
		return "EXPLICIT_";
	if (function->variant)
		return function->variant;
	return function->returns_twice ? "ASIDE_" : "";
}

/* "f, a, b": the copy calls f_enter(a, b), and f_leave with the result of that. */
static void describe_hook(struct source_points_item *item, const char *variant, struct buffer *text)
{
	const char *hook = item->point.hook;
	bool has_own = strncmp(variant, "CONSTEXPR", 9) == 0 || strncmp(variant, "EXPLICIT", 8) == 0;
	size_t name = strcspn(hook, ",");
	const char *arguments = hook + name + (hook[name] == ',');
	while (name > 0 && (hook[name - 1] == ' ' || hook[name - 1] == '\t'))
		name--;
	if (name >= 2 && *hook == '"' && hook[name - 1] == '"') {
		hook++;
		name -= 2;
	}
	item->hook = hook;
	item->hook_size = name;
	buffer_printf(text, "CPPROF_TOOL_%sHOOK(%zu,%.*s,(%s)) ", has_own ? variant : "", item->number, (int)name, hook,
		      arguments);
}

/* Appends the macros that define a probe point's object: one for its kind, and one for its hook. */
static void describe(const struct source_points *points, struct source_points_item *item, struct buffer *text)
{
	size_t number = item->number;
	const struct source_point *point = &item->point;
	const char *variant = variant_of(points, item);
	if (point->kind == PROBE_FUNCTION)
		buffer_printf(text, "CPPROF_TOOL_%sFUNCTION(%zu,%d,%u,", variant, number, point->level,
			      (unsigned)item->name_line);
	else if (point->kind == PROBE_BLOCK)
		buffer_printf(text, "CPPROF_TOOL_%sBLOCK(%zu,%u,", variant, number, (unsigned)item->name_line);
	else
		buffer_printf(text, "CPPROF_TOOL_%sPOINT(%zu,%s,%d,%u,", variant, number, kind_names[point->kind],
			      point->level, (unsigned)item->name_line);
	if (point->kind != PROBE_FUNCTION) {
		append_literal(text, item->own_name);
		buffer_append_byte(text, ',');
	}
	if (point->group)
		append_literal(text, point->group);
	else
		buffer_append_byte(text, '0');
	buffer_append_string(text, ") ");
	if (item->also)
		buffer_printf(text, "%s(%zu) ", item->also, number);
	if (point->kind == PROBE_FUNCTION && point->hook)
		describe_hook(item, variant, text);
	if (point->kind == PROBE_FUNCTION && points->is_explicit)
		buffer_append_string(text, exits_declaration(points, item));
}

static void insert(struct source_points *points, struct source_points_item *item)
{
	struct source_points_file *file = &points->files[item->file];
	struct buffer text;
	buffer_init(&text);
	if (item->is_wrapped)
		buffer_append_byte(&text, '{');
	item->number = ++file->instrumented;
	describe(points, item, &text);
	const char *kept =
		buffer_error(&text) ? NULL : instrument_arena_text(points->arena, (const char *)text.bytes, text.size);
	buffer_release(&text);
	bool is_left = points->is_explicit && item->point.kind != PROBE_BLOCK;
	if (item->is_wrapped)
		edits_wrap(&file->edits, item->point.offset, kept, item->point.end,
			   is_left ? instrument_arena_format(points->arena, "%s;}", exits_leave(points, item)) : "}");
	else
		edits_insert(&file->edits, item->point.offset, kept);
}

static int make_copy(struct source_points *points, struct source_points_file *file, struct instrument_copy *copy)
{
	static const char mark[] = "\xef\xbb\xbf";
	const struct instrument_source *source = points->source;
	size_t begin = file->size >= 3 && memcmp(file->text, mark, 3) == 0 ? 3 : 0;
	struct buffer text;
	buffer_init(&text);
	if (file->instrumented && !(file->is_main && source->is_bare)) {
		buffer_append_string(&text, "#include ");
		append_literal(&text, source->profiler);
		buffer_append_string(&text, "\n#line 1 ");
		append_literal(&text, file->is_main && source->shown ? source->shown : file->path);
		buffer_append_byte(&text, '\n');
	} else {
		begin = 0;
	}
	for (size_t i = 0; i < file->edits.count; i++)
		file->edits.items[i].offset -= (uint32_t)begin;
	int code = edits_apply(&file->edits, file->text + begin, file->size - begin, &text);
	if (code == 0 && file->is_main && file->instrumented) {
		/* Append the taken addresses on a separate line, if there are any. */
		buffer_append_byte(&text, '\n');
		size_t behind = text.size;
		taken_addresses_append(points, &text);
		code = buffer_error(&text);
		text.size -= code == 0 && text.size == behind;
	}
	copy->path = file->path;
	copy->size = text.size;
	copy->point_count = file->instrumented;
	copy->is_main = file->is_main;
	if (code == 0)
		copy->text = instrument_arena_text(points->arena, (const char *)text.bytes, text.size);
	buffer_release(&text);
	return code ? code : copy->text ? 0 : ERROR_MEMORY;
}

static int make_copies(struct source_points *points, struct instrument_result *result)
{
	struct instrument_arena *arena = points->arena;
	result->copies = instrument_arena_take(arena, points->file_count * sizeof(*result->copies));
	result->points = instrument_arena_take(arena, points->item_count * sizeof(*result->points));
	if (!result->copies || !result->points)
		return ERROR_MEMORY;
	for (size_t i = 0; i < points->item_count; i++)
		result->points[result->point_count++] = points->items[i].point;
	for (size_t i = 0; i < points->file_count; i++) {
		struct source_points_file *file = &points->files[i];
		if (!file->is_main && !file->instrumented)
			continue;
		int code = make_copy(points, file, &result->copies[result->copy_count++]);
		if (code)
			return code;
	}
	return 0;
}

/* --- the whole --- */

static void decide(struct source_points *points, const struct selection *selection)
{
	for (size_t i = 0; i < points->item_count; i++) {
		struct source_points_item *item = &points->items[i];
		const char *outer = points->items[item->function].point.skipped;
		if (!item->point.skipped)
			item->point.skipped = outer;
		if (item->is_shared)
			item->point.skipped = points->items[item->shared].point.skipped;
		else if (!item->point.skipped)
			selection_decide(selection, &item->point);
	}
}

static int work(struct source_points *points, struct instrument_result *result, const struct selection *selection,
		struct error *error)
{
	int code = source_points_find(points);
	if (code)
		return error_set(error, code, "%s", error_text(code));
	if (points->words->standard >= 20 && treat_cxx_is_module(&points->files[0]))
		return error_set(error, ERROR_UNSUPPORTED, "it is a module");
	code = take_errors(points, error);
	if (code)
		return code;
	if (points->is_explicit)
		exits_check(points);
	decide(points, selection);
	for (size_t i = 0; i < points->item_count; i++)
		if (!points->items[i].point.skipped && !points->items[i].is_shared)
			insert(points, &points->items[i]);
	for (size_t i = 0; points->is_explicit && i < points->item_count; i++)
		if (!points->items[i].point.skipped && !points->items[i].is_shared &&
		    points->items[i].point.kind == PROBE_FUNCTION)
			exits_insert(points, &points->items[i]);
	code = make_copies(points, result);
	return code ? error_set(error, code, "%s", error_text(code)) : 0;
}

static int parse_and_work(struct source_points *points, struct instrument_result *result,
			  const struct selection *selection, struct error *error)
{
	CXIndex index = points->clang->createIndex(0, 0);
	if (!index)
		return error_memory(error);
	points->unit = clang_parse(points->clang, index, points->source->path, points->words->items,
				   points->words->count, NULL, 0, error);
	int code = points->unit ? work(points, result, selection, error) : ERROR_FORMAT;
	source_points_release(points);
	if (points->unit)
		points->clang->disposeTranslationUnit(points->unit);
	points->clang->disposeIndex(index);
	return code;
}

/* Sets the reason if the file cannot be read, which libclang does not report. */
static int check_readable(const struct instrument_source *source, struct error *error)
{
	char path[PATH_MAX];
	bool is_below = source->directory && source->path[0] != '/';
	snprintf(path, sizeof(path), "%s%s%s", is_below ? source->directory : "", is_below ? "/" : "", source->path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(error, ERROR_NOT_FOUND, "%s", strerror(errno));
	close(fd);
	return 0;
}

int instrument_file(const struct instrument_source *source, struct instrument_result *result, struct error *error)
{
	struct error unused;
	if (!error)
		error = &unused;
	*error = (struct error){ 0 };
	memset(result, 0, sizeof(*result));
	result->arena = instrument_arena_new();
	if (!result->arena)
		return error_memory(error);
	const struct clang *clang = clang_load(error);
	if (!clang)
		return error->code;
	result->libclang = clang->version;
	struct words words = { 0 };
	int code = check_readable(source, error);
	if (code == 0)
		code = words_make(&words, source, clang, result->arena, error);
	if (code)
		return code;
	result->is_plain = words.is_plain;
	struct selection *defaults = source->selection ? NULL : selection_new();
	const struct selection *selection = source->selection ? source->selection : defaults;
	struct source_points points = { .source = source,
					.clang = clang,
					.words = &words,
					.arena = result->arena,
					.is_explicit = (source->is_explicit || words.is_plain) && !words.is_cxx,
					.loose_label = UINT32_MAX,
					.level = selection ? selection_level(selection) : 0,
					.needs_linker_names = selection && selection_needs_linker_names(selection) };
	code = selection ? parse_and_work(&points, result, selection, error) : error_memory(error);
	selection_free(defaults);
	return code;
}

void instrument_release(struct instrument_result *result)
{
	instrument_arena_free(result->arena);
	memset(result, 0, sizeof(*result));
}
