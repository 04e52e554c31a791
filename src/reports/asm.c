/* Prints the machine code of a function, with its source lines between the instructions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/instructions.h"
#include "base/buffer.h"
#include "base/path.h"
#include "base/quote.h"
#include "render/emit.h"
#include "render/names.h"
#include "reports/report.h"

/* Sets an error to "cannot disassemble FN: REASON". */
static int refuse(const struct result *result, int code, const char *reason, struct error *error)
{
	char copy[sizeof(error->message)];
	snprintf(copy, sizeof(copy), "%s", reason);
	return error_set(error, code, "cannot disassemble %s: %s", QUOTE(result->root), copy);
}

/* Decodes the code of one module, whose addresses are [first, end). */
static int decode_module(const struct report_request *request, const struct code_address *addresses, size_t count,
			 struct code_list *code, struct error *error)
{
	uint64_t *values = calloc(count, sizeof(*values));
	if (!values)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < count; i++)
		values[i] = addresses[i].address;
	int status = request->code->decode(request->code->context, request->profile, addresses->module, values, count,
					   code, error);
	free(values);
	return status;
}

/* Decodes the code of all modules. If one has none, sets `obstacle` and goes on. Returns 0 or ERROR_MEMORY. */
static int decode_all(const struct report_request *request, const struct code_address *addresses, size_t count,
		      struct code_list *code, struct error *obstacle)
{
	for (size_t first = 0, end; first < count; first = end) {
		struct error own = { 0 };
		for (end = first; end < count && addresses[end].module == addresses[first].module;)
			end++;
		int status = decode_module(request, addresses + first, end - first, code, &own);
		if (status < 0 && (obstacle->code == 0 || status == ERROR_MEMORY))
			*obstacle = own;
		if (status == ERROR_MEMORY)
			return status;
	}
	return 0;
}

static int add_instructions(const struct report_request *request, const struct label_set *roots,
			    const struct code_address *addresses, size_t count, struct result *result,
			    struct error *error)
{
	struct code_list code;
	struct error obstacle = { 0 };
	int status = code_list_init(&code);
	if (status < 0)
		return error_set(error, status, "out of memory");
	status = decode_all(request, addresses, count, &code, &obstacle);
	if (status < 0 || (code.count == 0 && obstacle.code)) {
		code_list_release(&code);
		return refuse(result, obstacle.code, obstacle.message, error);
	}
	struct instruction_list *list = analyze_instructions(result->view, roots, &code, error);
	if (!list)
		return error->code;
	list->obstacle = obstacle;
	result->data = list;
	return 0;
}

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	struct code_address *addresses = NULL;
	size_t count = 0;
	if (roots->count == 0)
		return 0;
	if (!request->code)
		return refuse(result, ERROR_UNSUPPORTED, "no files can be read here (use 'cpprof report --asm')",
			      error);
	int status = analyze_code_addresses(result->view, roots, &addresses, &count, error);
	if (status == 0 && count > 0)
		status = add_instructions(request, roots, addresses, count, result, error);
	free(addresses);
	return status;
}

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
	return printing->result->data;
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
	const struct instruction_list *list = result->data;
	uint32_t function = list->functions[range];
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
	const struct instruction_list *list = result->data;
	const struct view *view = result->view;
	struct printing printing = { .out = document->out, .document = document, .result = result };
	const char *error = resource_has_samples(view->resource) ? " ±error" : "";
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
	const struct instruction_list *list = result->data;
	const struct code_instruction *instruction = &list->code.instructions[index];
	const struct instruction_hits *hits = &list->hits[index];
	sheet_row(sheet);
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

static void print_table(struct render_document *document, const struct result *result)
{
	const struct instruction_list *list = result->data;
	struct sheet sheet;
	sheet_begin(
		&sheet, document, result,
		"resource,function,container,module,address,bytes,body_fraction,total_fraction,body_hits,total_hits,"
		"instruction,target,is_target,callee,file,line");
	if (sheet.json) {
		sheet_count(&sheet, "unplaced_hits", list ? list->unplaced : 0);
		sheet_optional_text(&sheet, "obstacle", list && list->obstacle.code ? list->obstacle.message : NULL);
	}
	sheet_entries(&sheet);
	for (size_t range = 0; list && range < list->code.range_count; range++)
		for (size_t i = 0; i < list->code.ranges[range].count; i++)
			print_row(&sheet, result, range, list->code.ranges[range].first + i);
	sheet_close(&sheet, 0);
}

static void free_data(void *data)
{
	instruction_list_free(data);
}

static const struct result_type type = {
	.text = print_text,
	.table = print_table,
	.free_data = free_data,
};

const struct report report_asm = {
	.name = "asm",
	.argument = REPORT_TAKES_FUNCTION,
	.help = "The machine instructions of function FN, with the hits beside each",
	.summary = "the machine instructions of a function and their hits",
	.detail = "Names are as for 'down'. The file that was recorded must still be there.\n",
	.refuses = { { SETTING_THRESHOLD | SETTING_LIMIT | SETTING_BY | REPORT_GROUP | SETTING_ZEROS,
		       "it shows all instructions of a function" } },
	.fixes_by = true,
	.by = VIEW_FUNCTION,
	.parts = { { "Instruction Profile", &type, build } },
};
