#include "gprof/build_check.h"
#include "frames/native/module_file.h"

/* Returns whether a call ends before `address`, `into` bytes into its function. */
static bool is_behind_call(const struct image *image, uint64_t address, uint64_t into)
{
	enum { DIRECT = 5, INDIRECT = 6 };
	uint8_t code[INDIRECT];
	if (into < DIRECT || !image->bytes || !elf_file_copy(image->bytes, address - INDIRECT, code, sizeof(code)))
		return false;
	return code[INDIRECT - DIRECT] == 0xe8 || (code[0] == 0xff && code[1] == 0x15);
}

/* Returns whether a called address is a function's first address or the address of a hook's call. The C library records the
 * address to which the hook returns, cpprof's agent the last byte of the call. */
static bool can_be_called(const struct image *image, uint64_t address)
{
	enum { LANDING = 4 };
	uint32_t symbol = image_find(image, address);
	if (symbol == IMAGE_NONE)
		return false;
	uint64_t into = address - image->symbols[symbol].start;
	return into == 0 || into == LANDING || is_behind_call(image, address, into) ||
	       is_behind_call(image, address + 1, into + 1);
}

size_t gmon_odd_arcs(const struct gmon *gmon, const struct image *image)
{
	size_t odd = 0;
	for (size_t i = 0; i < gmon->arc_count; i++)
		odd += !can_be_called(image, gmon->arcs[i].self);
	return odd;
}
