/*
 * LLVM's text sample profile, which clang reads by -fprofile-sample-use. Grammar: SampleProfReader.h of LLVM.
 *
 *     nested and flat                            contexts
 *
 *     main:291:297                               [main:8 @ digest]:200:297
 *      1: 91                                      2.1: 75
 *      8: digest:200                              3: 125 op_xor:125
 *       2.1: 75
 *       3: 125 op_xor:125
 *
 *     function:total:head                        [call path]:total:head
 *      offset[.discriminator]: count callee:count
 *      offset: callee:total                       of a call, with the callee's lines below it
 *
 * The three forms differ in the contexts that the callees continue (analyze/source_counts.h). A count of a position
 * with a call is at least the count of its calls: the call was executed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/source_counts.h"
#include "formats/context_order.h"
#include "formats/format.h"

struct writing {
	const struct source_counts *counts;
	struct sink *out;
	struct context_order order;
};

/* --- lines --- */

static void write_position(struct sink *out, const struct source_position *position)
{
	sink_printf(out, "%" PRIu32, position->offset);
	if (position->discriminator)
		sink_printf(out, ".%" PRIu32, position->discriminator);
}

static bool is_before(const struct source_position *a, const struct source_position *b)
{
	return a->offset != b->offset ? a->offset < b->offset : a->discriminator < b->discriminator;
}

static bool is_same(const struct source_position *a, const struct source_position *b)
{
	return a->offset == b->offset && a->discriminator == b->discriminator;
}

/* Writes one line for each position of a context that has hits of its own, calls, or both. */
static void write_lines(const struct writing *writing, uint32_t context, int indent)
{
	const struct source_counts *counts = writing->counts;
	size_t line = writing->order.first_line[context], line_end = writing->order.first_line[context + 1];
	size_t call = writing->order.first_call[context], call_end = writing->order.first_call[context + 1];
	while (line < line_end || call < call_end) {
		struct source_position at =
			line < line_end ? counts->lines[line].position : counts->calls[call].position;
		if (call < call_end && is_before(&counts->calls[call].position, &at))
			at = counts->calls[call].position;
		uint64_t own = 0, below = 0;
		if (line < line_end && is_same(&counts->lines[line].position, &at))
			own = counts->lines[line++].count;
		size_t end = call;
		for (; end < call_end && is_same(&counts->calls[end].position, &at); end++)
			below += counts->calls[end].count;
		sink_printf(writing->out, "%*s", indent, "");
		write_position(writing->out, &at);
		sink_printf(writing->out, ": %" PRIu64, own > below ? own : below);
		for (; call < end; call++)
			sink_printf(writing->out, " %s:%" PRIu64, counts->functions[counts->calls[call].function].name,
				    counts->calls[call].count);
		sink_text(writing->out, "\n");
	}
}

/* --- contexts --- */

static void write_name(struct sink *out, const struct source_counts *counts, uint32_t context)
{
	sink_text(out, counts->functions[counts->contexts[context].function].name);
}

/* Writes a context and those below it, each one blank further to the right. The depth is limited: a function occurs
 * once in a context. */
static void write_nested(const struct writing *writing, uint32_t context, int indent)
{
	write_lines(writing, context, indent + 1);
	for (size_t i = writing->order.first_child[context]; i < writing->order.first_child[context + 1]; i++) {
		uint32_t child = writing->order.contexts[i];
		const struct source_context *row = &writing->counts->contexts[child];
		sink_printf(writing->out, "%*s", indent + 1, "");
		write_position(writing->out, &row->call);
		sink_text(writing->out, ": ");
		write_name(writing->out, writing->counts, child);
		sink_printf(writing->out, ":%" PRIu64 "\n", row->total);
		write_nested(writing, child, indent + 1);
	}
}

static void write_all_nested(const struct writing *writing)
{
	const struct source_counts *counts = writing->counts;
	for (size_t i = 0; i < counts->context_count && !sink_failed(writing->out); i++) {
		uint32_t context = writing->order.contexts[i];
		if (counts->contexts[context].parent != PROFILE_NONE)
			return;
		write_name(writing->out, counts, context);
		sink_printf(writing->out, ":%" PRIu64 ":%" PRIu64 "\n", counts->contexts[context].total,
			    counts->contexts[context].head);
		write_nested(writing, context, 0);
	}
}

/* Writes "main:8 @ digest:2 @ each". `path` has room for all contexts. */
static void write_path(const struct writing *writing, uint32_t context, uint32_t *path)
{
	const struct source_counts *counts = writing->counts;
	size_t length = 0;
	for (uint32_t at = context; at != PROFILE_NONE; at = counts->contexts[at].parent)
		path[length++] = at;
	while (length-- > 0) {
		write_name(writing->out, counts, path[length]);
		if (length == 0)
			return;
		sink_text(writing->out, ":");
		write_position(writing->out, &counts->contexts[path[length - 1]].call);
		sink_text(writing->out, " @ ");
	}
}

static int write_all_contexts(const struct writing *writing)
{
	const struct source_counts *counts = writing->counts;
	uint32_t *path = malloc((counts->context_count + 1) * sizeof(*path));
	if (!path)
		return ERROR_MEMORY;
	for (uint32_t i = 0; i < counts->context_count && !sink_failed(writing->out); i++) {
		if (writing->order.first_line[i] == writing->order.first_line[i + 1] &&
		    writing->order.first_call[i] == writing->order.first_call[i + 1])
			continue; /* all its hits are lost: see the comments of the file */
		sink_text(writing->out, "[");
		write_path(writing, i, path);
		sink_printf(writing->out, "]:%" PRIu64 ":%" PRIu64 "\n", counts->contexts[i].own,
			    counts->contexts[i].head);
		write_lines(writing, i, 1);
	}
	free(path);
	return 0;
}

/* Writes comments, which LLVM skips. */
static void write_losses(const struct writing *writing)
{
	const struct source_losses *losses = &writing->counts->losses;
	sink_printf(writing->out, "# %" PRIu64 " hits\n", writing->counts->hits);
	const struct {
		uint64_t count;
		const char *what;
	} rows[] = {
		{ losses->without_lines, "hits in code without line numbers or linkage names" },
		{ losses->line_zero, "hits in code that belongs to no line" },
		{ losses->above_start, "hits in lines above their function" },
		{ losses->names, "names of several functions each, whose counts are added up" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].count > 0)
			sink_printf(writing->out, "# %" PRIu64 " %s\n", rows[i].count, rows[i].what);
}

static int export(const struct format_input *input, enum source_nesting nesting, struct sink *out, struct error *error)
{
	struct writing writing = { .out = out };
	int status = context_order_make(&writing.order, input, nesting, "-g -fdebug-info-for-profiling", error);
	writing.counts = writing.order.counts;
	if (status == 0) {
		write_losses(&writing);
		if (nesting == NEST_ALL)
			status = write_all_contexts(&writing);
		else
			write_all_nested(&writing);
	}
	context_order_release(&writing.order);
	return status;
}

static int export_nested(const struct format_input *input, struct sink *out, struct error *error)
{
	return export(input, NEST_FILE, out, error);
}

static int export_contexts(const struct format_input *input, struct sink *out, struct error *error)
{
	return export(input, NEST_ALL, out, error);
}

static int export_flat(const struct format_input *input, struct sink *out, struct error *error)
{
	return export(input, NEST_INLINED, out, error);
}

const struct format format_llvm_profile = {
	.name = "llvm-profile",
	.title = "LLVM's sample profile",
	.ending = "prof",
	.summary =
		"counts of lines for clang -fprofile-sample-use; a function has its own counts for each caller in its "
		"file",
	.options = FORMAT_RESOURCE | FORMAT_SELECTION,
	.export = export_nested,
};

const struct format format_llvm_profile_contexts = {
	.name = "llvm-profile-contexts",
	.title = "LLVM's sample profile",
	.ending = "prof",
	.summary = "the same with a function's counts for each call path, also across files; for builds with -flto",
	.options = FORMAT_RESOURCE | FORMAT_SELECTION,
	.export = export_contexts,
};

const struct format format_llvm_profile_flat = {
	.name = "llvm-profile-flat",
	.title = "LLVM's sample profile",
	.ending = "prof",
	.summary = "the same with one count for all callers of a function, except where it was inlined",
	.options = FORMAT_RESOURCE | FORMAT_SELECTION,
	.export = export_flat,
};
