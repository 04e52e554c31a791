#include "own_code.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct backend_code own_code[OWN_CODE_MAX];
size_t own_code_count;

static void add(uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	uint64_t address;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *file = elf_file_open(fd, path, NULL);
	if (!file || !elf_file_address_of_offset(file, offset, &address) || own_code_count == OWN_CODE_MAX)
		abort();
	own_code[own_code_count++] = (struct backend_code){
		.start = start,
		.end = end,
		.bias = start - address,
		.table = unwind_table_new(file, NULL),
	};
	elf_file_free(file);
	close(fd);
}

void own_code_read(void)
{
	char line[1024];
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset;
		char rights[8], path[512] = "";
		int fields = sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511s", &start, &end, rights,
				    &offset, path);
		if (fields == 5 && rights[2] == 'x' && path[0] == '/')
			add(start, end, offset, path);
	}
	if (maps)
		fclose(maps);
}

void own_code_release(void)
{
	for (size_t i = 0; i < own_code_count; i++)
		unwind_table_free((struct unwind_table *)own_code[i].table);
	own_code_count = 0;
}

uint64_t own_code_function(uint64_t pc)
{
	for (size_t i = 0; i < own_code_count; i++) {
		const struct backend_code *code = &own_code[i];
		uint64_t found = pc >= code->start && pc < code->end && code->table
					 ? unwind_table_function(code->table, pc - code->bias, NULL)
					 : 0;
		if (found)
			return found + code->bias;
	}
	return 0;
}
