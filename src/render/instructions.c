/* Prints the machine code of a function, with its source lines between the instructions. */
#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "render/emit.h"
#include "render/names.h"

enum {
	CONTEXT = 8, /* instructions shown before and after one with hits */
	GAP = 24,    /* a longer run of instructions without hits is left out */
	ADDRESS_WIDTH = 10,
};

/* A line of the source, which instructions without one continue. */
struct source_line {
	const char *file;
	uint32_t line;
};

struct printing {
	FILE *out;
	struct render_document *document;
	const struct result *result;
	struct opened_sources opened;
	struct source_line last;
};

static const struct instruction_list *list_of(const struct printing *printing)
{
	return printing->result->instructions;
}

static int figures_width(const struct printing *printing)
{
	return list_of(printing)->independent > 0 ? 44 : 28;
}

static void print_fraction(struct printing *printing, uint64_t hits)
{
	const struct instruction_list *list = list_of(printing);
	fprintf(printing->out, "%8.4f ", fraction_of(hits, list->total));
	if (list->independent > 0)
		fprintf(printing->out, "±%.4f ", analyze_error(hits, list->total, list->independent));
}

/* Prints text behind the figures, as much as fits into the row. */
static void print_behind(struct printing *printing, const struct buffer *text, size_t more)
{
	if (buffer_error(text) == 0)
		rest_print(printing->out, (const char *)text->bytes, (size_t)figures_width(printing) + more,
			   &printing->document->options);
	else
		render_failed(&printing->document->options);
}

static void print_source(struct printing *printing, const struct code_instruction *instruction)
{
	const struct profile *profile = printing->result->view->profile;
	struct source_line *last = &printing->last;
	if (!instruction->file || instruction->line == 0 ||
	    (last->file && strcmp(last->file, instruction->file) == 0 && last->line == instruction->line))
		return;
	*last = (struct source_line){ instruction->file, instruction->line };
	struct buffer text;
	buffer_init(&text);
	buffer_printf(&text, "%s:%" PRIu32 "  %s", path_basename(instruction->file), instruction->line,
		      line_text(&printing->opened, profile, instruction->file, instruction->line));
	buffer_append_byte(&text, 0);
	fprintf(printing->out, "%*s", figures_width(printing) + 1, "");
	paint_on(printing->out, PAINT_DIM, &printing->document->options);
	print_behind(printing, &text, 1);
	paint_off(printing->out, &printing->document->options);
	fputc('\n', printing->out);
	buffer_release(&text);
}

/* "0.1234 ±0.0123   0.2345 ±0.0145      1234  >     1a40  jne 0x1a20" */
static void print_instruction(struct printing *printing, size_t index)
{
	const struct instruction_list *list = list_of(printing);
	const struct code_instruction *instruction = &list->code.instructions[index];
	const struct instruction_hits *hits = &list->hits[index];
	FILE *out = printing->out;
	print_source(printing, instruction);
	if (hits->total > 0) {
		print_fraction(printing, hits->body);
		print_fraction(printing, hits->total);
		fprintf(out, "%10" PRIu64, hits->total);
	} else {
		fprintf(out, "%*s", figures_width(printing), "");
	}
	int used = fprintf(out, " %c %*" PRIx64 "  ", instruction->is_reached ? '>' : ' ', ADDRESS_WIDTH,
			   instruction->address);
	struct buffer text;
	buffer_init(&text);
	buffer_append_string(&text, instruction->text);
	if (instruction->callee)
		buffer_printf(&text, "  <%s>", instruction->callee);
	buffer_append_byte(&text, 0);
	print_behind(printing, &text, used > 0 ? (size_t)used : 0);
	fputc('\n', out);
	buffer_release(&text);
}

/* Returns the index of the next instruction with hits, from `from` on, or `end`. */
static size_t next_with_hits(const struct instruction_list *list, size_t from, size_t end)
{
	while (from < end && list->hits[from].total == 0)
		from++;
	return from;
}

static void print_gap(struct printing *printing, size_t count)
{
	fprintf(printing->out, "%*s... %zu instructions without hits\n", figures_width(printing) + 3, "", count);
	printing->last = (struct source_line){ 0 };
}

/* Prints the instructions of a range, without long runs that have no hits. */
static void print_instructions(struct printing *printing, const struct code_range *range)
{
	const struct instruction_list *list = list_of(printing);
	const size_t end = range->first + range->count;
	for (size_t at = range->first; at < end;) {
		size_t next = next_with_hits(list, at, end);
		size_t before = at > range->first ? CONTEXT : 0, after = next < end ? CONTEXT : 0;
		if (next - at > before + after + GAP) {
			for (size_t i = at; i < at + before; i++)
				print_instruction(printing, i);
			print_gap(printing, next - at - before - after);
			at = next - after;
		}
		for (; at < next; at++)
			print_instruction(printing, at);
		if (at < end)
			print_instruction(printing, at++);
	}
}

static const char *function_name(const struct result *result, size_t range)
{
	const struct profile *profile = result->view->profile;
	uint32_t function = result->instructions->functions[range];
	return function == PROFILE_NONE ? result->root : profile_string(profile, profile->functions[function].name);
}

static const char *module_path(const struct result *result, const struct code_range *range)
{
	const struct profile *profile = result->view->profile;
	return profile_string(profile, profile->modules[range->module].path);
}

static void print_range(struct printing *printing, size_t index)
{
	const struct code_range *range = &list_of(printing)->code.ranges[index];
	const char *function = function_name(printing->result, index);
	FILE *out = printing->out;
	render_safe_text(out, printing->result->root);
	if (strcmp(function, printing->result->root) != 0) {
		fputs(" inlined in ", out);
		render_safe_text(out, function);
	}
	fputs(" in ", out);
	render_safe_text(out, module_path(printing->result, range));
	fprintf(out, ", 0x%" PRIx64 " to 0x%" PRIx64 ":\n", range->start, range->end);
	printing->last = (struct source_line){ 0 };
	print_instructions(printing, range);
}

static void print_text(struct render_document *document, const struct result *result)
{
	const struct instruction_list *list = result->instructions;
	const struct view *view = result->view;
	struct printing printing = { .out = document->out, .document = document, .result = result };
	const char *error = view->resource->kind == RESOURCE_EXACT ? "" : " ±error";
	char format[128];
	snprintf(format, sizeof(format), "body_fraction%s total_fraction%s #%s > address instruction <callee>", error,
		 error, raw_name(view));
	heading_print(document->out, result, format, &document->options);
	if (rootless_print(document->out, view, result->root, list && list->code.count > 0))
		return;
	for (size_t i = 0; i < list->code.range_count; i++)
		print_range(&printing, i);
	if (list->unplaced > 0)
		fprintf(document->out, "%" PRIu64 " %s at addresses whose instructions are not known\n", list->unplaced,
			raw_name(view));
	if (list->obstacle.code) {
		fputs("a part is missing: ", document->out);
		render_safe_text(document->out, list->obstacle.message);
		fputc('\n', document->out);
	}
	if (printing.opened.failed)
		render_failed(&document->options);
	opened_sources_release(&printing.opened);
}

static void print_address(struct sheet *sheet, const char *name, uint64_t address)
{
	char text[24] = "";
	if (address)
		snprintf(text, sizeof(text), "0x%" PRIx64, address);
	sheet_text(sheet, name, text);
}

static void print_row(struct sheet *sheet, const struct result *result, size_t range, size_t index)
{
	const struct instruction_list *list = result->instructions;
	const struct code_instruction *instruction = &list->code.instructions[index];
	const struct instruction_hits *hits = &list->hits[index];
	sheet_row(sheet);
	if (!sheet->json)
		sheet_text(sheet, "resource", profile_string(result->view->profile, result->view->resource->name));
	sheet_text(sheet, "function", result->root);
	sheet_text(sheet, "container", function_name(result, range));
	sheet_text(sheet, "module", module_path(result, &list->code.ranges[range]));
	print_address(sheet, "address", instruction->address);
	sheet_count(sheet, "bytes", instruction->bytes);
	sheet_number(sheet, "body_fraction", fraction_of(hits->body, list->total));
	sheet_json_number(sheet, "body_error", analyze_error(hits->body, list->total, list->independent));
	sheet_number(sheet, "total_fraction", fraction_of(hits->total, list->total));
	sheet_json_number(sheet, "total_error", analyze_error(hits->total, list->total, list->independent));
	sheet_count(sheet, "body_hits", hits->body);
	sheet_count(sheet, "total_hits", hits->total);
	sheet_text(sheet, "instruction", instruction->text);
	print_address(sheet, "target", instruction->target);
	sheet_flag(sheet, "is_target", instruction->is_reached);
	sheet_text(sheet, "callee", instruction->callee ? instruction->callee : "");
	sheet_text(sheet, "file", instruction->file ? instruction->file : "");
	sheet_count(sheet, "line", instruction->line);
	sheet_row_end(sheet);
}

static void print_table(const struct render_document *document, const struct result *result)
{
	const struct instruction_list *list = result->instructions;
	struct sheet sheet;
	sheet_open(&sheet, document, result,
		   "resource,function,container,module,address,bytes,body_fraction,total_fraction,body_hits,total_hits,"
		   "instruction,target,is_target,callee,file,line");
	for (size_t range = 0; list && range < list->code.range_count; range++)
		for (size_t i = 0; i < list->code.ranges[range].count; i++)
			print_row(&sheet, result, range, list->code.ranges[range].first + i);
	sheet_close(&sheet, 0);
}

int print_instructions_result(struct render_document *document, const struct result *result, struct error *error)
{
	(void)error;
	if (document->options.format == RENDER_TEXT)
		print_text(document, result);
	else
		print_table(document, result);
	return 0;
}
