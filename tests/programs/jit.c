/*
 * Spends half of the time in code that it makes at run time, and for which there are no unwind rows. The code
 * keeps a frame pointer (`jit framed`) or only moves the stack pointer (`jit bare`). With `jit framed FILE`, the
 * code is in a file, as the code of runtimes that map an image: the file has the code only, and is not ELF.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

/* Both call the function whose address they receive. */
static const unsigned char framed[] = {
	0x55,             /* push %rbp */
	0x48, 0x89, 0xe5, /* mov  %rsp, %rbp */
	0xff, 0xd7,       /* call *%rdi */
	0x5d,             /* pop  %rbp */
	0xc3,             /* ret */
};
static const unsigned char bare[] = {
	0x48, 0x83, 0xec, 0x18, /* sub  $24, %rsp */
	0xff, 0xd7,             /* call *%rdi */
	0x48, 0x83, 0xc4, 0x18, /* add  $24, %rsp */
	0xc3,                   /* ret */
};

NOINLINE static void called_back(void)
{
	burn(1000);
	NOT_A_TAIL_CALL();
}

NOINLINE static void directly(void)
{
	burn(1000);
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	int file = argc > 2 ? open(argv[2], O_RDWR | O_CREAT, 0666) : -1;
	if (argc > 2 && (file < 0 || ftruncate(file, 4096)))
		return 1;
	void *memory =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, argc > 2 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
	if (memory == MAP_FAILED)
		return 1;
	if (!strcmp(argv[1], "framed"))
		memcpy(memory, framed, sizeof(framed));
	else
		memcpy(memory, bare, sizeof(bare));
	if (mprotect(memory, 4096, PROT_READ | PROT_EXEC))
		return 1;
	void (*made)(void (*)(void)) = (void (*)(void (*)(void)))memory;
	for (int i = 0; i < 150; i++) {
		made(called_back);
		directly();
	}
	share("called_back;burn", 0.5);
	share("main;directly;burn", 0.5);
	return 0;
}
