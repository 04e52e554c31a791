/*
 * Copies of headers. A compiler searches "sub/x.h" beside the file that includes it, and then in the folders that
 * its words name. Each of those folders with an edited header is mirrored:
 *
 *     inc/            /tmp/cpprof-cc-1/0-1/
 *       sub/            sub/              a folder, because a header in it was edited
 *         x.h             x.h             the copy
 *         y.h             y.h ->          a link to the original: x.h, which includes it, finds it beside itself
 *       z.h             z.h ->
 *
 * The mirror precedes the original in the words. Further words make the compiler show names in the mirror as names
 * in the original.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "collect/source/compile/build.h"
#include "collect/source/compile/dependencies.h"

static const char *skip_dot(const char *path)
{
	while (path[0] == '.' && path[1] == '/') {
		path += 2;
		path += strspn(path, "/");
	}
	return path;
}

/* Returns the part of a path behind `folder`, or NULL if the path is outside of
 * it. */
static const char *below(const char *folder, const char *path)
{
	folder = skip_dot(folder);
	path = skip_dot(path);
	size_t length = strlen(folder);
	while (length && folder[length - 1] == '/')
		length--;
	if (length == 1 && folder[0] == '.')
		length = 0;
	if (length == 0)
		return path[0] == '/' && folder[0] != '/' ? NULL : path + strspn(path, "/");
	return strncmp(folder, path, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/* --- a mirror --- */

static int make_link(const char *folder, const char *name, const char *mirror)
{
	char original[PATH_MAX], link[PATH_MAX];
	char *real = realpath(folder, NULL);
	if (!real)
		return errno == ENOENT ? 0 : -1;
	int code = 0;
	if ((size_t)snprintf(original, sizeof(original), "%s/%s", real, name) < sizeof(original) &&
	    (size_t)snprintf(link, sizeof(link), "%s/%s", mirror, name) < sizeof(link))
		code = symlink(original, link);
	free(real);
	return code < 0 && errno != EEXIST ? -1 : 0;
}

/* Links all entries of the folder, except those that the mirror already has. */
static int link_all(const char *folder, const char *mirror)
{
	DIR *entries = opendir(folder);
	if (!entries)
		return -1;
	int code = 0;
	for (struct dirent *entry; code == 0 && (entry = readdir(entries));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			code = make_link(folder, entry->d_name, mirror);
	int number = errno;
	closedir(entries);
	errno = number;
	return code;
}

/* Makes `mirror` a folder with links to all entries of `folder`; replaces a link to the folder. */
static int own_folder(const char *folder, const char *mirror)
{
	struct stat status;
	if (lstat(mirror, &status) == 0 && S_ISDIR(status.st_mode))
		return 0;
	if (unlink(mirror) < 0 && errno != ENOENT)
		return -1;
	return mkdir(mirror, 0700) < 0 || link_all(folder, mirror) < 0 ? -1 : 0;
}

static int write_copy(const char *path, const char *text, size_t size)
{
	if (unlink(path) < 0 && errno != ENOENT)
		return -1;
	FILE *out = fopen(path, "wxe");
	if (!out)
		return -1;
	bool is_written = fwrite(text, 1, size, out) == size;
	return (fclose(out) == 0) && is_written ? 0 : -1;
}

/* Writes the copy of folder/name into the mirror. */
static int mirror_copy(const char *folder, const char *mirror, const char *name, const struct instrument_copy *copy)
{
	char original[PATH_MAX], mirrored[PATH_MAX];
	int code = own_folder(folder, mirror);
	for (const char *slash = strchr(name, '/'); slash && code == 0; slash = strchr(slash + 1, '/')) {
		snprintf(original, sizeof(original), "%s/%.*s", folder, (int)(slash - name), name);
		snprintf(mirrored, sizeof(mirrored), "%s/%.*s", mirror, (int)(slash - name), name);
		code = own_folder(original, mirrored);
	}
	if (code == 0 && (size_t)snprintf(mirrored, sizeof(mirrored), "%s/%s", mirror, name) < sizeof(mirrored))
		code = write_copy(mirrored, copy->text, copy->size);
	return code;
}

/* --- the folders in the words --- */

static int add_change(struct overlay *overlay, const char *mirror, const char *folder)
{
	if (ARRAY_RESERVE(overlay->changes, overlay->change_capacity, overlay->change_count + 1) < 0)
		return -1;
	char *copy = NULL, *original = NULL;
	bool is_here = !folder[0] || strcmp(folder, ".") == 0;
	const char *end = folder[0] && folder[strlen(folder) - 1] == '/' ? "" : "/";
	if (asprintf(&copy, "%s/", mirror) < 0)
		return -1;
	if (asprintf(&original, "%s%s", is_here ? "" : folder, is_here ? "" : end) < 0) {
		free(copy);
		return -1;
	}
	overlay->changes[overlay->change_count++] = (struct path_change){ copy, original };
	return 0;
}

/* Returns the folder of "-Idir", "-I" "dir", "-iquote" "dir" and so on, or NULL if the word is no such option. Sets
 * *option to the option alone. */
static const char *include_folder(const struct compile_words *words, size_t at, const char **option)
{
	static const char *const options[] = { "-iquote", "-idirafter", "-isystem", "-I" };
	const char *word = words->words[at];
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		size_t length = strlen(options[i]);
		if (words->roles[at] != ROLE_KEPT || strncmp(word, options[i], length) != 0)
			continue;
		*option = options[i];
		return word[length] ? word + length : words->words[at + 1];
	}
	return NULL;
}

static int lay_headers(struct overlay *overlay, const char *folder, const char *mirror,
		       const struct instrument_result *result, bool *has_any)
{
	int code = 0;
	for (size_t i = 0; i < result->copy_count && code == 0; i++) {
		const struct instrument_copy *copy = &result->copies[i];
		const char *name = copy->is_main || copy->point_count == 0 ? NULL : below(folder, copy->path);
		if (!name || strncmp(name, "../", 3) == 0 || strstr(name, "/../"))
			continue;
		code = mirror_copy(folder, mirror, name, copy);
		*has_any = true;
	}
	if (code == 0 && *has_any)
		code = add_change(overlay, mirror, folder);
	return code;
}

static int lay_include_folders(struct overlay *overlay, const struct compile_words *words, const char *folder,
			       const struct instrument_result *result)
{
	int code = 0;
	for (size_t at = words->compiler + 1; at < words->count && code == 0; at++) {
		const char *option = NULL;
		const char *original = include_folder(words, at, &option);
		if (!original)
			continue;
		char mirror[PATH_MAX];
		bool has_any = false;
		snprintf(mirror, sizeof(mirror), "%s-%zu", folder, at);
		code = lay_headers(overlay, original, mirror, result, &has_any);
		if (!has_any)
			continue;
		word_list_add(&overlay->words, "%s", option);
		word_list_add(&overlay->words, "%s", mirror);
	}
	return code;
}

int overlay_make(struct overlay *overlay, const struct build *build, const char *source, const char *folder,
		 const struct instrument_result *result, struct error *error)
{
	*overlay = (struct overlay){ 0 };
	const char *name = path_basename(source);
	char original[PATH_MAX], copy[PATH_MAX];
	snprintf(original, sizeof(original), "%.*s", (int)(name - source), source);
	if (!original[0])
		snprintf(original, sizeof(original), ".");
	word_list_add(&overlay->words, build->words->is_tcc ? "-I" : "-iquote");
	word_list_add(&overlay->words, "%s", original);
	bool has_any = false;
	int code = mkdir(folder, 0700);
	if (code == 0)
		code = lay_headers(overlay, original, folder, result, &has_any);
	if (code == 0 && has_any)
		code = link_all(original, folder);
	if (code == 0 && !has_any)
		code = add_change(overlay, folder, original);
	for (size_t i = 0; i < result->copy_count && code == 0; i++) {
		if (!result->copies[i].is_main)
			continue;
		snprintf(copy, sizeof(copy), "%s/%s", folder, name);
		code = write_copy(copy, result->copies[i].text, result->copies[i].size);
	}
	if (code == 0)
		code = lay_include_folders(overlay, build->words, folder, result);
	if (code < 0)
		return error_set_errno(error, "cannot make a copy of '%s'", source);
	return overlay->words.error ? error_memory(error) : 0;
}

void overlay_release(struct overlay *overlay)
{
	for (size_t i = 0; i < overlay->change_count; i++) {
		free((char *)overlay->changes[i].copy);
		free((char *)overlay->changes[i].original);
	}
	free(overlay->changes);
	word_list_release(&overlay->words);
	*overlay = (struct overlay){ 0 };
}
