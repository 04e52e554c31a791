/*
 * Spends half of the time below code that it has mapped a second time from its own file, by mmap. The C library
 * does not register that mapping, and the code keeps no frame pointer: only a reader that identifies the mapped
 * file has its unwind rows. It is linked with libcpprof.
 */
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cpprof/runtime.h>

#include "burn.h"

NOINLINE static void called_back(void)
{
	burn(1000);
	NOT_A_TAIL_CALL();
}

/* Walks reach the new code, and the recorder reads it, until standard input has a byte or ends. */
NOINLINE static void at_first(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	do {
		BURN_HERE(1000);
		if (cpprof_flush())
			exit(1);
	} while (poll(&input, 1, 10) == 0);
}

NOINLINE static void directly(void)
{
	burn(1000);
	NOT_A_TAIL_CALL();
}

/* Contains no code that depends on its address. */
NOINLINE void calls_back(void (*function)(void))
{
	function();
	NOT_A_TAIL_CALL();
}

/* The segment that holds calls_back, in memory and in the file. */
static ElfW(Addr) segment_start;
static size_t segment_bytes, segment_offset;

static int find_segment(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)bytes, (void)unused;
	ElfW(Addr) wanted = (ElfW(Addr))calls_back;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		ElfW(Addr) start = info->dlpi_addr + segment->p_vaddr;
		if (segment->p_type != PT_LOAD || wanted - start >= segment->p_memsz)
			continue;
		segment_start = start & ~(ElfW(Addr))4095;
		segment_bytes = segment->p_memsz + (start - segment_start);
		segment_offset = segment->p_offset & ~(size_t)4095;
		return 1;
	}
	return 0;
}

int main(void)
{
	int file = open("/proc/self/exe", O_RDONLY);
	if (file < 0 || !dl_iterate_phdr(find_segment, NULL))
		return 1;
	char *again = mmap(NULL, segment_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, (off_t)segment_offset);
	if (again == MAP_FAILED)
		return 1;
	void (*elsewhere)(void (*)(void)) =
		(void (*)(void (*)(void)))(again + ((ElfW(Addr))calls_back - segment_start));
	elsewhere(at_first);
	for (int i = 0; i < 150; i++) {
		elsewhere(called_back);
		directly();
	}
	share("main;calls_back;called_back;burn", 0.5);
	share("main;directly;burn", 0.5);
	return 0;
}
