#include "collect/sample/probes/allocator.h"

#include <string.h>

#include "collect/sample/probes/function_search.h"
#include "collect/sample/probes/points.h"
#include "frames/native/plt.h"

/* glibc's own functions for aligned memory call malloc if its alignment suffices. */
enum { GLIBC_MALLOC_ALIGNMENT = 16 };

struct allocating {
	const char *name;
	uint8_t argument, factor;
	/* In glibc, calls of a function need not be counted where it calls malloc: see struct probe_point. */
	uint8_t glibc_guard;
	uint32_t glibc_guard_above;
	/* It may be implemented by a call of another function in the table: then only that one counts. */
	bool may_forward;
};

static const struct allocating allocating[] = {
	{ "malloc", 1, 0, 0, 0, false },
	{ "calloc", 1, 2, 0, 0, false },
	/* realloc(NULL, n) jumps to malloc. */
	{ "realloc", 2, 0, 1, 0, false },
	{ "reallocarray", 2, 3, 0, 0, true },
	{ "memalign", 2, 0, 1, GLIBC_MALLOC_ALIGNMENT, false },
	{ "aligned_alloc", 2, 0, 1, GLIBC_MALLOC_ALIGNMENT, false },
	{ "posix_memalign", 3, 0, 2, GLIBC_MALLOC_ALIGNMENT, false },
	{ "valloc", 1, 0, 0, 0, false },
	{ "pvalloc", 1, 0, 0, 0, false },
	/* operator new, new[], their nothrow and their aligned forms. */
	{ "_Znwm", 1, 0, 0, 0, true },
	{ "_Znam", 1, 0, 0, 0, true },
	{ "_ZnwmRKSt9nothrow_t", 1, 0, 0, 0, true },
	{ "_ZnamRKSt9nothrow_t", 1, 0, 0, 0, true },
	{ "_ZnwmSt11align_val_t", 1, 0, 0, 0, true },
	{ "_ZnamSt11align_val_t", 1, 0, 0, 0, true },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", 1, 0, 0, 0, true },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", 1, 0, 0, 0, true },
};
enum { ALLOCATING = sizeof(allocating) / sizeof(allocating[0]) };

/* The allocating functions of one module. */
struct allocator {
	struct module_file *file;
	struct function_matches matches[ALLOCATING];
	bool is_glibc;
};

static bool is_allocating(const struct allocator *allocator, uint64_t address)
{
	const char *stub = NULL;
	for (size_t i = 0; i < ALLOCATING; i++)
		for (size_t j = 0; j < allocator->matches[i].count; j++)
			if (allocator->matches[i].items[j].address == address)
				return true;
	if (!plt_find(allocator->file, address, &stub) || !stub)
		return false;
	for (size_t i = 0; i < ALLOCATING; i++)
		if (strcmp(stub, allocating[i].name) == 0)
			return true;
	return false;
}

/*
 * Returns whether a function calls or jumps to another one that allocates:
 *
 *   e8 rel32   call      e9 rel32   jmp      0f 8x rel32   jcc
 *
 * Each byte is tried as the start of such an instruction. It is unlikely that a few bytes of another
 * instruction encode exactly such an address.
 */
static bool forwards(const struct allocator *allocator, const struct function_match *match)
{
	enum { CODE_MAX = 4096, OPERAND_BYTES = 4 };
	size_t size = match->size < CODE_MAX ? match->size : CODE_MAX;
	const uint8_t *code = allocator->file->bytes ? elf_file_at(allocator->file->bytes, match->address, size) : NULL;
	for (size_t at = 1; code && at + OPERAND_BYTES <= size; at++) {
		bool is_branch = code[at - 1] == 0xe8 || code[at - 1] == 0xe9 ||
				 (at >= 2 && code[at - 2] == 0x0f && (code[at - 1] & 0xf0) == 0x80);
		int32_t distance;
		memcpy(&distance, code + at, sizeof(distance));
		uint64_t target = match->address + at + OPERAND_BYTES + (uint64_t)(int64_t)distance;
		if (is_branch && target != match->address && is_allocating(allocator, target))
			return true;
	}
	return false;
}

static bool share_an_address(const struct function_matches *one, const struct function_matches *other)
{
	for (size_t i = 0; i < one->count; i++)
		for (size_t j = 0; j < other->count; j++)
			if (one->items[i].address == other->items[j].address)
				return true;
	return false;
}

static int find_all(struct allocator *allocator)
{
	int result = 0;
	for (size_t i = 0; i < ALLOCATING && result == 0; i++)
		result = function_search(allocator->file, allocating[i].name, true, &allocator->matches[i]);
	struct function_matches internal = { 0 };
	if (result == 0)
		result = function_search(allocator->file, "__libc_malloc", true, &internal);
	/* Excludes musl, and another allocator in a program that glibc is linked into. */
	allocator->is_glibc = share_an_address(&internal, &allocator->matches[0]);
	function_matches_release(&internal);
	return result;
}

/* The dynamic linker uses exported functions; a static malloc is private. */
static bool defines_malloc(const struct function_matches *matches)
{
	return matches->is_exported && matches->count > 0;
}

/* Another allocator than glibc's is unknown: its realloc, for example, may call malloc. */
static bool may_forward(const struct allocator *allocator, size_t row)
{
	return allocating[row].may_forward || (!allocator->is_glibc && row > 0);
}

int allocator_write(struct module_file *file, struct buffer *answer)
{
	struct allocator allocator = { .file = file };
	int result = find_all(&allocator);
	bool defines = result == 0 && defines_malloc(&allocator.matches[0]);
	if (defines)
		buffer_append_byte(answer, allocator.is_glibc);
	for (size_t i = 0; i < ALLOCATING; i++) {
		const struct function_matches *matches = &allocator.matches[i];
		for (size_t j = 0; defines && j < matches->count && matches->is_exported; j++) {
			if (may_forward(&allocator, i) && forwards(&allocator, &matches->items[j]))
				continue;
			buffer_append_byte(answer, (uint8_t)i);
			buffer_append(answer, &matches->items[j].offset, sizeof(matches->items[j].offset));
		}
	}
	for (size_t i = 0; i < ALLOCATING; i++)
		function_matches_release(&allocator.matches[i]);
	return result;
}

static int add_point(const struct allocating *row, bool is_glibc, uint64_t offset, const char *path, bool bytes,
		     struct probe_points *points)
{
	struct probe_point point = { .offset = offset,
				     .argument = bytes ? row->argument : 0,
				     .factor = bytes ? row->factor : 0,
				     .type = { .bytes = sizeof(size_t) } };
	if (is_glibc) {
		point.guard = row->glibc_guard;
		point.guard_above = row->glibc_guard_above;
	}
	return points_add(points, path, &point);
}

static bool is_valid(struct cursor answer)
{
	cursor_u8(&answer);
	while (!answer.failed && cursor_left(&answer) > 0) {
		if (cursor_u8(&answer) >= ALLOCATING)
			return false;
		cursor_u64(&answer);
	}
	return !answer.failed;
}

int allocator_read(struct cursor *answer, const char *path, bool bytes, struct probe_points *points, bool *found)
{
	*found = cursor_left(answer) > 0;
	if (!*found)
		return 0;
	if (!is_valid(*answer))
		return ERROR_CORRUPT;
	bool is_glibc = cursor_u8(answer);
	int result = 0;
	while (cursor_left(answer) > 0 && result == 0) {
		uint8_t row = cursor_u8(answer);
		result = add_point(&allocating[row], is_glibc, cursor_u64(answer), path, bytes, points);
	}
	return result;
}
