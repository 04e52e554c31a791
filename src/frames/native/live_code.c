#include "frames/native/live_code.h"

#include <gelf.h>

uint64_t live_code_start(Dwarf *dwarf)
{
	uint64_t first = UINT64_MAX;
	Elf *elf = dwarf_getelf(dwarf);
	for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) && header.sh_addr < first)
			first = header.sh_addr;
	}
	return first > 0 && first < UINT64_MAX ? first : 1;
}

bool live_range_next(struct live_ranges *ranges, Dwarf_Die *die)
{
	do
		ranges->at = dwarf_ranges(die, ranges->at, &ranges->base, &ranges->start, &ranges->end);
	while (ranges->at > 0 && (ranges->start < ranges->first_code || ranges->end < ranges->start));
	return ranges->at > 0;
}
