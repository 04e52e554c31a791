/*
 * Prints the cost of files' unwind rules in the kernel, as JSON: the bytes that a row takes
 * there, and the time until the rows are in the maps of the eBPF programs. Usage: `code
 * FILE...`. Each round begins with empty maps, as a recording does.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collect/sample/bpf/code.h"
#include "collect/sample/bpf/programs/shared.h"
#include "elf/elf_file.h"
#include "unwind/unwind.h"

enum { ROUNDS = 9, PID = 1, SLOT_BYTES = 8 };

struct figures {
	double compile_ms[ROUNDS], load_ms[ROUNDS], all_ms[ROUNDS];
	uint64_t rows, index_bytes;
};

static void give_up(const char *message, const char *what)
{
	fprintf(stderr, "code: %s: %s\n", what, message);
	exit(1);
}

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int create_map(enum bpf_map_type type, const char *name, uint32_t value_bytes, uint32_t entries, uint32_t flags,
		      int inner)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags, .inner_map_fd = (uint32_t)inner);
	int fd = bpf_map_create(type, name, sizeof(uint32_t), value_bytes, entries, &options);
	if (fd < 0)
		give_up("the kernel does not make this map (are you root?)", name);
	return fd;
}

/* The same types and sizes as in collect/sample/bpf/programs/maps.bpf.h. */
static struct bpf_code_maps create_maps(void)
{
	struct bpf_code_maps maps = {
		.processes = create_map(BPF_MAP_TYPE_HASH, "processes", sizeof(struct walk_process), 65536,
					BPF_F_NO_PREALLOC, 0),
		.codes = create_map(BPF_MAP_TYPE_ARRAY, "codes", sizeof(struct walk_code), WALK_CODES, BPF_F_MMAPABLE,
				    0),
		.first_chunk = create_map(BPF_MAP_TYPE_ARRAY, "chunk", SLOT_BYTES, CODE_CHUNK_SLOTS, BPF_F_MMAPABLE, 0),
	};
	maps.chunks = create_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, "chunks", sizeof(int), CODE_CHUNKS, 0, maps.first_chunk);
	return maps;
}

static void close_maps(const struct bpf_code_maps *maps)
{
	close(maps->processes);
	close(maps->codes);
	close(maps->first_chunk);
	close(maps->chunks);
}

static struct unwind_table *compile(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *file = fd < 0 ? NULL : elf_file_open(fd, path, NULL);
	if (!file)
		give_up("cannot read it", path);
	close(fd);
	struct unwind_table *table = unwind_table_new(file, NULL);
	elf_file_free(file);
	if (!table)
		give_up("out of memory", path);
	return table;
}

static void measure_once(const char *path, struct figures *figures, int round)
{
	struct error error = { 0 };
	struct bpf_code_maps maps = create_maps();
	struct code_loader *loader = bpf_code_loader_new(&maps, &error);
	if (!loader)
		give_up(error.message, path);
	double start = now_ms();
	struct unwind_table *table = compile(path);
	double compiled = now_ms();
	const struct backend_code code = { .start = table->base,
					   .end = table->base + table->text_size,
					   .table = table };
	if (code_loader_load(loader, PID, &code, 1) < 0)
		give_up("the kernel does not take its rows", path);
	double loaded = now_ms();
	figures->compile_ms[round] = compiled - start;
	figures->load_ms[round] = loaded - compiled;
	figures->all_ms[round] = loaded - start;
	figures->rows = code_loader_rows(loader);
	figures->index_bytes = code_loader_index_bytes(loader);
	code_loader_free(loader);
	close_maps(&maps);
	unwind_table_free(table);
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare_doubles);
	return values[ROUNDS / 2];
}

static void measure(const char *path, bool is_last)
{
	struct figures figures;
	for (int round = 0; round < ROUNDS; round++)
		measure_once(path, &figures, round);
	printf(" {\"rows\": %llu, \"row_bytes\": %zu, \"index_bytes\": %llu, \"compile_ms\": %.3f, \"load_ms\": %.3f, "
	       "\"all_ms\": %.3f}%s\n",
	       (unsigned long long)figures.rows, sizeof(struct unwind_row), (unsigned long long)figures.index_bytes,
	       median(figures.compile_ms), median(figures.load_ms), median(figures.all_ms), is_last ? "" : ",");
}

int main(int argc, char **argv)
{
	printf("[\n");
	for (int i = 1; i < argc; i++)
		measure(argv[i], i == argc - 1);
	printf("]\n");
	return 0;
}
