#include "ui/browse/source_files.h"

#include <stdlib.h>
#include <string.h>

int source_files_init(struct source_files *files, size_t limit, struct error *error)
{
	*files = (struct source_files){ .files = calloc(limit + 1, sizeof(*files->files)) };
	return files->files ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

void source_files_release(struct source_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		source_text_release(&files->files[i].text);
	free(files->files);
	file_users_release(&files->access);
	*files = (struct source_files){ 0 };
}

const struct source_file *source_files_get(struct source_files *files, const struct profile *profile, const char *path)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->files[i].path, path) == 0)
			return &files->files[i];
	struct source_file *file = &files->files[files->count++];
	file->path = path;
	file->is_missing = source_text_open(&file->text, &files->access, profile, path) < 0;
	if (file->is_missing)
		file->text = (struct source_text){ 0 };
	return file;
}

const char *source_file_line(const struct source_file *file, uint32_t line)
{
	return line > 0 && line <= file->text.count ? file->text.lines[line - 1] : "";
}

int draw_hits_head(const struct browser *browser, int row)
{
	int column = draw_right(browser, row, 0, SHARE_WIDTH, STYLE_FAINT, "own");
	return draw_right(browser, row, column, SHARE_WIDTH, STYLE_FAINT, "with callees");
}

unsigned draw_hits(const struct browser *browser, int row, unsigned style, const struct view *view, uint64_t own,
		   uint64_t with_callees)
{
	unsigned painted = style;
	if (own > 0) {
		painted |= share_style(view, own);
		draw_share(browser, row, 0, painted, view, own, NULL);
	}
	if (with_callees > 0)
		draw_share(browser, row, SHARE_WIDTH, style, view, with_callees, NULL);
	return painted;
}
