#include "gprof/object.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "elf/elf_file.h"

/* Programs have an interpreter, or are static. */
static bool is_program(struct elf_file *file)
{
	return elf_file_section(file, ".interp").size > 0 || elf_file_section(file, ".dynamic").size == 0;
}

static uint64_t entered_at(struct elf_file *file)
{
	uint64_t entry = elf_file_entry(file), init = elf_file_section(file, ".init").address;
	uint64_t address = is_program(file) && entry ? entry : init;
	return address ? address + 1 : 0; /* like a return address, which is behind the call */
}

static void read_build_id(struct object *object, struct elf_file *file)
{
	const uint8_t *id;
	size_t bytes = elf_file_build_id(file, &id);
	if (bytes == 0 || bytes > sizeof(object->build_id))
		return;
	memcpy(object->build_id, id, bytes);
	object->build_id_bytes = bytes;
}

int object_read(struct object *object, const char *path, struct error *error)
{
	*object = (struct object){ 0 };
	int fd = path_open_regular(path);
	if (fd < 0)
		return error_set_errno(error, "cannot read '%s'", path);
	int code = object_read_from(object, fd, path, error);
	close(fd);
	return code;
}

int object_read_from(struct object *object, int fd, const char *path, struct error *error)
{
	*object = (struct object){ 0 };
	struct error why = { 0 };
	struct elf_file *file = elf_file_open_any(fd, path, &why);
	if (!file)
		return error_set(error, why.code, "%s", why.message);
	elf_file_text_range(file, &object->low, &object->high);
	object->outside = entered_at(file);
	read_build_id(object, file);
	elf_file_free(file);
	return 0;
}
