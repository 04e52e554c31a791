#include "profile/code.h"

#include <stdlib.h>

int code_list_init(struct code_list *list)
{
	*list = (struct code_list){ 0 };
	return strings_init(&list->texts);
}

void code_list_release(struct code_list *list)
{
	free(list->ranges);
	free(list->instructions);
	strings_release(&list->texts);
	*list = (struct code_list){ 0 };
}

size_t code_list_range(const struct code_list *list, uint32_t module, uint64_t address)
{
	for (size_t i = 0; i < list->range_count; i++) {
		const struct code_range *range = &list->ranges[i];
		if (range->module == module && range->start <= address && address < range->end)
			return i;
	}
	return SIZE_MAX;
}

size_t code_list_find(const struct code_list *list, uint32_t module, uint64_t address)
{
	size_t range = code_list_range(list, module, address);
	if (range == SIZE_MAX)
		return SIZE_MAX;
	size_t low = list->ranges[range].first, high = low + list->ranges[range].count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (list->instructions[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}
