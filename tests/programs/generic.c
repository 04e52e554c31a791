/*
 * Four callers pass four functions through two generic functions, as sort routines, iterators and event loops do. The generic
 * functions check much that never happens, which makes them too large for a compiler to inline without a profile.
 * One check is made for each item, so that a compiler cannot replace the loops by vector instructions: a build gains
 * by direct calls that are inlined, and by nothing else.
 * Prints a checksum. Usage: generic TURNS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint32_t op(uint32_t total, uint32_t item);

struct range {
	const uint32_t *items;
	size_t count, stride, room;
	uint32_t missing; /* the value of an item without one */
	const char *name;
};

uint32_t op_add(uint32_t total, uint32_t item)
{
	return total + item;
}

uint32_t op_xor(uint32_t total, uint32_t item)
{
	return total ^ item;
}

uint32_t op_max(uint32_t total, uint32_t item)
{
	return total > item ? total : item;
}

uint32_t op_or(uint32_t total, uint32_t item)
{
	return total | (item & 0xff);
}

static void refuse(const struct range *range, const char *reason, size_t number)
{
	fprintf(stderr, "%s: %s: %zu\n", range->name, reason, number);
	exit(1);
}

uint32_t fold(const struct range *range, op *f, uint32_t total)
{
	if (!range->items)
		refuse(range, "no items", range->count);
	if (range->stride == 0)
		refuse(range, "no stride", range->stride);
	if (range->count > SIZE_MAX / range->stride)
		refuse(range, "too many items", range->count);
	if (range->count * range->stride > range->room)
		refuse(range, "items out of range", range->count * range->stride);
	if ((uintptr_t)range->items % sizeof(uint32_t) != 0)
		refuse(range, "items not aligned", (uintptr_t)range->items % sizeof(uint32_t));
	if (range->stride > 4096)
		refuse(range, "stride too large", range->stride);
	for (size_t i = 0; i < range->count; i++) {
		uint32_t item = range->items[i * range->stride];
		if (item == range->missing)
			refuse(range, "an item is missing", i);
		total = f(total, item);
	}
	return total;
}

uint32_t each(const struct range *rows, size_t count, op *f)
{
	uint32_t total = 0;
	if (!rows)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].name)
			refuse(&rows[i], "no name", i);
		if (rows[i].room > UINT32_MAX)
			refuse(&rows[i], "too large", rows[i].room);
		if (rows[i].count > rows[i].room)
			refuse(&rows[i], "too many", rows[i].count);
		total = fold(&rows[i], f, total);
	}
	return total;
}

enum { ROWS = 16, COLUMNS = 16, SWEEPS = 64, MISSING = 0 };

uint32_t sum(const struct range *rows)
{
	return each(rows, ROWS, op_add);
}

uint32_t digest(const struct range *rows)
{
	return each(rows, ROWS, op_xor);
}

uint32_t largest(const struct range *rows)
{
	return each(rows, ROWS, op_max);
}

uint32_t bits(const struct range *rows)
{
	return each(rows, ROWS, op_or);
}

int main(int argc, char **argv)
{
	static uint32_t items[ROWS * COLUMNS];
	static struct range rows[ROWS];
	int turns = argc > 1 ? atoi(argv[1]) : 1000;
	uint32_t state = 1, result = 0;
	for (size_t i = 0; i < ROWS * COLUMNS; i++)
		items[i] = (state = state * 1664525 + 1013904223) | 1;
	for (size_t i = 0; i < ROWS; i++)
		rows[i] = (struct range){ items + i * COLUMNS, COLUMNS, 1, COLUMNS, MISSING, "row" };
	for (long sweep = 0; sweep < (long)turns * SWEEPS; sweep++) {
		uint32_t *item = &items[sweep % (ROWS * COLUMNS)];
		*item = (*item ^ result) | 1;
		result += sum(rows) + digest(rows) + largest(rows) + bits(rows);
	}
	printf("%u\n", result);
	return 0;
}
