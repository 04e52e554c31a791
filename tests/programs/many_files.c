/* Maps FILES different ELF files that exist in memory only, executable, and keeps them mapped; then makes its events, and
 * executes the program of its arguments. */
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burn.h"

enum { FILES = 600, EVENT_COUNT = 40, PAGE_BYTES = 4096 };

NOINLINE static void work(void)
{
	for (int i = 0; i < EVENT_COUNT; i++)
		BURN_HERE(EVENT_US);
	NOT_A_TAIL_CALL();
}

static int map_another(int number)
{
	unsigned char page[PAGE_BYTES] = { 0 };
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_phoff = sizeof(header),
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 1 };
	Elf64_Phdr segment = { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_filesz = PAGE_BYTES,
			       .p_memsz = PAGE_BYTES,
			       .p_align = PAGE_BYTES };
	memcpy(page, &header, sizeof(header));
	memcpy(page + sizeof(header), &segment, sizeof(segment));
	memcpy(page + PAGE_BYTES - sizeof(number), &number, sizeof(number));
	char name[32];
	snprintf(name, sizeof(name), "lib%d.so", number);
	int fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
		return 1;
	void *memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return memory == MAP_FAILED;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < FILES; i++)
		if (map_another(i))
			return 1;
	work();
	return argc > 1 && execv(argv[1], argv + 1);
}
