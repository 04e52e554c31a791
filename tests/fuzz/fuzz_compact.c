/*
 * Arbitrary bytes as the table of calls in front of a page's profile. The reader checks the profile itself, so an input has
 *
 *     number of locations (1 byte)   bytes of the table (2 bytes)   table   parent and rank of each node (2 bytes)
 *
 * Nodes that are restored have locations of the profile. The whole input is searched for a table as well.
 * Built for libFuzzer, or with replay.c as a program that runs the stored corpus.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "ui/page/compact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void find(const uint8_t *data, size_t size)
{
	struct compact_table table;
	if (compact_find_table(&table, data, size) < 0)
		return;
	require(table.file <= size && table.size <= table.file);
	require(!table.bytes || (table.bytes >= data && table.bytes + table.size == data + table.file));
}

static void restore(const struct compact_table *table, size_t locations, const uint8_t *pairs, size_t count)
{
	struct profile profile = { .location_count = locations, .node_count = count + 1 };
	profile.nodes = calloc(count + 1, sizeof(*profile.nodes));
	if (!profile.nodes)
		return;
	for (size_t i = 1; i <= count; i++, pairs += 2)
		profile.nodes[i] = (struct profile_node){ .parent = (uint32_t)(pairs[0] % i),
							  .location = (uint32_t)(pairs[1] % locations) };
	int status = compact_restore(table, &profile);
	require(status <= 0);
	for (size_t i = 1; status == 0 && i <= count; i++)
		require(profile.nodes[i].location < locations);
	free(profile.nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { HEAD_BYTES = 3 };
	find(data, size);
	if (size < HEAD_BYTES)
		return 0;
	size_t locations = data[0] + 1U, bytes = data[1] | (size_t)data[2] << 8, left = size - HEAD_BYTES;
	bytes = bytes < left ? bytes : left;
	/* A copy of exactly this size, so that a sanitizer detects a read beyond the end. */
	uint8_t *copy = malloc(bytes + 1);
	if (!copy)
		return 0;
	memcpy(copy + 1, data + HEAD_BYTES, bytes);
	const struct compact_table table = { .bytes = copy + 1, .size = bytes };
	restore(&table, locations, data + HEAD_BYTES + bytes, (left - bytes) / 2);
	free(copy);
	return 0;
}
