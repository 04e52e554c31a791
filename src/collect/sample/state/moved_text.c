#include "collect/sample/state/moved_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/sample/state/proc.h"

enum { PAGE_BYTES = 4096, PAGES_COMPARED = 16 };

void moved_texts_release(struct moved_texts *texts)
{
	free(texts->items);
	*texts = (struct moved_texts){ 0 };
}

int moved_texts_add(struct moved_texts *texts, const struct moved_text *text)
{
	if (ARRAY_RESERVE(texts->items, texts->capacity, texts->count + 1) < 0)
		return ERROR_MEMORY;
	texts->items[texts->count++] = *text;
	return 0;
}

void moved_texts_remove_tried(struct moved_texts *texts)
{
	size_t kept = 0;
	for (size_t i = 0; i < texts->count; i++)
		if (texts->items[i].tries < MOVED_TEXT_TRIES)
			texts->items[kept++] = texts->items[i];
	texts->count = kept;
}

bool moved_text_is_equal(const struct moved_text *text, struct elf_file *file)
{
	uint64_t pages = (text->end - text->start) / PAGE_BYTES;
	uint64_t compared = pages < PAGES_COMPARED ? pages : PAGES_COMPARED;
	size_t equal = 0;
	for (uint64_t i = 0; i < compared; i++) {
		uint64_t address = text->start + pages * i / compared * PAGE_BYTES;
		struct elf_bytes part = elf_file_from(file, address - text->bias, PAGE_BYTES);
		if (part.size == 0)
			continue; /* beyond the file's segments, as in memory of whole huge pages */
		if (!process_has_bytes((pid_t)text->pid, address, part.bytes, part.size))
			return false;
		equal++;
	}
	return equal > 0;
}
