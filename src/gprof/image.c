#include "gprof/image.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
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

uint32_t image_find(const struct image *image, uint64_t address)
{
	size_t count = LOWER_BOUND(i, 0, image->symbol_count, image->symbols[i].start <= address);
	return count > 0 && address < image->symbols[count - 1].end ? (uint32_t)(count - 1) : IMAGE_NONE;
}

const struct image_label *image_label_before(const struct image *image, uint64_t address)
{
	size_t count = LOWER_BOUND(i, 0, image->label_count, image->labels[i].start <= address);
	return count > 0 ? &image->labels[count - 1] : NULL;
}
