/* The machine instructions of a function, with the hits of each, between the source lines that they come from. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/instructions.h"
#include "base/path.h"
#include "ui/browse/source_files.h"

enum { MARK_WIDTH = 2, ADDRESS_WIDTH = 9, LINE_BYTES = 256 };

enum row_kind { ROW_RANGE, ROW_SOURCE, ROW_INSTRUCTION };

struct disassembly_row {
	enum row_kind kind;
	size_t index;                   /* of the range, or of the instruction that it is, or follows */
	const struct source_file *file; /* ROW_SOURCE */
};

struct disassembly_screen {
	struct screen screen;
	struct results results;
	const struct instruction_list *list; /* NULL: no hits */
	struct source_files files;
	struct disassembly_row *rows;
	size_t count;
	char line[LINE_BYTES]; /* the text of a row */
};

static void release(struct screen *screen)
{
	struct disassembly_screen *own = (struct disassembly_screen *)screen;
	source_files_release(&own->files);
	free(own->rows);
	results_release(&own->results);
}

/* --- rows --- */

/* Returns at least the number of files. */
static size_t count_files(const struct code_list *code)
{
	size_t count = 0;
	const char *last = NULL;
	for (size_t i = 0; i < code->count; i++)
		if (code->instructions[i].file && code->instructions[i].file != last) {
			last = code->instructions[i].file;
			count++;
		}
	return count;
}

static bool has_line(const struct code_instruction *instruction)
{
	return instruction->file && instruction->line > 0;
}

static void list_range(struct disassembly_screen *own, const struct profile *profile, size_t number)
{
	const struct code_list *code = &own->list->code;
	const struct code_range *range = &code->ranges[number];
	const struct code_instruction *last = NULL;
	own->rows[own->count++] = (struct disassembly_row){ ROW_RANGE, number, NULL };
	for (size_t i = range->first; i < range->first + range->count; i++) {
		const struct code_instruction *instruction = &code->instructions[i];
		if (has_line(instruction) &&
		    (!last || last->line != instruction->line || strcmp(last->file, instruction->file) != 0)) {
			const struct source_file *file = source_files_get(&own->files, profile, instruction->file);
			own->rows[own->count++] = (struct disassembly_row){ ROW_SOURCE, i, file };
			last = instruction;
		}
		own->rows[own->count++] = (struct disassembly_row){ ROW_INSTRUCTION, i, NULL };
	}
}

/* The cursor begins at the instruction with the most hits of its own. */
static void find_hottest(struct disassembly_screen *own)
{
	uint64_t most = 0;
	for (size_t i = 0; i < own->count; i++) {
		const struct disassembly_row *row = &own->rows[i];
		if (row->kind == ROW_INSTRUCTION && own->list->hits[row->index].body > most) {
			most = own->list->hits[row->index].body;
			own->screen.cursor = i;
		}
	}
}

static int list_rows(struct disassembly_screen *own, const struct profile *profile, struct error *error)
{
	const struct code_list *code = &own->list->code;
	if (source_files_init(&own->files, count_files(code), error) < 0)
		return error->code;
	own->rows = calloc(2 * code->count + code->range_count + 1, sizeof(*own->rows));
	if (!own->rows)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < code->range_count; i++)
		list_range(own, profile, i);
	find_hottest(own);
	return 0;
}

static struct screen *make(struct browser *browser, const char *root, struct error *error)
{
	struct disassembly_screen *own = calloc(1, sizeof(*own));
	if (!own) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	int status = browser_report(browser, "asm", root, &own->results, error);
	own->list = status == 0 ? own->results.items[0].data : NULL;
	if (status == 0 && own->list)
		status = list_rows(own, browser_profile(browser), error);
	if (status == 0 && own->list && own->list->obstacle.code)
		browser_set_message(browser, "%s", own->list->obstacle.message);
	if (status == 0)
		return &own->screen;
	release(&own->screen);
	free(own);
	return NULL;
}

static size_t count(const struct screen *screen)
{
	return ((const struct disassembly_screen *)screen)->count;
}

/* --- drawing --- */

/* The text is in the screen, until the next call. */
static const char *text(const struct screen *screen, size_t index)
{
	struct disassembly_screen *own = (struct disassembly_screen *)screen;
	const struct disassembly_row *row = &own->rows[index];
	const struct code_list *code = &own->list->code;
	const struct profile *profile = own->results.items[0].view->profile;
	if (row->kind == ROW_RANGE) {
		const struct code_range *range = &code->ranges[row->index];
		uint32_t function = own->list->functions[row->index];
		snprintf(own->line, sizeof(own->line), "%s in %s",
			 function == PROFILE_NONE ? "" : profile_string(profile, profile->functions[function].name),
			 path_basename(profile_string(profile, profile->modules[range->module].path)));
		return own->line;
	}
	const struct code_instruction *instruction = &code->instructions[row->index];
	if (row->kind == ROW_SOURCE)
		snprintf(own->line, sizeof(own->line), "%s:%" PRIu32 "  %s", path_basename(instruction->file),
			 instruction->line, source_file_line(row->file, instruction->line));
	else if (instruction->callee)
		snprintf(own->line, sizeof(own->line), "%s  <%s>", instruction->text, instruction->callee);
	else
		snprintf(own->line, sizeof(own->line), "%s", instruction->text);
	return own->line;
}

static void head(const struct screen *screen, struct browser *browser, int row)
{
	(void)screen;
	int column = draw_hits_head(browser, row);
	column = draw_right(browser, row, column + MARK_WIDTH, ADDRESS_WIDTH, STYLE_FAINT, "address");
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, STYLE_FAINT,
		      "instruction (> is jumped to)");
}

static void draw(const struct screen *screen, struct browser *browser, size_t index, int row, unsigned style)
{
	const struct disassembly_screen *own = (const struct disassembly_screen *)screen;
	const struct disassembly_row *shown = &own->rows[index];
	const struct view *view = own->results.items[0].view;
	struct terminal *terminal = &browser->terminal;
	const int code_column = 2 * SHARE_WIDTH + MARK_WIDTH;
	char address[24];
	if (shown->kind != ROW_INSTRUCTION) {
		unsigned faint = shown->kind == ROW_RANGE ? STYLE_TITLE : STYLE_FAINT;
		terminal_text(terminal, row, shown->kind == ROW_RANGE ? 0 : code_column, terminal->columns,
			      style | faint, text(screen, index));
		return;
	}
	const struct code_instruction *instruction = &own->list->code.instructions[shown->index];
	const struct instruction_hits *hits = &own->list->hits[shown->index];
	unsigned painted = draw_hits(browser, row, style, view, hits->body, hits->total);
	if (instruction->is_reached)
		terminal_text(terminal, row, 2 * SHARE_WIDTH + 1, 1, style, ">");
	snprintf(address, sizeof(address), "%" PRIx64, instruction->address);
	int column = draw_right(browser, row, code_column, ADDRESS_WIDTH, style | STYLE_FAINT, address);
	terminal_text(terminal, row, column + 2, terminal->columns, painted, text(screen, index));
}

/* Moves the cursor to the instruction that a jump leads to. Returns whether there is one. */
static bool follow(struct screen *screen)
{
	const struct disassembly_screen *own = (const struct disassembly_screen *)screen;
	const struct disassembly_row *row = &own->rows[screen->cursor];
	const struct code_list *code = &own->list->code;
	const struct code_instruction *from = &code->instructions[row->index];
	if (row->kind != ROW_INSTRUCTION || from->target == 0 || from->leaves_range)
		return false;
	for (size_t i = 0; i < own->count; i++)
		if (own->rows[i].kind == ROW_INSTRUCTION && code->instructions[own->rows[i].index].is_reached &&
		    code->instructions[own->rows[i].index].address == from->target) {
			screen->cursor = i;
			return true;
		}
	return false;
}

static int press(struct screen *screen, struct browser *browser, int32_t key, struct error *error)
{
	(void)error;
	if (key != TERMINAL_ENTER || count(screen) == 0)
		return 0;
	if (!follow(screen))
		browser_set_message(browser, "this row does not jump to another one");
	return 1;
}

const struct screen_kind screen_disassembly = {
	.name = "disassembly",
	.help = "the machine instructions of a function, with their hits",
	.key = 'a',
	.takes_function = true,
	.make = make,
	.release = release,
	.count = count,
	.head = head,
	.draw = draw,
	.text = text,
	.press = press,
	.keys = "Enter follows a jump",
};
