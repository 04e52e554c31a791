#include "collect/sample/bpf/code.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	CHUNK_BYTES = CODE_CHUNK_SLOTS * CODE_SLOT_BYTES,
	CODES_BYTES = WALK_CODES * sizeof(struct walk_code),
};

struct bpf_code {
	struct bpf_code_maps maps;
	struct walk_code *codes; /* memory of the kernel, and so is: */
	uint8_t *chunk;          /* the last chunk */
};

static void *map_memory(int fd, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static void unmap_chunk(struct bpf_code *code)
{
	if (code->chunk)
		munmap(code->chunk, CHUNK_BYTES);
}

static uint8_t *make_chunk(const struct bpf_code *code, uint32_t number)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "chunk", sizeof(uint32_t), CODE_SLOT_BYTES, CODE_CHUNK_SLOTS,
				&options);
	if (fd < 0)
		return NULL;
	void *memory = map_memory(fd, CHUNK_BYTES);
	int result = memory ? bpf_map_update_elem(code->maps.chunks, &number, &fd, BPF_ANY) : -1;
	close(fd); /* the map of chunks and our mapping keep the chunk */
	if (result < 0 && memory)
		munmap(memory, CHUNK_BYTES);
	return result < 0 ? NULL : memory;
}

static uint8_t *add_chunk(void *context, uint32_t number)
{
	struct bpf_code *code = context;
	uint8_t *chunk = number == 0 ? map_memory(code->maps.first_chunk, CHUNK_BYTES) : make_chunk(code, number);
	if (!chunk)
		return NULL;
	unmap_chunk(code);
	code->chunk = chunk;
	return chunk;
}

static int set_process(void *context, uint32_t pid, const struct walk_process *process)
{
	const struct bpf_code *code = context;
	if (bpf_map_update_elem(code->maps.processes, &pid, process, BPF_ANY) == 0)
		return 0;
	return errno == E2BIG ? ERROR_LIMIT : ERROR_SYSTEM;
}

static void drop_process(void *context, uint32_t pid)
{
	const struct bpf_code *code = context;
	bpf_map_delete_elem(code->maps.processes, &pid);
}

static void release(void *context)
{
	struct bpf_code *code = context;
	unmap_chunk(code);
	munmap(code->codes, CODES_BYTES);
	free(code);
}

struct code_loader *bpf_code_loader_new(const struct bpf_code_maps *maps, struct error *error)
{
	struct bpf_code *code = calloc(1, sizeof(*code));
	if (!code) {
		error_memory(error);
		return NULL;
	}
	code->maps = *maps;
	code->codes = map_memory(maps->codes, CODES_BYTES);
	if (!code->codes) {
		error_set_errno(error, "cannot map the kernel's memory for code");
		free(code);
		return NULL;
	}
	const struct code_storage storage = {
		.context = code,
		.codes = code->codes,
		.add_chunk = add_chunk,
		.set_process = set_process,
		.drop_process = drop_process,
		.release = release,
	};
	return code_loader_new(&storage, error);
}
