#include "gprof/image.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_file.h"

void image_close(struct image *image)
{
	free(image->symbols);
	free(image->labels);
	free(image->path);
	strings_release(&image->texts);
	elf_file_free(image->bytes);
	*image = (struct image){ 0 };
}

/* Returns how many of the items, which begin with their start addresses and are sorted by them, start at or before
 * an address. */
static size_t count_until(const void *items, size_t count, size_t bytes, uint64_t address)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t start;
		memcpy(&start, (const uint8_t *)items + middle * bytes, sizeof(start));
		if (start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
_Static_assert(offsetof(struct image_symbol, start) == 0 && offsetof(struct image_label, start) == 0,
	       "see count_until");

uint32_t image_find(const struct image *image, uint64_t address)
{
	size_t count = count_until(image->symbols, image->symbol_count, sizeof(*image->symbols), address);
	return count > 0 && address < image->symbols[count - 1].end ? (uint32_t)(count - 1) : IMAGE_NONE;
}

const struct image_label *image_label_before(const struct image *image, uint64_t address)
{
	size_t count = count_until(image->labels, image->label_count, sizeof(*image->labels), address);
	return count > 0 ? &image->labels[count - 1] : NULL;
}
