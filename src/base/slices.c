#include "base/slices.h"

enum { SLICE_ITEMS = 4096 };

void slices_run(size_t count, slice_work *work, void *context)
{
	for (size_t begin = 0; begin < count; begin += SLICE_ITEMS)
		work(context, begin, count - begin < SLICE_ITEMS ? count : begin + SLICE_ITEMS);
}

void slices_run_back(size_t count, slice_work *work, void *context)
{
	for (size_t end = count; end > 0;) {
		size_t begin = (end - 1) / SLICE_ITEMS * SLICE_ITEMS;
		work(context, begin, end);
		end = begin;
	}
}
