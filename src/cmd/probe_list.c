#include "cmd/probe_list.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/message.h"
#include "render/emit.h"

static const char *const kinds[] = { "function", "region", "loop", "call", "block" };

void probe_list_open(struct probe_list *list)
{
	if (list->format == RENDER_CSV)
		fputs("file,line,kind,level,name,signature,group,instrumented,reason,warning\n", list->out);
	else if (list->format == RENDER_JSON)
		fputs("{\"probe_points\": [", list->out);
}

static void print_csv_field(FILE *out, const char *text)
{
	fputc('"', out);
	for (; text && *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void print_csv(FILE *out, const struct source_point *point, const char *reason)
{
	print_csv_field(out, point->file);
	fprintf(out, ",%u,%s,%d,", point->line, kinds[point->kind], point->level);
	print_csv_field(out, point->name);
	fputc(',', out);
	print_csv_field(out, point->signature);
	fputc(',', out);
	print_csv_field(out, point->group);
	fprintf(out, ",%s,", reason ? "no" : "yes");
	print_csv_field(out, reason);
	fputc(',', out);
	print_csv_field(out, point->warning);
	fputc('\n', out);
}

static void print_member(FILE *out, const char *name, const char *text)
{
	fprintf(out, ", \"%s\": ", name);
	if (text)
		render_json_string(out, text);
	else
		fputs("null", out);
}

static void print_json(FILE *out, const struct source_point *point, const char *reason, bool is_first)
{
	fprintf(out, "%s\n  {\"file\": ", is_first ? "" : ",");
	render_json_string(out, point->file);
	fprintf(out, ", \"line\": %u, \"kind\": \"%s\", \"level\": %d", point->line, kinds[point->kind], point->level);
	print_member(out, "name", point->name);
	print_member(out, "signature", point->signature);
	print_member(out, "group", point->group);
	fprintf(out, ", \"instrumented\": %s", reason ? "false" : "true");
	print_member(out, "reason", reason);
	print_member(out, "warning", point->warning);
	fputc('}', out);
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
	if (point->warning) {
		fputs("; warning: ", out);
		render_safe_text(out, point->warning);
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
		if (list->format == RENDER_CSV)
			print_csv(list->out, point, reason);
		else if (list->format == RENDER_JSON)
			print_json(list->out, point, reason, list->row_count == 0);
		else
			print_text(list->out, point, reason);
		list->row_count++;
		list->skipped_count += reason != NULL;
		list->instrumented_count += reason == NULL;
	}
}

void probe_list_close(struct probe_list *list)
{
	if (list->format == RENDER_JSON)
		fprintf(list->out, "%s], \"instrumented\": %zu, \"skipped\": %zu}\n", list->row_count ? "\n" : "",
			list->instrumented_count, list->skipped_count);
	else if (list->format == RENDER_TEXT)
		fprintf(list->out, "%zu instrumented, %zu skipped\n", list->instrumented_count, list->skipped_count);
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
