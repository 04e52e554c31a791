/*
 * A writer keeps two things from one file to the next: the names that the server has, and lists of stacks. A recording's rows have numbers of
 * stacks: their places in all lists of its writer, one list behind the other. Each file adds a list of the stacks that are new, and
 * recordings of one writer share the others.
 */
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "store/clickhouse.h"
#include "store/hash.h"

enum { MOST = 1 << 20 }; /* hashes of a kind in memory, 32 bytes each */

int64_t clickhouse_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec;
}

void clickhouse_known_forget(struct clickhouse_store *store)
{
	struct clickhouse_known *known = &store->known;
	for (int i = 0; i < CLICKHOUSE_NAME_TABLES; i++)
		hash_map_release(&known->names[i]);
	hash_map_release(&known->numbers);
	known->list_count = 0;
}

void clickhouse_known_begin(struct clickhouse_store *store)
{
	struct clickhouse_known *known = &store->known;
	bool is_full = known->numbers.count > MOST || known->list_count == CLICKHOUSE_LISTS_MOST;
	for (int i = 0; i < CLICKHOUSE_NAME_TABLES; i++)
		is_full = is_full || known->names[i].count > MOST;
	if (is_full || clickhouse_seconds() - known->since_s > CLICKHOUSE_LONGEST_S) {
		clickhouse_known_forget(store);
		known->since_s = clickhouse_seconds();
	}
}

/* Adds the stacks that have no number to a new list. Returns their count, or ERROR_MEMORY. */
static int64_t number_stacks(struct clickhouse_known *known, const uint64_t *hashes, const bool *has_rows, size_t count,
			     int64_t *numbers, struct buffer *list)
{
	int64_t added = 0;
	for (size_t i = 1; i < count; i++) {
		uint32_t number = 0;
		if (!has_rows[i])
			continue;
		int is_new = hash_map_number(&known->numbers, hashes[i], &number);
		if (is_new < 0)
			return is_new;
		if (is_new > 0)
			clickhouse_put_u64(list, hashes[i]);
		added += is_new;
		numbers[i] = number;
	}
	return buffer_error(list) < 0 ? ERROR_MEMORY : added;
}

/* Sends a list that the server may have: its hash is that of its content. */
static int send_list(struct clickhouse_store *store, const struct buffer *list, uint64_t hash, struct error *error)
{
	struct buffer row;
	buffer_init(&row);
	clickhouse_put_u64(&row, hash);
	clickhouse_put_count(&row, list->size / sizeof(uint64_t));
	buffer_append(&row, list->bytes, list->size);
	int status = clickhouse_insert(store, "stack_lists(hash, stacks)", &row, false, error);
	buffer_release(&row);
	return status;
}

int clickhouse_known_number(struct clickhouse_store *store, const uint64_t *hashes, const bool *has_rows, size_t count,
			    int64_t *numbers, struct error *error)
{
	struct clickhouse_known *known = &store->known;
	struct buffer list;
	buffer_init(&list);
	int64_t added = number_stacks(known, hashes, has_rows, count, numbers, &list);
	int status = added < 0 ? (int)added : ARRAY_RESERVE(known->lists, known->list_capacity, known->list_count + 1);
	if (status < 0)
		clickhouse_fail(store, "write", ERROR_MEMORY, error_text(ERROR_MEMORY), error);
	if (status == 0 && added > 0) {
		uint64_t hash = store_hash_list(list.bytes, list.size);
		status = send_list(store, &list, hash, error);
		known->lists[known->list_count++] = hash;
	}
	buffer_release(&list);
	return status;
}
