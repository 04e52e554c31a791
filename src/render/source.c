/* Prints source lines beside their figures, file by file. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "render/emit.h"

static size_t file_end(const struct line_list *lines, size_t first)
{
	size_t end = first;
	while (end < lines->count && lines->entries[end].file == lines->entries[first].file)
		end++;
	return end;
}

const char *render_absence(const struct render_document *document)
{
	return document->absent_is_refused ? "a user whose processes executed it may not read it, or the users are not "
					     "known (read the profile as a "
					     "user other than root, or let these users read the file)"
					   : "source file not found (run cpprof in the folder that the path starts in)";
}

void source_files_print(struct render_document *document, const struct result *result,
			void (*print)(FILE *out, const struct line_list *lines, size_t first, size_t end,
				      const struct source_text *source, const struct render_options *options))
{
	const struct profile *profile = result->view->profile;
	const struct line_list *lines = result->lines;
	FILE *out = document->out;
	struct file_users access = { 0 };
	for (size_t first = 0, end; first < lines->count; first = end) {
		const char *path = profile_string(profile, lines->entries[first].file);
		struct source_text source = { 0 };
		end = file_end(lines, first);
		render_safe_text(out, result->root);
		fputs(" in ", out);
		render_safe_text(out, path[0] ? path : "an unknown source file");
		fputs(":\n", out);
		int status = path[0] ? source_text_open(&source, &access, profile, path) : 0;
		if (status == ERROR_MEMORY)
			render_failed(&document->options);
		else if (status < 0 && document->absent_count++ == 0) {
			snprintf(document->absent, sizeof(document->absent), "%s", path);
			document->absent_is_refused = status == ERROR_PERMISSION;
		}
		print(out, lines, first, end, &source, &document->options);
		source_text_release(&source);
	}
	file_users_release(&access);
}

const char *line_text(struct opened_sources *opened, const struct profile *profile, const char *path, uint32_t number)
{
	size_t i = 0;
	while (i < opened->count && strcmp(opened->files[i].path, path) != 0)
		i++;
	if (i == opened->count) {
		if (ARRAY_RESERVE(opened->files, opened->capacity, opened->count + 1) < 0) {
			opened->failed = true;
			return "";
		}
		struct opened_source *file = &opened->files[opened->count++];
		*file = (struct opened_source){ .path = path };
		int status = path[0] ? source_text_open(&file->text, &opened->access, profile, path) : 0;
		opened->failed |= status == ERROR_MEMORY;
		if (status < 0)
			file->text = (struct source_text){ 0 };
	}
	const struct source_text *text = &opened->files[i].text;
	const char *line = number > 0 && number <= text->count ? text->lines[number - 1] : "";
	return line + strspn(line, " \t");
}

void opened_sources_release(struct opened_sources *opened)
{
	for (size_t i = 0; i < opened->count; i++)
		source_text_release(&opened->files[i].text);
	free(opened->files);
	file_users_release(&opened->access);
}
