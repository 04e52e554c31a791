#include "collect/sample/stacks/target_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/error.h"

static const uint64_t NO_PAGE = 1;

void target_memory_init(struct target_memory *memory)
{
	*memory = (struct target_memory){ 0 };
}

void target_memory_release(struct target_memory *memory)
{
	free(memory->span);
	free(memory->pages);
	target_memory_init(memory);
}

void target_memory_begin(struct target_memory *memory, pid_t pid)
{
	memory->pid = pid;
	memory->size = 0;
	for (unsigned i = 0; memory->pages && i < TARGET_PAGES; i++)
		memory->pages[i].address = NO_PAGE;
}

static size_t read_target(pid_t pid, uint64_t address, void *bytes, size_t size)
{
	struct iovec local = { .iov_base = bytes, .iov_len = size };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address,
				.iov_len = size }; /* NOLINT(performance-no-int-to-ptr) */
	ssize_t got = pid == 0 ? 0 : process_vm_readv(pid, &local, 1, &remote, 1, 0);
	return got < 0 ? 0 : (size_t)got;
}

void target_memory_touch(struct target_memory *memory, uint64_t from, uint64_t to)
{
	enum { AT_ONCE = 16 };
	char bytes[AT_ONCE];
	while (from < to) {
		struct iovec remote[AT_ONCE];
		unsigned count = 0;
		for (; count < AT_ONCE && from < to; count++, from += TARGET_PAGE_BYTES - from % TARGET_PAGE_BYTES)
			remote[count] =
				(struct iovec){ .iov_base =
							(void *)(uintptr_t)from, /* NOLINT(performance-no-int-to-ptr) */
						.iov_len = 1 };
		struct iovec local = { .iov_base = bytes, .iov_len = count };
		if (process_vm_readv(memory->pid, &local, 1, remote, count, 0) != (ssize_t)count)
			return;
	}
}

static int reserve(struct target_memory *memory, size_t size)
{
	if (size > TARGET_SPAN_MAX)
		return ERROR_LIMIT;
	if (size <= memory->capacity)
		return 0;
	uint8_t *grown = realloc(memory->span, size);
	if (!grown)
		return ERROR_MEMORY;
	memory->span = grown;
	memory->capacity = size;
	return 0;
}

size_t target_memory_span(struct target_memory *memory, uint64_t start, size_t size)
{
	memory->start = start;
	memory->size = 0;
	if (reserve(memory, size) < 0)
		return 0;
	memory->size = read_target(memory->pid, start, memory->span, size);
	return memory->size;
}

int target_memory_extend(struct target_memory *memory, uint64_t end)
{
	size_t need = (size_t)(end - memory->start);
	if (need <= memory->size)
		return 0;
	size_t wanted = memory->size * 2 > need ? memory->size * 2 : need;
	if (wanted > TARGET_SPAN_MAX)
		wanted = need;
	if (reserve(memory, wanted) < 0)
		return -1;
	memory->size += read_target(memory->pid, memory->start + memory->size, memory->span + memory->size,
				    wanted - memory->size);
	return need <= memory->size ? 0 : -1;
}

static struct target_page *page_at(struct target_memory *memory, uint64_t address)
{
	if (!memory->pages) {
		memory->pages = malloc(TARGET_PAGES * sizeof(*memory->pages));
		if (!memory->pages)
			return NULL;
		target_memory_begin(memory, memory->pid);
	}
	for (unsigned i = 0; i < TARGET_PAGES; i++)
		if (memory->pages[i].address == address)
			return &memory->pages[i];
	struct target_page *page = &memory->pages[memory->next_page++ % TARGET_PAGES];
	page->address = NO_PAGE;
	if (read_target(memory->pid, address, page->bytes, TARGET_PAGE_BYTES) != TARGET_PAGE_BYTES)
		return NULL;
	page->address = address;
	return page;
}

int target_memory_word(struct target_memory *memory, uint64_t address, uint64_t *value)
{
	uint8_t bytes[sizeof(*value)];
	for (size_t i = 0; i < sizeof(bytes);) {
		uint64_t offset = (address + i) % TARGET_PAGE_BYTES;
		const struct target_page *page = page_at(memory, address + i - offset);
		if (!page)
			return -1;
		while (i < sizeof(bytes) && offset < TARGET_PAGE_BYTES)
			bytes[i++] = page->bytes[offset++];
	}
	memcpy(value, bytes, sizeof(bytes));
	return 0;
}
