#include <stdlib.h>

#include "base/quote.h"
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
	result->instructions = analyze_instructions(result->view, roots, &code, error);
	if (!result->instructions)
		return error->code;
	result->instructions->obstacle = obstacle;
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

const struct report report_asm = {
	.name = "asm",
	.argument = REPORT_TAKES_FUNCTION,
	.help = "The machine instructions of function FN, with the hits beside each",
	.summary = "the machine instructions of a function and their hits",
	.detail = "Names are as for 'down'. The file that was recorded must still be there.\n",
	.refuses = { { REPORT_THRESHOLD | REPORT_LIMIT | REPORT_BY | REPORT_GROUP,
		       "it shows all instructions of a function" } },
	.fixes_by = true,
	.by = VIEW_FUNCTION,
	.parts = { { "Instruction Profile", RESULT_INSTRUCTIONS, build } },
};
