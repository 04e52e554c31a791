#include "cmd/probe_list.h"

#include <stdlib.h>
#include <string.h>

#include "abi/probe_kinds.h"
#include "cmd/message.h"

static const char *const kinds[PROBE_KINDS] = PROBE_KIND_NAMES;

void probe_list_open(struct probe_list *list)
{
	if (list->format == RENDER_JSON)
		render_json_begin(list->out, &(struct render_envelope){ .command = "instrument" });
	if (list->format != RENDER_TEXT)
		sheet_table_open(&list->sheet, list->out, list->format, "probe_points",
				 "file,line,kind,level,name,signature,group,instrumented,reason,warning");
}

static const char *warning_of(const struct source_point *point)
{
	return point->mistake ? point->mistake : point->warning;
}

static void print_row(struct sheet *sheet, const struct source_point *point, const char *reason)
{
	sheet_row(sheet);
	sheet_text(sheet, "file", point->file);
	sheet_count(sheet, "line", point->line);
	sheet_text(sheet, "kind", kinds[point->kind]);
	sheet_count(sheet, "level", (uint64_t)point->level);
	sheet_optional_text(sheet, "name", point->name);
	sheet_optional_text(sheet, "signature", point->signature);
	sheet_optional_text(sheet, "group", point->group);
	sheet_flag(sheet, "instrumented", !reason);
	sheet_optional_text(sheet, "reason", reason);
	sheet_optional_text(sheet, "warning", warning_of(point));
	sheet_row_end(sheet);
}

static void print_text(FILE *out, const struct source_point *point, const char *reason)
{
	render_safe_text(out, point->file);
	fprintf(out, ":%u: ", point->line);
	render_safe_text(out, point->name);
	if (point->kind != PROBE_FUNCTION)
		fprintf(out, " (%s)", kinds[point->kind]);
	fputs(reason ? ": skipped: " : ": instrumented", out);
	if (reason)
		render_safe_text(out, reason);
	if (!reason && point->group) {
		fputs(", group ", out);
		render_safe_text(out, point->group);
	}
	if (warning_of(point)) {
		fputs("; warning: ", out);
		render_safe_text(out, warning_of(point));
	}
	fputc('\n', out);
}

void probe_list_add(struct probe_list *list, const char *source, const struct instrument_result *result,
		    const char *failure)
{
	if (failure && list->format == RENDER_TEXT) {
		render_safe_text(list->out, source);
		fputs(": not instrumented: ", list->out);
		render_safe_text(list->out, failure);
		fputc('\n', list->out);
	}
	list->failed_count += failure != NULL;
	for (size_t i = 0; i < result->point_count; i++) {
		const struct source_point *point = &result->points[i];
		const char *reason = point->skipped ? point->skipped : failure;
		if (list->format == RENDER_TEXT)
			print_text(list->out, point, reason);
		else
			print_row(&list->sheet, point, reason);
		list->skipped_count += reason != NULL;
		list->instrumented_count += reason == NULL;
	}
}

void probe_list_close(struct probe_list *list)
{
	if (list->format == RENDER_TEXT) {
		fprintf(list->out, "%zu instrumented, %zu skipped\n", list->instrumented_count, list->skipped_count);
		return;
	}
	sheet_table_close(&list->sheet);
	if (list->format == RENDER_JSON)
		fprintf(list->out, ", \"instrumented\": %zu, \"skipped\": %zu}\n", list->instrumented_count,
			list->skipped_count);
}

/* --- the instrumentation filter --- */

static int add_rules(const struct invocation *invocation, struct selection *selection, int id_select, int id_rule,
		     struct error *error)
{
	const char *file = getenv("CPPROF_SELECT");
	int code = file && *file ? selection_read(selection, file, error) : 0;
	for (size_t i = 0; i < invocation->use_count && code == 0; i++) {
		const struct option_use *use = &invocation->uses[i];
		if (use->option->id == id_select)
			code = selection_read(selection, use->value, error);
		else if (use->option->id == id_rule)
			code = selection_add(selection, use->value, error);
	}
	return code;
}

struct selection *probe_selection(const struct invocation *invocation, int id_select, int id_rule, int id_headers,
				  int *status)
{
	struct error error = { .code = ERROR_MEMORY };
	struct selection *selection = selection_new();
	int code = selection ? add_rules(invocation, selection, id_select, id_rule, &error) : ERROR_MEMORY;
	if (code == 0 && option_given(invocation, id_headers))
		code = selection_add(selection, "headers on", &error);
	if (code == 0)
		return selection;
	selection_free(selection);
	*status = failure_of(invocation, &error);
	return NULL;
}
