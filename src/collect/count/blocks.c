/*
 * Adds the executions of basic blocks to a profile: by thread, as the hooks counted them (`blocks`), and by source
 * line (`lines`). Lines are counted over all threads and processes together, because the flow between blocks follows
 * only from the sums.
 *
 * A line that was never executed has a node below the root, without hits or children.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/compare.h"
#include "collect/count/block_lines.h"
#include "collect/count/tally.h"
#include "profile/file_users.h"
#include "profile/findings.h"

/* The largest accepted sum of counts. A row of hits holds 32 bits, so that a corrupt file with larger counts would
 * fill the memory. */
#define COUNTS_MAX (UINT64_C(1) << 54)

struct count_line {
	uint32_t location;
	uint64_t count;
	bool is_entry;
};

struct count_lines {
	struct count_line *items;
	size_t count, capacity;
};

/* A count and the module that it belongs to. */
struct found {
	uint32_t module;
	struct flow_count count;
};

struct finding {
	struct tally *tally;
	struct profile *profile;
	struct found *items;
	size_t count, capacity;
	uint64_t left; /* how much of COUNTS_MAX is left */
};

/* --- all counts in the file --- */

typedef int block_fn(struct finding *finding, const struct count_thread *thread, const struct tally_block *block);

static int each_block_of(struct finding *finding, const struct count_thread *thread, block_fn *visit)
{
	const struct count_chunk *chunk = NULL;
	while ((chunk = tally_next_chunk(finding->tally, thread, TALLY_BLOCK_COUNTS, chunk))) {
		size_t count = (chunk->used - sizeof(struct tally_blocks)) / sizeof(struct tally_block);
		for (size_t i = 0; i < count; i++) {
			struct tally_block block;
			memcpy(&block, chunk->bytes + sizeof(struct tally_blocks) + i * sizeof(block), sizeof(block));
			int status = block.pc && block.count ? visit(finding, thread, &block) : 0;
			if (status < 0)
				return status;
		}
	}
	return 0;
}

static int each_block(struct finding *finding, block_fn *visit)
{
	int status = 0;
	finding->left = COUNTS_MAX;
	for (size_t i = 0; i < finding->tally->thread_count && status == 0; i++)
		status = each_block_of(finding, &finding->tally->threads[i], visit);
	return status;
}

static int find_block(struct finding *finding, const struct count_thread *thread, const struct tally_block *block)
{
	int64_t id = tally_call_site_location(finding->tally, finding->profile, thread->process, block->pc);
	if (id < 0)
		return (int)id;
	if (block->count > finding->left)
		return ERROR_CORRUPT;
	finding->left -= block->count;
	if (ARRAY_RESERVE(finding->items, finding->capacity, finding->count + 1) < 0)
		return ERROR_MEMORY;
	const struct profile_location *location = &finding->profile->locations[id];
	finding->items[finding->count++] =
		(struct found){ .module = location->module,
				.count = { .pc = location->address + 1, .count = block->count } };
	return 0;
}

static int add_block(struct finding *finding, const struct count_thread *thread, const struct tally_block *block)
{
	struct profile *profile = finding->profile;
	uint32_t resource = finding->tally->blocks;
	int64_t id = tally_call_site_location(finding->tally, profile, thread->process, block->pc);
	int64_t node = id < 0 ? id : profile_add_node(profile, thread->base, (uint32_t)id);
	if (node < 0)
		return (int)node;
	profile->resources[resource].total += block->count;
	return profile_add_hit(profile, 0, thread->id, (uint32_t)node, resource, block->count);
}

/* --- lines --- */

static int compare_found(const void *left, const void *right)
{
	const struct found *a = left, *b = right;
	return COMPARE(a->module, b->module) ?: COMPARE(a->count.pc, b->count.pc);
}

static int store_lines(struct finding *finding, uint32_t module, const struct block_lines *lines)
{
	struct count_lines *kept = finding->tally->lines_found;
	for (size_t i = 0; i < lines->count; i++) {
		int64_t id = profile_add_location(finding->profile, module, lines->lines[i].address);
		if (id < 0)
			return (int)id;
		if (ARRAY_RESERVE(kept->items, kept->capacity, kept->count + 1) < 0)
			return ERROR_MEMORY;
		kept->items[kept->count++] = (struct count_line){ .location = (uint32_t)id,
								  .count = lines->lines[i].count,
								  .is_entry = lines->lines[i].is_entry };
	}
	return 0;
}

/* Computes the lines of a module from its counts, of which each address has one. If its file is hostile, a finding
 * reports that its lines have no counts. */
static int find_lines_in(struct finding *finding, uint32_t number, const struct flow_count *counts, size_t count)
{
	struct profile *profile = finding->profile;
	const struct profile_module *module = &profile->modules[number];
	struct block_lines lines;
	struct error error;
	/* A missing file is reported where names are looked up. */
	if (module->kind != MODULE_FILE)
		return 0;
	const char *path = profile_string(profile, module->path);
	int fd = file_users_open_once(profile, path);
	if (fd < 0 && errno == ENOMEM)
		return ERROR_MEMORY;
	int status = block_file_lines(&lines, fd, path, module, counts, count, &error);
	if (fd >= 0)
		close(fd);
	if (status < 0 && status != ERROR_MEMORY) {
		finding_add(profile, FINDING_LINES_UNREADABLE, count, "%s: its lines have no counts", error.message);
		return profile->findings_error;
	}
	if (status == 0)
		status = store_lines(finding, number, &lines);
	block_lines_release(&lines);
	return status;
}

/* The counts are sorted by address; several may have the same address. */
static int find_lines_of(struct finding *finding, const struct found *items, size_t count)
{
	size_t merged = 0;
	struct flow_count *counts = calloc(count, sizeof(*counts));
	if (!counts)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++) {
		if (merged == 0 || counts[merged - 1].pc != items[i].count.pc)
			counts[merged++] = (struct flow_count){ .pc = items[i].count.pc };
		counts[merged - 1].count += items[i].count.count;
	}
	int status = find_lines_in(finding, items[0].module, counts, merged);
	free(counts);
	return status;
}

static int find_lines(struct finding *finding)
{
	int status = 0;
	finding->tally->lines_found = calloc(1, sizeof(*finding->tally->lines_found));
	if (!finding->tally->lines_found)
		return ERROR_MEMORY;
	if (finding->count > 1)
		qsort(finding->items, finding->count, sizeof(finding->items[0]), compare_found);
	for (size_t first = 0, end; first < finding->count && status == 0; first = end) {
		for (end = first; end < finding->count && finding->items[end].module == finding->items[first].module;)
			end++;
		status = find_lines_of(finding, &finding->items[first], end - first);
	}
	return status;
}

/* A function begins at the line that declares it, even if its brace is on a later line. */
static void set_entry_line(struct profile *profile, uint32_t id)
{
	const struct profile_location *location = &profile->locations[id];
	if (location->first_frame == PROFILE_NONE || location->frame_count != 1)
		return;
	struct profile_frame *frame = &profile->frames[location->first_frame];
	const struct profile_function *function = &profile->functions[frame->function];
	if (function->file == frame->file && function->line != 0 && function->line < frame->line)
		frame->line = function->line;
}

static int add_lines(struct finding *finding)
{
	const struct count_lines *lines = finding->tally->lines_found;
	struct profile *profile = finding->profile;
	uint32_t resource = finding->tally->lines;
	int status = 0;
	finding->left = COUNTS_MAX;
	for (size_t i = 0; i < lines->count && status == 0; i++) {
		const struct count_line *line = &lines->items[i];
		if (line->is_entry)
			set_entry_line(profile, line->location);
		int64_t node = profile_add_node(profile, PROFILE_ROOT, line->location);
		if (node < 0)
			return (int)node;
		uint64_t count = line->count < finding->left ? line->count : finding->left;
		finding->left -= count;
		profile->resources[resource].total += count;
		if (count > 0)
			status = profile_add_hit(profile, 0, PROFILE_NONE, (uint32_t)node, resource, count);
	}
	return status;
}

/* --- entry points --- */

static int set_error(struct error *error, int status)
{
	if (status == ERROR_CORRUPT)
		return error_set(error, status, "the tally is damaged: its counts are impossibly high");
	return status < 0 ? error_set(error, status, "%s", error_text(status)) : 0;
}

int tally_block_locations(struct tally *tally, struct profile *profile, struct error *error)
{
	struct finding finding = { .tally = tally, .profile = profile };
	int64_t blocks = tally_add_exact(profile, "blocks", "Basic Blocks", "execution");
	int64_t lines = blocks < 0 ? blocks : tally_add_exact(profile, "lines", "Source Lines", "execution");
	if (lines < 0)
		return set_error(error, (int)lines);
	tally->blocks = (uint32_t)blocks;
	tally->lines = (uint32_t)lines;
	int status = each_block(&finding, find_block);
	if (status == 0)
		status = find_lines(&finding);
	free(finding.items);
	return set_error(error, status);
}

int tally_block_hits(struct tally *tally, struct profile *profile, struct error *error)
{
	struct finding finding = { .tally = tally, .profile = profile };
	int status = each_block(&finding, add_block);
	if (status == 0)
		status = add_lines(&finding);
	return set_error(error, status);
}

void tally_block_release(struct tally *tally)
{
	if (tally->lines_found)
		free(tally->lines_found->items);
	free(tally->lines_found);
}
