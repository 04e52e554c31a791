/*
 * gcc's profile for -fauto-profile, version 2 (auto-profile.cc of gcc). Numbers have 32 bits; a counter has 64, its low
 * half first; all little-endian.
 *
 *     "gcda"  2  0
 *     0xaa000000  words  names: count, then each: length, bytes and a NUL
 *     0xac000000  words  functions: count, then each: head (counter) and
 *          name  positions  calls
 *          positions: offset << 16, targets, samples (counter); each target: kind, name (counter), samples (counter)
 *          calls: offset << 16, and the called function in this context: name  positions  calls, ...
 *     0xae000000  words  0 modules
 *     0xaf000000  words  128 working sets, which only AutoFDO's tools read: all zero
 *
 * gcc ignores discriminators, so that the positions of one line are one: it has the largest count,
 * and all targets. Lengths of sections are written, and no reader needs them. gcc 12 counts a
 * name's bytes; earlier versions count words, which they pad.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/source_counts.h"
#include "base/buffer.h"
#include "formats/context_order.h"
#include "formats/format.h"

enum { VERSION = 2, WORKING_SETS = 128, INDIRECT_CALL_TOP = 7, OFFSET_SHIFT = 16, OFFSET_MAX = 0xffff };

static const uint32_t magic = 0x67636461, tag_names = 0xaa000000, tag_functions = 0xac000000, tag_modules = 0xae000000,
		      tag_working_set = 0xaf000000;

struct writing {
	const struct source_counts *counts;
	struct buffer text;
	struct context_order order;
	bool is_padded; /* names are, as before gcc 12 */
};

static void put(struct buffer *to, uint32_t number)
{
	buffer_append(to, &number, sizeof(number));
}

static void put_counter(struct buffer *to, uint64_t count)
{
	put(to, (uint32_t)count);
	put(to, (uint32_t)(count >> 32));
}

/* Appends a section. */
static void put_section(struct buffer *to, uint32_t tag, const struct buffer *section)
{
	put(to, tag);
	put(to, (uint32_t)(section->size / sizeof(uint32_t)));
	buffer_append(to, section->bytes, section->size);
}

/* --- positions --- */

/* Returns the smallest offset of a context's lines and calls from `from` on, or OFFSET_MAX + 1. */
static uint32_t next_offset(const struct writing *writing, uint32_t context, uint32_t from)
{
	const struct source_counts *counts = writing->counts;
	uint32_t next = OFFSET_MAX + 1;
	for (size_t i = writing->order.first_line[context]; i < writing->order.first_line[context + 1]; i++)
		if (counts->lines[i].position.offset >= from && counts->lines[i].position.offset < next)
			next = counts->lines[i].position.offset;
	for (size_t i = writing->order.first_call[context]; i < writing->order.first_call[context + 1]; i++)
		if (counts->calls[i].position.offset >= from && counts->calls[i].position.offset < next)
			next = counts->calls[i].position.offset;
	return next;
}

/* Returns the sum of a context's calls of one function at an offset, or 0 if `call` is not the first of them. */
static uint64_t calls_like(const struct writing *writing, uint32_t context, size_t call)
{
	const struct source_counts *counts = writing->counts;
	const struct source_call *row = &counts->calls[call];
	uint64_t sum = 0;
	for (size_t i = writing->order.first_call[context]; i < writing->order.first_call[context + 1]; i++) {
		if (counts->calls[i].position.offset != row->position.offset ||
		    counts->calls[i].function != row->function)
			continue;
		if (i < call)
			return 0;
		sum += counts->calls[i].count;
	}
	return sum;
}

static void put_position(struct writing *writing, uint32_t context, uint32_t offset)
{
	const struct source_counts *counts = writing->counts;
	size_t call = writing->order.first_call[context], end = writing->order.first_call[context + 1];
	uint64_t own = 0, below = 0;
	uint32_t targets = 0;
	for (size_t i = writing->order.first_line[context]; i < writing->order.first_line[context + 1]; i++)
		if (counts->lines[i].position.offset == offset && counts->lines[i].count > own)
			own = counts->lines[i].count;
	while (call < end && counts->calls[call].position.offset < offset)
		call++;
	while (end > call && counts->calls[end - 1].position.offset > offset)
		end--;
	for (size_t i = call; i < end; i++) {
		below += counts->calls[i].count;
		targets += calls_like(writing, context, i) > 0;
	}
	put(&writing->text, offset << OFFSET_SHIFT);
	put(&writing->text, targets);
	put_counter(&writing->text, own > below ? own : below);
	for (size_t i = call; i < end; i++) {
		uint64_t count = calls_like(writing, context, i);
		if (count == 0)
			continue;
		put(&writing->text, INDIRECT_CALL_TOP);
		put_counter(&writing->text, counts->calls[i].function);
		put_counter(&writing->text, count);
	}
}

/* Writes a context and those below it. The depth is limited: a function occurs once in a context. */
static void put_context(struct writing *writing, uint32_t context)
{
	const struct source_counts *counts = writing->counts;
	uint32_t positions = 0, calls = 0;
	for (uint32_t at = next_offset(writing, context, 0); at <= OFFSET_MAX;
	     at = next_offset(writing, context, at + 1))
		positions++;
	for (size_t i = writing->order.first_child[context]; i < writing->order.first_child[context + 1]; i++)
		calls += counts->contexts[writing->order.contexts[i]].call.offset <= OFFSET_MAX;
	put(&writing->text, counts->contexts[context].function);
	put(&writing->text, positions);
	put(&writing->text, calls);
	for (uint32_t at = next_offset(writing, context, 0); at <= OFFSET_MAX;
	     at = next_offset(writing, context, at + 1))
		put_position(writing, context, at);
	for (size_t i = writing->order.first_child[context]; i < writing->order.first_child[context + 1]; i++) {
		const struct source_context *child = &counts->contexts[writing->order.contexts[i]];
		if (child->call.offset > OFFSET_MAX)
			continue;
		put(&writing->text, child->call.offset << OFFSET_SHIFT);
		put_context(writing, writing->order.contexts[i]);
	}
}

/* --- sections --- */

/* Appends a name: its length in bytes, or in words, and then padded. */
static void put_name(struct buffer *to, const char *name, bool is_padded)
{
	static const char padding[sizeof(uint32_t)];
	uint32_t size = (uint32_t)strlen(name) + 1, word = sizeof(uint32_t);
	uint32_t words = (size + word - 1) / word;
	put(to, is_padded ? words : size);
	buffer_append(to, name, size);
	if (is_padded)
		buffer_append(to, padding, words * word - size);
}

static void put_names(struct buffer *to, const struct source_counts *counts, bool is_padded)
{
	struct buffer section;
	buffer_init(&section);
	put(&section, (uint32_t)counts->function_count);
	for (size_t i = 0; i < counts->function_count; i++)
		put_name(&section, counts->functions[i].name, is_padded);
	put_section(to, tag_names, &section);
	if (buffer_error(&section))
		to->error = ERROR_MEMORY;
	buffer_release(&section);
}

static void put_functions(struct buffer *to, struct writing *writing)
{
	const struct source_counts *counts = writing->counts;
	uint32_t count = 0;
	for (size_t i = 0; i < counts->context_count; i++)
		count += counts->contexts[i].parent == PROFILE_NONE;
	put(&writing->text, count);
	for (size_t i = 0; i < counts->context_count; i++) {
		if (counts->contexts[i].parent != PROFILE_NONE)
			continue;
		put_counter(&writing->text, counts->contexts[i].head);
		put_context(writing, (uint32_t)i);
	}
	put_section(to, tag_functions, &writing->text);
	if (buffer_error(&writing->text))
		to->error = ERROR_MEMORY;
}

static void put_unused(struct buffer *to)
{
	static const uint32_t modules, working_sets[WORKING_SETS * 3]; /* each: counters, smallest count (counter) */
	const struct buffer none = { .bytes = (uint8_t *)&modules, .size = sizeof(modules) };
	const struct buffer sets = { .bytes = (uint8_t *)working_sets, .size = sizeof(working_sets) };
	put_section(to, tag_modules, &none);
	put_section(to, tag_working_set, &sets);
}

static int write_all(struct writing *writing, struct sink *out)
{
	struct buffer all;
	buffer_init(&all);
	put(&all, magic);
	put(&all, VERSION);
	put(&all, 0);
	put_names(&all, writing->counts, writing->is_padded);
	put_functions(&all, writing);
	put_unused(&all);
	int status = buffer_error(&all);
	if (status == 0)
		sink_write(out, all.bytes, all.size);
	buffer_release(&all);
	return status;
}

static int export(const struct format_input *input, bool is_padded, struct sink *out, struct error *error)
{
	struct writing writing = { .is_padded = is_padded };
	buffer_init(&writing.text);
	int status = context_order_make(&writing.order, input, NEST_FILE, "-g", error);
	writing.counts = writing.order.counts;
	if (status == 0)
		status = write_all(&writing, out);
	buffer_release(&writing.text);
	context_order_release(&writing.order);
	return status;
}

static int export_bytes(const struct format_input *input, struct sink *out, struct error *error)
{
	return export(input, false, out, error);
}

static int export_words(const struct format_input *input, struct sink *out, struct error *error)
{
	return export(input, true, out, error);
}

const struct format format_gcc_profile = {
	.name = "gcc-profile",
	.title = "gcc's sample profile",
	.ending = "afdo",
	.summary = "counts of lines for -fauto-profile of gcc 12 and later; a function has its own counts for each "
		   "caller in its file",
	.options = FORMAT_RESOURCE | FORMAT_SELECTION,
	.is_binary = true,
	.export = export_bytes,
};

const struct format format_gcc_profile_11 = {
	.name = "gcc-profile-11",
	.title = "gcc's sample profile",
	.ending = "afdo",
	.summary = "the same for gcc up to version 11, and for the tools of AutoFDO",
	.options = FORMAT_RESOURCE | FORMAT_SELECTION,
	.is_binary = true,
	.export = export_words,
};
