#include "store/row_blocks.h"

#include <stdlib.h>

#include "base/compare.h"
#include "store/rows.h"

/* Rows of hits or touches on their way into blocks, each FORMAT_ROWS_MAX of them; owned. */
struct packing {
	const struct row_blocks *blocks;
	enum format_block_type type;
	struct rows_packer packer;
	struct packed_row *rows, *sorted;
	uint64_t *order;
	size_t count;
	uint32_t resource; /* of all rows */
};

static bool are_together(const struct packed_row *a, const struct packed_row *b)
{
	return a->thread == b->thread && a->labels == b->labels && a->bucket_after == b->bucket_after;
}

static int compare_numbers(const void *left, const void *right)
{
	return COMPARE(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* Sorts the rows of each thread, label set and bucket, which come together, by their stacks. */
static void sort_rows(const struct packing *packing, size_t count)
{
	const struct packed_row *rows = packing->rows;
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first; end < count && are_together(&rows[first], &rows[end]); end++)
			packing->order[end] = rows[end].stack << 32 | end;
		qsort(packing->order + first, end - first, sizeof(*packing->order), compare_numbers);
	}
	for (size_t i = 0; i < count; i++)
		packing->sorted[i] = rows[(uint32_t)packing->order[i]];
}

/* Passes the rows on as one block. */
static int finish_block(struct packing *packing)
{
	const struct row_blocks *blocks = packing->blocks;
	uint64_t first = UINT64_MAX, last = 0;
	size_t count = packing->count;
	packing->count = 0;
	if (count == 0)
		return 0;
	sort_rows(packing, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t after = packing->rows[i].bucket_after;
		first = after < first ? after : first;
		last = after > last ? after : last;
	}
	int status = rows_pack(&packing->packer, packing->type, blocks->batch->profile, packing->sorted, count);
	const struct row_block block = { .resource = packing->resource,
					 .first = (int64_t)first - 1,
					 .last = (int64_t)last - 1,
					 .rows = count,
					 .bytes = packing->packer.packer.whole.bytes,
					 .size = packing->packer.packer.whole.size };
	return status < 0 ? error_set(blocks->error, status, "cannot pack rows: %s", error_text(status))
			  : blocks->take(blocks->context, &block);
}

/* Adds a row, whose series and node are of the batch. Rows of one resource come one after the other. */
static int pack_row(struct packing *packing, uint32_t series, uint32_t node, int64_t bucket, struct packed_row row)
{
	const struct batch_series *of = &packing->blocks->batch->series[series];
	int status = 0;
	if (packing->count == FORMAT_ROWS_MAX || of->resource != packing->resource)
		status = finish_block(packing);
	packing->resource = of->resource;
	row.bucket_after = (uint64_t)bucket + 1;
	row.stack = (uint64_t)packing->blocks->stacks[node];
	row.thread = of->thread;
	row.labels = of->labels;
	packing->rows[packing->count++] = row;
	return status;
}

static int pack_hits(struct packing *packing)
{
	const struct batch *batch = packing->blocks->batch;
	int status = 0;
	for (size_t i = 0; i < batch->hit_count && status == 0; i++) {
		const struct batch_hit *hit = &batch->hits[i];
		const struct packed_row row = { .size = hit->size, .amount = hit->size ? hit->samples : hit->hits };
		status = pack_row(packing, hit->series, hit->node, hit->bucket, row);
	}
	return status == 0 ? finish_block(packing) : status;
}

static int pack_touches(struct packing *packing)
{
	const struct batch *batch = packing->blocks->batch;
	int status = 0;
	for (size_t i = 0; i < batch->touch_count && status == 0; i++) {
		const struct batch_touch *touch = &batch->touches[i];
		const struct packed_row row = { .amount = touch->hits,
						.address = touch->address,
						.mapping = touch->mapping };
		status = pack_row(packing, touch->series, touch->node, touch->bucket, row);
	}
	return status == 0 ? finish_block(packing) : status;
}

int row_blocks_make(const struct row_blocks *blocks, enum format_block_type type)
{
	struct packing packing = { .blocks = blocks,
				   .type = type,
				   .rows = malloc(FORMAT_ROWS_MAX * sizeof(*packing.rows)),
				   .sorted = malloc(FORMAT_ROWS_MAX * sizeof(*packing.sorted)),
				   .order = malloc(FORMAT_ROWS_MAX * sizeof(*packing.order)) };
	int status = rows_packer_init(&packing.packer);
	if (status < 0 || !packing.rows || !packing.sorted || !packing.order)
		status = error_memory(blocks->error);
	else
		status = type == BLOCK_HITS ? pack_hits(&packing) : pack_touches(&packing);
	rows_packer_release(&packing.packer);
	free(packing.rows);
	free(packing.sorted);
	free(packing.order);
	return status;
}
