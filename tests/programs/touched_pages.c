/*
 * `touched_pages FILE`: touches a known number of fresh pages of the heap, of a mapped file, of the stack and of
 * anonymous memory, each twice, and each kind in a function of its own. Makes FILE 64 pages long.
 */
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

enum { PAGE = 4096, HEAP = 48, FILE_PAGES = 64, STACK = 41, ANON = 100 };

static void touch(volatile char *memory, int pages)
{
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < pages; i++)
			memory[(size_t)i * PAGE] = 1;
}

NOINLINE static void touch_heap(void)
{
	/* Page-aligned, and beyond all memory that the C library has touched. */
	char *memory = malloc((HEAP + 2) * (size_t)PAGE);

	if (!memory)
		exit(1);
	touch(memory + PAGE, HEAP);
	free(memory);
}

NOINLINE static void touch_file(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (file < 0 || ftruncate(file, FILE_PAGES * PAGE))
		exit(1);
	char *memory = mmap(NULL, FILE_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED || madvise(memory, FILE_PAGES * PAGE, MADV_RANDOM))
		exit(1);
	touch(memory, FILE_PAGES);
	munmap(memory, FILE_PAGES * PAGE);
	close(file);
}

NOINLINE static void touch_stack(void)
{
	enum { USED_BEFORE = 32 }; /* by code that ran before main, and more */
	/* Begins at a page boundary, so that burn's frame lies in one more page below it. */
	volatile char memory[(STACK + USED_BEFORE) * PAGE] __attribute__((aligned(PAGE)));

	for (int i = STACK - 2; i >= 0; i--) /* downwards, as a stack grows */
		memory[i * PAGE] = 1;
	/* A stack of fresh pages cannot be copied: the recorder reads its frames from memory while they exist. */
	burn(100000);
	memory[sizeof(memory) - 1] = 1;
}

NOINLINE static void touch_anonymous(void)
{
	size_t bytes = ANON * (size_t)PAGE;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE))
		exit(1);
	printf("anonymous %p pages %d\n", (void *)memory, ANON);
	touch(memory, ANON);
	munmap(memory, bytes);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	mallopt(M_MMAP_THRESHOLD, 1 << 24);
	mallopt(M_TOP_PAD, 0);
	burn(10); /* touches the page of its own data */
	touch_heap();
	touch_file(argv[1]);
	touch_stack();
	touch_anonymous();
	printf("pages touch_heap %d\npages touch_file %d\npages touch_stack %d\npages touch_anonymous %d\n", HEAP,
	       FILE_PAGES, STACK, ANON);
	return 0;
}
