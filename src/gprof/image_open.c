#include "base/file_author.h"
#include "gprof/image.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "frames/jail/once.h"
#include "frames/native/module_file.h"
#include "gprof/image_read.h"

/* --- the code --- */

static void find_text(struct image *image, struct elf_file *file)
{
	struct elf_bytes text = elf_file_section(file, ".text");
	image->text_start = text.address;
	image->text_end = text.address + text.size;
	if (!text.bytes)
		elf_file_text_range(file, &image->text_start, &image->text_end);
}

static void find_build_id(struct image *image, struct elf_file *file)
{
	const uint8_t *id = NULL;
	size_t bytes = elf_file_build_id(file, &id);
	image->build_id_bytes = bytes <= sizeof(image->build_id) ? bytes : 0;
	if (image->build_id_bytes)
		memcpy(image->build_id, id, bytes);
}

/* Leaves image->bytes NULL for a file of another processor, because its code cannot be decoded. */
static void find_code(struct image *image, int fd, const char *path)
{
	struct elf_file *file = elf_file_open_any(fd, path, NULL);
	if (!file)
		return;
	find_text(image, file);
	find_build_id(image, file);
	if (elf_file_is_foreign(file))
		elf_file_free(file);
	else
		image->bytes = file;
}

/* --- in the jail --- */

/*
 * The request: struct image_options
 * The answer:  u32 texts | each: text, NUL
 *              u32 symbols | each: u64 start | u64 end | u32 name | u32 readable | u32 file | u32 line | u8 is_static |
 *                            u8 is_function
 *              u32 labels | each: u64 start | u32 name
 * Names and files are indexes in the texts; a file is IMAGE_NONE if it is not known.
 */
enum { TEXT_BYTES = 1, SYMBOL_BYTES = 34, LABEL_BYTES = 12 };

static void write_u32(struct buffer *answer, size_t value)
{
	const uint32_t number = (uint32_t)value;
	buffer_append(answer, &number, sizeof(number));
}

/* All of an image's texts are in `texts` already. */
static void write_text(struct buffer *answer, struct image *image, const char *text)
{
	write_u32(answer, text ? (size_t)strings_add(&image->texts, text, strlen(text)) : IMAGE_NONE);
}

static void write_image(struct buffer *answer, struct image *image)
{
	uint32_t texts = (uint32_t)image->texts.count;
	write_u32(answer, texts);
	for (uint32_t i = 0; i < texts; i++)
		buffer_append(answer, strings_get(&image->texts, i), strlen(strings_get(&image->texts, i)) + 1);
	write_u32(answer, image->symbol_count);
	for (size_t i = 0; i < image->symbol_count; i++) {
		const struct image_symbol *symbol = &image->symbols[i];
		buffer_append(answer, &symbol->start, sizeof(symbol->start));
		buffer_append(answer, &symbol->end, sizeof(symbol->end));
		write_text(answer, image, symbol->name);
		write_text(answer, image, symbol->readable);
		write_text(answer, image, symbol->file);
		write_u32(answer, symbol->line);
		buffer_append_byte(answer, symbol->is_static);
		buffer_append_byte(answer, symbol->is_function);
	}
	write_u32(answer, image->label_count);
	for (size_t i = 0; i < image->label_count; i++) {
		buffer_append(answer, &image->labels[i].start, sizeof(image->labels[i].start));
		write_text(answer, image, image->labels[i].name);
	}
}

static int run(void *context, struct jail_input *input, struct buffer *answer, struct error *error)
{
	struct module_file file;
	struct image image = { .file = &file };
	struct image_options options = { 0 };
	const uint8_t *bytes = cursor_bytes(&input->request, sizeof(options));
	(void)context;
	if (bytes)
		memcpy(&options, bytes, sizeof(options));
	find_code(&image, input->fd, input->path);
	int status = module_file_open(&file, input->fd, input->path, error);
	if (status < 0) {
		elf_file_free(image.bytes);
		return status;
	}
	status = strings_init(&image.texts);
	if (status == 0)
		status = image_read(&image, &options);
	if (status == 0)
		write_image(answer, &image);
	image_close(&image);
	module_file_close(&file);
	return status < 0 ? error_set(error, status, "%s: %s", input->path, error_text(status)) : 0;
}

static const struct jail_task task = { .doing = "reading the symbols of", .run = run };

/* --- the answer --- */

/* Reads a number of things of at least `bytes` each, which must be there. */
static uint32_t read_count(struct cursor *answer, size_t bytes)
{
	uint32_t count = cursor_u32(answer);
	if (count > cursor_left(answer) / bytes)
		answer->failed = true;
	return answer->failed ? 0 : count;
}

static int read_texts(struct image *image, struct cursor *answer, const char ***texts, uint32_t *count)
{
	*count = read_count(answer, TEXT_BYTES);
	*texts = calloc(*count + 1, sizeof(**texts));
	for (uint32_t i = 0; *texts && i < *count && !answer->failed; i++) {
		const char *text = cursor_string(answer);
		int64_t id = text ? strings_add(&image->texts, text, strlen(text)) : 0;
		if (id < 0)
			return (int)id;
		(*texts)[i] = text ? strings_get(&image->texts, (uint32_t)id) : NULL;
	}
	return *texts ? 0 : ERROR_MEMORY;
}

struct texts {
	const char **items;
	uint32_t count;
};

static const char *read_text(struct cursor *answer, const struct texts *texts)
{
	uint32_t number = cursor_u32(answer);
	if (number >= texts->count)
		answer->failed = true;
	return answer->failed ? NULL : texts->items[number];
}

static const char *read_file_text(struct cursor *answer, const struct texts *texts)
{
	struct cursor ahead = *answer;
	if (cursor_u32(&ahead) != IMAGE_NONE)
		return read_text(answer, texts);
	*answer = ahead;
	return NULL;
}

static int read_symbols(struct image *image, struct cursor *answer, const struct texts *texts)
{
	uint32_t count = read_count(answer, SYMBOL_BYTES);
	uint64_t least = 0;
	image->symbols = calloc(count + 1, sizeof(*image->symbols));
	if (!image->symbols)
		return ERROR_MEMORY;
	for (uint32_t i = 0; i < count && !answer->failed; i++) {
		struct image_symbol *symbol = &image->symbols[i];
		symbol->start = cursor_u64(answer);
		symbol->end = cursor_u64(answer);
		symbol->name = read_text(answer, texts);
		symbol->readable = read_text(answer, texts);
		symbol->file = read_file_text(answer, texts);
		symbol->line = cursor_u32(answer);
		symbol->is_static = cursor_u8(answer);
		symbol->is_function = cursor_u8(answer);
		if (symbol->start < least || symbol->end < symbol->start)
			answer->failed = true;
		least = symbol->start;
	}
	image->symbol_count = count;
	return 0;
}

static int read_labels(struct image *image, struct cursor *answer, const struct texts *texts)
{
	uint32_t count = read_count(answer, LABEL_BYTES);
	uint64_t least = 0;
	image->labels = calloc(count + 1, sizeof(*image->labels));
	if (!image->labels)
		return ERROR_MEMORY;
	for (uint32_t i = 0; i < count && !answer->failed; i++) {
		image->labels[i].start = cursor_u64(answer);
		image->labels[i].name = read_text(answer, texts);
		if (image->labels[i].start < least)
			answer->failed = true;
		least = image->labels[i].start;
	}
	image->label_count = count;
	return 0;
}

/* The answer may come from a hostile file: it is read within bounds, and must be sorted. */
static int read_answer(struct image *image, struct cursor *answer)
{
	struct texts texts = { 0 };
	int status = read_texts(image, answer, &texts.items, &texts.count);
	if (status == 0)
		status = read_symbols(image, answer, &texts);
	if (status == 0)
		status = read_labels(image, answer, &texts);
	free(texts.items);
	return status == 0 && (answer->failed || cursor_left(answer)) ? ERROR_CORRUPT : status;
}

/* --- opening --- */

static int read_in_jail(struct image *image, int fd, const struct image_options *options, struct error *error)
{
	struct buffer request, answer;
	buffer_init(&request);
	buffer_init(&answer);
	buffer_append(&request, options, sizeof(*options));
	int code = jail_run_on(&task, fd, image->path, &request, NULL, &answer, error);
	if (code == 0) {
		struct cursor cursor = cursor_over(answer.bytes, answer.size);
		code = read_answer(image, &cursor);
		if (code == ERROR_CORRUPT)
			jail_refuse_answer(&task, image->path, error);
		else if (code < 0)
			error_set(error, code, "%s: %s", image->path, error_text(code));
	}
	buffer_release(&request);
	buffer_release(&answer);
	return code;
}

int image_open(struct image *image, const char *path, const struct image_options *options, struct error *error)
{
	*image = (struct image){ 0 };
	int fd = path_open_regular(path);
	if (fd < 0)
		return error_set_errno(error, "cannot open '%s'", path);
	int code = image_open_from(image, fd, path, options, error);
	close(fd);
	return code;
}

int image_open_from(struct image *image, int fd, const char *path, const struct image_options *options,
		    struct error *error)
{
	*image = (struct image){ 0 };
	image->path = strdup(path);
	image->author = file_author(fd);
	int code = image->path ? strings_init(&image->texts) : ERROR_MEMORY;
	if (code < 0)
		error_set(error, code, "%s: %s", path, error_text(code));
	else
		code = read_in_jail(image, fd, options, error);
	if (code == 0)
		find_code(image, fd, path);
	else
		image_close(image);
	return code;
}
