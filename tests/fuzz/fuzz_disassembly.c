/* The answer of the jail that disassembles a file: whatever it sends, the list has disjoint ranges without gaps. */
#include <stdlib.h>

#include "profile/code.h"

static void check(const struct code_list *list)
{
	for (size_t i = 0; i < list->range_count; i++) {
		const struct code_range *range = &list->ranges[i];
		uint64_t next = range->start;
		if (range->count == 0 || range->first + range->count > list->count)
			abort();
		for (size_t k = range->first; k < range->first + range->count; k++) {
			if (list->instructions[k].address != next || !list->instructions[k].text)
				abort();
			next += list->instructions[k].bytes;
			if (code_list_find(list, range->module, next - 1) != k)
				abort();
		}
		if (next != range->end)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct code_list list;
	if (code_list_init(&list) < 0)
		return 0;
	if (code_list_read(&list, 0, cursor_over(bytes, size)) < 0 && (list.range_count || list.count))
		abort();
	check(&list);
	code_list_release(&list);
	return 0;
}
