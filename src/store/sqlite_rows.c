/* Writes the rows of a recording as blocks (store/rows.h): a block has rows of one resource. */
#include "store/sqlite_rows.h"

#include <stdlib.h>

#include "base/compare.h"
#include "store/rows.h"

/* Rows of hits or touches on their way into blocks, each FORMAT_ROWS_MAX of them; owned. */
struct packing {
	const struct sqlite_store *store;
	const struct batch *batch;
	int64_t profile;
	const int64_t *stacks; /* ids of the store, by node */
	struct error *error;
	enum format_block_type type;
	struct rows_packer packer;
	sqlite3_stmt *insert;
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

/* Writes the rows as one block. */
static int write_block(struct packing *packing)
{
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
	int status = rows_pack(&packing->packer, packing->type, packing->batch->profile, packing->sorted, count);
	if (status < 0)
		return error_set(packing->error, status, "cannot write store '%s': %s", packing->store->path,
				 error_text(status));
	const struct buffer *block = &packing->packer.packer.whole;
	sqlite3_bind_int64(packing->insert, 1, packing->profile);
	sqlite3_bind_int64(packing->insert, 2, packing->resource);
	sqlite3_bind_int64(packing->insert, 3, (int64_t)first - 1);
	sqlite3_bind_int64(packing->insert, 4, (int64_t)last - 1);
	sqlite3_bind_int64(packing->insert, 5, (int64_t)count);
	sqlite3_bind_blob64(packing->insert, 6, block->bytes, block->size, SQLITE_STATIC);
	return sqlite_run(packing->store, packing->insert, "write", packing->error);
}

/* Adds a row, whose series and node are of the batch. Rows of one resource come one after the other. */
static int pack_row(struct packing *packing, uint32_t series, uint32_t node, int64_t bucket, struct packed_row row)
{
	const struct batch_series *of = &packing->batch->series[series];
	int status = 0;
	if (packing->count == FORMAT_ROWS_MAX || of->resource != packing->resource)
		status = write_block(packing);
	packing->resource = of->resource;
	row.bucket_after = (uint64_t)bucket + 1;
	row.stack = (uint64_t)packing->stacks[node];
	row.thread = of->thread;
	row.labels = of->labels;
	packing->rows[packing->count++] = row;
	return status;
}

static int pack_hits(struct packing *packing)
{
	const struct batch *batch = packing->batch;
	int status = 0;
	for (size_t i = 0; i < batch->hit_count && status == 0; i++) {
		const struct batch_hit *hit = &batch->hits[i];
		const struct packed_row row = { .size = hit->size, .amount = hit->size ? hit->samples : hit->hits };
		status = pack_row(packing, hit->series, hit->node, hit->bucket, row);
	}
	return status == 0 ? write_block(packing) : status;
}

static int pack_touches(struct packing *packing)
{
	const struct batch *batch = packing->batch;
	int status = 0;
	for (size_t i = 0; i < batch->touch_count && status == 0; i++) {
		const struct batch_touch *touch = &batch->touches[i];
		const struct packed_row row = { .amount = touch->hits,
						.address = touch->address,
						.mapping = touch->mapping };
		status = pack_row(packing, touch->series, touch->node, touch->bucket, row);
	}
	return status == 0 ? write_block(packing) : status;
}

static int add_rows(struct packing *packing, enum format_block_type type, const char *insert,
		    int (*pack)(struct packing *packing))
{
	packing->type = type;
	packing->insert = sqlite_prepare(packing->store, insert, packing->error);
	int status = packing->insert ? pack(packing) : packing->error->code;
	sqlite3_finalize(packing->insert);
	return status;
}

int sqlite_add_rows(const struct sqlite_store *store, const struct batch *batch, int64_t profile, const int64_t *stacks,
		    struct error *error)
{
	static const char hits[] =
		"INSERT INTO hits(profile, resource, first, last, rows, block) VALUES(?, ?, ?, ?, ?, ?)";
	static const char touches[] =
		"INSERT INTO touches(profile, resource, first, last, rows, block) VALUES(?, ?, ?, ?, ?, ?)";
	struct packing packing = { .store = store,
				   .batch = batch,
				   .profile = profile,
				   .stacks = stacks,
				   .error = error,
				   .rows = malloc(FORMAT_ROWS_MAX * sizeof(*packing.rows)),
				   .sorted = malloc(FORMAT_ROWS_MAX * sizeof(*packing.sorted)),
				   .order = malloc(FORMAT_ROWS_MAX * sizeof(*packing.order)) };
	int status = rows_packer_init(&packing.packer);
	if (status < 0 || !packing.rows || !packing.sorted || !packing.order)
		status = error_memory(error);
	if (status == 0 && batch->hit_count > 0)
		status = add_rows(&packing, BLOCK_HITS, hits, pack_hits);
	if (status == 0 && batch->touch_count > 0)
		status = add_rows(&packing, BLOCK_TOUCHES, touches, pack_touches);
	rows_packer_release(&packing.packer);
	free(packing.rows);
	free(packing.sorted);
	free(packing.order);
	return status;
}
