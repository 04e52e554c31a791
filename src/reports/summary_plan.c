#include "reports/summary.h"

#include <stdbool.h>

/* Gives a part one row more if that fits. Returns whether it did. */
static bool give(struct plan_part *part, size_t gap, size_t *lines)
{
	if (part->shown >= part->rows)
		return false;
	size_t height = part->heights ? part->heights[part->shown] : 1;
	if (part->shown == 0)
		height += 1 + gap;
	if (height > *lines)
		return false;
	*lines -= height;
	part->shown++;
	return true;
}

void plan_rows(struct plan_part *parts, const unsigned char *order, size_t count, size_t gap, size_t lines)
{
	for (size_t i = 0; i < count; i++) {
		struct plan_part *part = &parts[order[i]];
		part->shown = 0;
		while (part->shown < part->least && give(part, gap, &lines))
			;
	}
	for (bool is_growing = true; is_growing;) {
		is_growing = false;
		for (size_t i = 0; i < count; i++)
			is_growing |= parts[order[i]].shown > 0 && give(&parts[order[i]], gap, &lines);
	}
}
