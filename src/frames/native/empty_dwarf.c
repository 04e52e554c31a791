#include "frames/native/empty_dwarf.h"

#include <elf.h>
#include <stddef.h>

#include "processor/names.h"

/* libdw accepts a file if it has one of some sections that is not empty. */
static struct {
	Elf64_Ehdr header;
	Elf64_Shdr sections[3];
	char names[32];
} file = {
	.header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = ARCH_ELF_MACHINE,
		.e_version = EV_CURRENT,
		.e_shoff = offsetof(__typeof__(file), sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 1,
	},
	.sections = {
		[1] = { .sh_name = 1,
			.sh_type = SHT_STRTAB,
			.sh_offset = offsetof(__typeof__(file), names),
			.sh_size = sizeof(file.names) },
		[2] = { .sh_name = sizeof("\0.shstrtab"), /* .debug_line */
			.sh_type = SHT_PROGBITS,
			.sh_offset = offsetof(__typeof__(file), names),
			.sh_size = 1 },
	},
	.names = "\0.shstrtab\0.debug_line",
};

Dwarf *empty_dwarf(struct elf_image *image)
{
	if (elf_image_from_memory(image, &file, sizeof(file), "", NULL) < 0)
		return NULL;
	return dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
}
