/* Prints the rows of the first report as a table: the page of `cpprof html` shows them, each with the view that it leads to. */
#include <string.h>

#include "reports/summary.h"

/* Below, a share is printed as 0.0 %. */
static const double SHARE_VISIBLE = 0.0005;

/* A row: members that an entry does not have are 0, NULL or PROFILE_NONE. */
struct row {
	const char *entry; /* "own", "body", "waits", "path", "line", "kernel", "process", "next" */
	uint32_t label;
	uint64_t hits;
	double error;
	uint32_t other; /* label of own and body: with which most of its hits are; of kernel: what it mostly did */
	uint64_t other_hits;
	uint32_t node, frames,
		times; /* of the path: in the view; and the frames that the row stands for, repeated so often */
	const char *file;
	uint32_t line;
	const char *process;
	uint32_t pid, processes;
	const char *command, *why;
};

struct table {
	struct sheet sheet;
	const struct result *result;
	size_t limit; /* of each kind of row; 0: all */
};

static const char *text_of(const struct table *table, uint32_t label)
{
	return label == PROFILE_NONE ? "" : table->result->view->labels[label].text;
}

static void print_row(struct table *table, const struct row *row)
{
	struct sheet *sheet = &table->sheet;
	sheet_row(sheet);
	sheet_text(sheet, "entry", row->entry);
	sheet_text(sheet, "function", text_of(table, row->label));
	sheet_number(sheet, "fraction", fraction_of(row->hits, table->result->view->total));
	sheet_number(sheet, "error", row->error);
	sheet_count(sheet, "hits", row->hits);
	sheet_text(sheet, "other", text_of(table, row->other));
	sheet_count(sheet, "other_hits", row->other_hits);
	sheet_count(sheet, "node", row->node);
	sheet_count(sheet, "frames", row->frames);
	sheet_count(sheet, "times", row->times);
	sheet_text(sheet, "file", row->file ? row->file : "");
	sheet_count(sheet, "line", row->line);
	sheet_text(sheet, "process", row->process ? row->process : "");
	sheet_count(sheet, "pid", row->pid);
	sheet_count(sheet, "processes", row->processes);
	sheet_text(sheet, "command", row->command ? row->command : "");
	sheet_text(sheet, "why", row->why ? row->why : "");
	sheet_row_end(sheet);
}

/* Prints a row with hits, unless its share is invisible or it is one too many of its kind. Returns whether it printed. */
static bool print_hits(struct table *table, size_t index, struct row row)
{
	const struct view *view = table->result->view;
	if ((table->limit > 0 && index >= table->limit) || fraction_of(row.hits, view->total) < SHARE_VISIBLE)
		return false;
	if (row.error == 0)
		row.error = analyze_error(row.hits, view->total, view->independent);
	print_row(table, &row);
	return true;
}

static void print_own(struct table *table)
{
	const struct own_code *own = table->result->own;
	for (size_t i = 0; summary_has_own(table->result) && i < own->charged_count; i++)
		if (!print_hits(table, i,
				(struct row){ "own", own->charged[i].label, own->charged[i].hits,
					      .other = own->charged[i].other,
					      .other_hits = own->charged[i].other_hits }))
			break;
}

static void print_bodies(struct table *table)
{
	const struct result *result = table->result;
	for (size_t i = 0; i < result->paths->count; i++) {
		const struct path_entry *entry = &result->paths->entries[i];
		uint32_t label = path_labels(result->paths, entry)[0];
		const struct own_entry *library = summary_has_own(result) ? own_code_library(result->own, label) : NULL;
		if (!print_hits(table, i,
				(struct row){ "body", label, entry->hits, row_error(result, i, entry->hits),
					      .other = library ? library->other : PROFILE_NONE,
					      .other_hits = library ? library->other_hits : 0 }))
			break;
	}
	if (summary_has_waits(result))
		print_hits(table, 0,
			   (struct row){ "waits", PROFILE_NONE, result->kernel->waits, .other = PROFILE_NONE });
}

/* All rows, including those that only count frames: a path without its beginning or end leads nowhere. */
static void print_path(struct table *table, const struct hot_path_rows *path)
{
	const struct view *view = table->result->view;
	for (size_t i = 0; i < path->count; i++) {
		const struct hot_path_row *row = &path->rows[i];
		uint32_t node = path->nodes[row->first];
		print_hits(table, 0,
			   (struct row){ "path", row->period > 0 ? path->labels[row->first] : PROFILE_NONE,
					 view->weight[node], .other = PROFILE_NONE, .node = node,
					 .frames = row->period > 0 ? row->period : row->frames,
					 .times = row->period > 0 ? row->frames / row->period : 1 });
	}
	for (size_t i = 0; i < path->branch_count; i++) {
		uint32_t node = path->branches[i];
		print_hits(table, 0,
			   (struct row){ "branch", view->label[node], view->weight[node], .other = PROFILE_NONE,
					 .node = node, .frames = 1, .times = 1 });
	}
}

static void print_lines(struct table *table)
{
	const struct line_list *lines = table->result->lines;
	for (size_t i = 0, index = 0; i < lines->count; i++)
		if (lines->entries[i].line > 0)
			index += print_hits(table, index,
					    (struct row){ "line", PROFILE_NONE, lines->entries[i].body,
							  .other = PROFILE_NONE,
							  .file = profile_string(table->result->view->profile,
										 lines->entries[i].file),
							  .line = lines->entries[i].line });
}

static void print_kernel(struct table *table)
{
	const struct kernel_work *work = table->result->kernel;
	for (size_t i = 0; summary_has_kernel(table->result) && i < work->count; i++)
		if (!print_hits(table, i,
				(struct row){ "kernel", work->entries[i].label, work->entries[i].hits,
					      .other = work->entries[i].work }))
			break;
}

static void print_processes(struct table *table)
{
	const struct share_list *list = table->result->shares;
	const struct profile *profile = table->result->view->profile;
	for (size_t i = 0; list->count > 1 && i < list->count; i++) {
		const struct share *share = &list->shares[i];
		const struct profile_process *process =
			share->owner == PROFILE_NONE ? NULL : &profile->processes[share->owner];
		print_hits(table, i,
			   (struct row){ "process", PROFILE_NONE, share->hits, .other = PROFILE_NONE,
					 .process = process ? profile_string(profile, process->name) : "[no process]",
					 .pid = process ? process->pid : 0, .processes = share->members });
	}
}

static void print_next(struct table *table, const struct next_commands *next)
{
	for (size_t i = 0; i < next->count; i++) {
		char *command = next->texts[i] + strspn(next->texts[i], " "), *why = strchr(command, '\t');
		command[strcspn(command, "\n")] = '\0';
		if (why)
			*why++ = '\0';
		/* A sentence is a reason without a command. */
		print_row(table, &(struct row){ "next", next->labels[i], .other = PROFILE_NONE,
						.command = why ? command : "", .why = why ? why : command });
	}
}

void summary_print_table(struct render_document *document, const struct result *result)
{
	struct table table = { .result = result, .limit = document->options.limit };
	struct hot_path_rows path = { 0 };
	struct next_commands next = { 0 };
	sheet_open(
		&table.sheet, document, result,
		"resource,entry,function,fraction,error,hits,other,other_hits,node,frames,times,file,line,process,pid,"
		"processes,command,why");
	if (result->view->total > 0) {
		if (hot_path_rows_init(&path, result->view, result->own->has) < 0 ||
		    next_commands_init(&next, result, &document->options, "\t") < 0)
			render_failed(&document->options);
		print_own(&table);
		print_bodies(&table);
		print_path(&table, &path);
		print_lines(&table);
		print_kernel(&table);
		print_processes(&table);
		print_next(&table, &next);
	}
	next_commands_release(&next);
	hot_path_rows_release(&path);
	sheet_close(&table.sheet, 0);
}
