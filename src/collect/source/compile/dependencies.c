#include "collect/source/compile/dependencies.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/path.h"

char *text_read(const char *path, size_t *size)
{
	enum { PIECE = 65536 };
	int fd = path_open_regular(path);
	if (fd < 0)
		return NULL;
	struct buffer text;
	buffer_init(&text);
	ssize_t got = 1;
	while (got > 0) {
		unsigned char *bytes = buffer_extend(&text, PIECE);
		got = bytes ? read(fd, bytes, PIECE) : 0;
		text.size -= bytes ? PIECE - (size_t)(got > 0 ? got : 0) : 0;
	}
	int number = got < 0 ? errno : ENOMEM;
	close(fd);
	*size = text.size;
	buffer_append_byte(&text, 0);
	if (got == 0 && !buffer_error(&text))
		return (char *)text.bytes;
	buffer_release(&text);
	errno = number;
	return NULL;
}

char *text_restore(const char *text, size_t size, const struct path_change *changes, size_t count, size_t *new_size)
{
	struct buffer out;
	buffer_init(&out);
	for (size_t at = 0; at < size;) {
		size_t length = 0;
		for (size_t i = 0; i < count && !length; i++) {
			size_t copy_length = strlen(changes[i].copy);
			if (copy_length <= size - at && memcmp(text + at, changes[i].copy, copy_length) == 0) {
				length = copy_length;
				buffer_append_string(&out, changes[i].original);
			}
		}
		if (!length)
			buffer_append_byte(&out, (uint8_t)text[at]);
		at += length ? length : 1;
	}
	*new_size = out.size;
	buffer_append_byte(&out, 0);
	if (!buffer_error(&out))
		return (char *)out.bytes;
	buffer_release(&out);
	return NULL;
}

/* Returns a name in the form of a rule: without a leading "./", with a backslash before blanks and '#', and with '$'
 * doubled. */
static char *escaped(const char *path)
{
	struct buffer out;
	buffer_init(&out);
	while (path[0] == '.' && path[1] == '/')
		path += 1 + strspn(path + 1, "/");
	for (; *path; path++) {
		if (*path == ' ' || *path == '#' || *path == '$')
			buffer_append_byte(&out, *path == '$' ? '$' : '\\');
		buffer_append_byte(&out, (uint8_t)*path);
	}
	buffer_append_byte(&out, 0);
	return buffer_error(&out) ? (buffer_release(&out), NULL) : (char *)out.bytes;
}

/* Returns the length of the word at `text`, up to a blank that has no backslash before it. A "name:" at the
 * beginning of a line is a rule. */
static size_t word_length(const char *text)
{
	size_t at = 0;
	while (text[at] && !strchr(" \t\n", text[at]))
		at += text[at] == '\\' && text[at + 1] && text[at + 1] != '\n' ? 2 : 1;
	return at;
}

/* Returns the text without the name `dropped`, which may be among other names or have a rule (-MP). Sets *size. */
static char *drop(const char *text, const char *dropped, size_t *size)
{
	size_t length = strlen(dropped);
	struct buffer out;
	buffer_init(&out);
	for (const char *at = text; *at;) {
		size_t word = word_length(at);
		bool is_rule = word == length + 1 && at[length] == ':' && (at == text || at[-1] == '\n');
		if (word >= length && memcmp(at, dropped, length) == 0 && (word == length || is_rule)) {
			at += word;
			if (is_rule)
				at += strspn(at, "\n");
			continue;
		}
		if (!word)
			word = 1;
		buffer_append(&out, at, word);
		at += word;
	}
	*size = out.size;
	buffer_append_byte(&out, 0);
	return buffer_error(&out) ? (buffer_release(&out), NULL) : (char *)out.bytes;
}

int text_write(const char *path, const char *text, size_t size, struct error *error)
{
	FILE *out = fopen(path, "we");
	bool is_written = out && fwrite(text, 1, size, out) == size;
	if (out && fclose(out) != 0)
		is_written = false;
	return is_written ? 0 : error_set_errno(error, "cannot write '%s'", path);
}

int dependencies_restore(const char *path, const struct path_change *changes, size_t count, const char *const *dropped,
			 struct error *error)
{
	size_t size = 0;
	char *text = text_read(path, &size);
	if (!text)
		return 0;
	struct path_change *named = calloc(count + 1, sizeof(*named));
	bool has_memory = named != NULL;
	for (size_t i = 0; i < count && has_memory; i++) {
		named[i] = (struct path_change){ escaped(changes[i].copy), escaped(changes[i].original) };
		has_memory = named[i].copy && named[i].original;
	}
	for (; *dropped && has_memory; dropped++) {
		char *header = escaped(*dropped);
		char *less = header ? drop(text, header, &size) : NULL;
		has_memory = less != NULL;
		free(header);
		if (less) {
			free(text);
			text = less;
		}
	}
	char *restored = has_memory ? text_restore(text, size, named, count, &size) : NULL;
	int code = restored ? text_write(path, restored, size, error) : error_memory(error);
	for (size_t i = 0; named && i < count; i++) {
		free((char *)named[i].copy);
		free((char *)named[i].original);
	}
	free(named);
	free(restored);
	free(text);
	return code;
}
