#include "collect/source/instrument/source_points.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/source/instrument/lexing.h"

/* --- files --- */

CXFile source_points_offset(const struct source_points *points, CXSourceLocation location, uint32_t *offset)
{
	CXFile file = NULL;
	unsigned at = 0;
	points->clang->getFileLocation(location, &file, NULL, NULL, &at);
	*offset = at;
	return file;
}

struct source_points_file *source_points_add_file(struct source_points *points, CXFile file, bool is_main)
{
	size_t size = 0;
	const char *text = points->clang->getFileContents(points->unit, file, &size);
	CXString name = points->clang->getFileName(file);
	const char *path = points->clang->getCString(name);
	const char *kept = text && path ? instrument_arena_text(points->arena, path, strlen(path)) : NULL;
	points->clang->disposeString(name);
	if (!text)
		return NULL;
	if (!kept || ARRAY_RESERVE(points->files, points->file_capacity, points->file_count + 1)) {
		points->error = ERROR_MEMORY;
		return NULL;
	}
	struct source_points_file *added = &points->files[points->file_count++];
	*added = (struct source_points_file){
		.file = file, .path = kept, .text = text, .size = size, .is_main = is_main
	};
	added->has_annotations =
		memmem(text, size, "cpprof:", strlen("cpprof:")) || memmem(text, size, "CPPROF_", strlen("CPPROF_"));
	added->has_resolvers = memmem(text, size, "ifunc", strlen("ifunc")) != NULL;
	edits_init(&added->edits);
	return added;
}

struct source_points_file *source_points_file(struct source_points *points, CXFile file)
{
	if (!file)
		return NULL;
	for (size_t i = points->file_count; i-- > 0;)
		if (points->files[i].file == file)
			return &points->files[i];
	return NULL;
}

void source_points_release(struct source_points *points)
{
	for (size_t i = 0; i < points->file_count; i++) {
		edits_release(&points->files[i].edits);
	}
	free(points->files);
	free(points->items);
	free(points->returns);
	points->files = NULL;
	points->returns = NULL;
	points->return_count = points->return_capacity = 0;
	points->items = NULL;
	points->file_count = points->item_count = 0;
}

struct source_points_item *source_points_add(struct source_points *points)
{
	if (ARRAY_RESERVE(points->items, points->item_capacity, points->item_count + 1)) {
		points->error = ERROR_MEMORY;
		return NULL;
	}
	struct source_points_item *item = &points->items[points->item_count++];
	memset(item, 0, sizeof(*item));
	return item;
}

bool source_points_is_returning_twice(const char *name)
{
	static const char *const names[] = { "setjmp",      "_setjmp", "__builtin_setjmp", "sigsetjmp",
					     "__sigsetjmp", "vfork",   "getcontext" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* --- words --- */

bool source_points_has_word(const struct source_points_file *file, uint32_t start, uint32_t end, const char *word)
{
	if (end > file->size)
		end = (uint32_t)file->size;
	return start < end && lexing_find(file->text + start, file->text + end, word);
}

bool source_points_has_attribute(const struct source_points_function *function, const char *name)
{
	const char *text = function->file->text;
	return lexing_has_attribute(function->declaration, function->declaration + strlen(function->declaration),
				    name) ||
	       lexing_has_attribute(text + function->start, text + function->open, name);
}
