#include "elf/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/huge_pages.h"
#include "elf/elf_image.h"
#include "elf/sparse.h"
#include "processor/names.h"

/*
 * The file is read in pieces, never mapped: if a library is overwritten meanwhile, a read is short, whereas a
 * mapping would end the process with SIGBUS.
 */
struct elf_chunk {
	struct elf_chunk *next; /* of the same bucket */
	uint64_t offset;        /* in the file; for a decompressed section: UINT64_MAX - its number */
	size_t size;
	uint8_t bytes[];
};

/* Bytes that were copied, direct-mapped by their place in the file: a walk over code without
 * unwind rules reads the same few instructions again for each sample. */
enum { LINE_BYTES = 256, LINE_BITS = 6, LINES = 1 << LINE_BITS };
struct elf_lines {
	uint64_t ends[LINES]; /* the offset behind the line; 0: none */
	uint8_t bytes[LINES][LINE_BYTES];
};

/* A file with many gaps in its unwind information has a chunk for each. */
enum { BUCKET_BITS = 6, BUCKETS = 1 << BUCKET_BITS };

struct elf_file {
	const uint8_t *memory; /* NULL: the bytes are in `fd` */
	int fd;
	bool is_foreign;
	uint64_t size;
	uint64_t entry;
	const Elf64_Phdr *segments;
	size_t segment_count;
	const Elf64_Shdr *sections; /* NULL: missing or damaged */
	size_t section_count;
	const char *section_names; /* section_names[section_names_size - 1] is a NUL */
	size_t section_names_size;
	struct elf_chunk *chunks[BUCKETS];
	struct elf_lines *lines; /* NULL: nothing was copied yet, or memory ran out */
};

enum { PAGE_BYTES = 4096, MOST_DEBUG_FRAME_BYTES = 1 << 28, ZLIB_BEST_RATIO = 1032 };
/* Limits of one part. The unwind information of the largest programs takes 150 MB, and has no holes. */
enum { VIEW_BYTES_MAX = 1 << 28, VIEW_HOLES_MAX = 1 << 20 };

/* Multiplicative hashing (Knuth, The Art of Computer Programming, 6.4). */
static size_t hash_of(uint64_t number, unsigned bits)
{
	return (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

static struct elf_chunk *chunk_new(struct elf_file *file, uint64_t offset, size_t size)
{
	struct elf_chunk **first = &file->chunks[hash_of(offset, BUCKET_BITS)];
	struct elf_chunk *chunk = huge_pages_new(sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	*chunk = (struct elf_chunk){ .next = *first, .offset = offset, .size = size };
	*first = chunk;
	return chunk;
}

static void chunk_free(struct elf_chunk *chunk)
{
	huge_pages_free(chunk, sizeof(*chunk) + chunk->size);
}

static const struct elf_chunk *chunk_find(const struct elf_file *file, uint64_t offset, size_t size)
{
	for (const struct elf_chunk *chunk = file->chunks[hash_of(offset, BUCKET_BITS)]; chunk; chunk = chunk->next)
		if (chunk->offset == offset && chunk->size == size)
			return chunk;
	return NULL;
}

/* Returns `size` bytes at a file offset, or NULL if the file does not have them or they cannot be read. */
static const uint8_t *view(struct elf_file *file, uint64_t offset, uint64_t size)
{
	if (offset > file->size || size > file->size - offset)
		return NULL;
	if (file->memory)
		return file->memory + offset;
	const struct elf_chunk *known = chunk_find(file, offset, size);
	if (known)
		return known->bytes;
	if (size > VIEW_BYTES_MAX || sparse_range(file->fd, offset, size, VIEW_HOLES_MAX))
		return NULL;
	struct elf_chunk *chunk = chunk_new(file, offset, size);
	if (!chunk)
		return NULL;
	size_t done = 0;
	while (done < size) {
		ssize_t got = pread(file->fd, chunk->bytes + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	if (done < size) {
		file->chunks[hash_of(offset, BUCKET_BITS)] = chunk->next;
		chunk_free(chunk);
		return NULL;
	}
	return chunk->bytes;
}

/* The same, aligned for structs: tables of headers are read through structs, but a hostile offset in memory (the
 * vDSO, the fuzzer's) may be odd. Such bytes are copied. */
static const void *view_aligned(struct elf_file *file, uint64_t offset, uint64_t size)
{
	const uint8_t *bytes = view(file, offset, size);
	if (!bytes || (uintptr_t)bytes % _Alignof(uint64_t) == 0)
		return bytes;
	const struct elf_chunk *known = chunk_find(file, offset, size);
	if (known)
		return known->bytes;
	struct elf_chunk *chunk = chunk_new(file, offset, size);
	return chunk ? memcpy(chunk->bytes, bytes, size) : NULL;
}

/* --- opening --- */

/* A program runs without section headers, so a file with bad section headers is opened as a file without sections. */
static void read_sections(struct elf_file *file, const Elf64_Ehdr *header)
{
	if (header->e_shoff == 0 || header->e_shentsize != sizeof(Elf64_Shdr))
		return;
	const Elf64_Shdr *first = view_aligned(file, header->e_shoff, sizeof(*first));
	if (!first)
		return;
	uint64_t count = header->e_shnum ? header->e_shnum : first->sh_size;
	uint32_t names = header->e_shstrndx == SHN_XINDEX ? first->sh_link : header->e_shstrndx;
	if (count > file->size / sizeof(Elf64_Shdr) || names >= count)
		return;
	const Elf64_Shdr *sections = view_aligned(file, header->e_shoff, count * sizeof(*sections));
	if (!sections || sections[names].sh_type == SHT_NOBITS || sections[names].sh_size == 0)
		return;
	const uint8_t *text = view(file, sections[names].sh_offset, sections[names].sh_size);
	if (!text || text[sections[names].sh_size - 1] != 0)
		return;
	file->sections = sections;
	file->section_count = count;
	file->section_names = (const char *)text;
	file->section_names_size = sections[names].sh_size;
}

static int read_headers(struct elf_file *file, bool takes_foreign, const char *name, struct error *error)
{
	const Elf64_Ehdr *header = view_aligned(file, 0, sizeof(*header));
	const uint8_t *magic = header ? header->e_ident : view(file, 0, SELFMAG);
	if (!magic || memcmp(magic, ELFMAG, SELFMAG) != 0)
		return error_set(error, ERROR_FORMAT, "'%s' is not an ELF file", name);
	if (!header)
		return error_set(error, ERROR_CORRUPT, "%s ends inside its ELF header", name);
	file->is_foreign = header->e_machine != ARCH_ELF_MACHINE;
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    (file->is_foreign && !takes_foreign))
		return error_set(error, ERROR_UNSUPPORTED, "'%s' is for another machine than " ARCH_NAME, name);
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return error_set(error, ERROR_UNSUPPORTED, "'%s' is neither a program nor a shared library", name);
	if (header->e_phnum && header->e_phentsize != sizeof(Elf64_Phdr))
		return error_set(error, ERROR_CORRUPT, "%s has program headers of a wrong size", name);
	file->segment_count = header->e_phnum;
	file->segments = view_aligned(file, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr));
	if (!file->segments)
		return error_set(error, ERROR_CORRUPT, "%s has its program headers outside of the file", name);
	file->entry = header->e_entry;
	read_sections(file, header);
	return 0;
}

static struct elf_file *open_source(struct elf_file source, bool takes_foreign, const char *name, struct error *error)
{
	struct elf_file *file = malloc(sizeof(*file));
	if (!file) {
		error_set(error, ERROR_MEMORY, "out of memory for %s", name);
		if (source.fd >= 0)
			close(source.fd);
		return NULL;
	}
	*file = source;
	if (read_headers(file, takes_foreign, name, error) < 0) {
		elf_file_free(file);
		return NULL;
	}
	return file;
}

static struct elf_file *open_file(int fd, bool takes_foreign, const char *name, struct error *error)
{
	struct stat status;
	if (fstat(fd, &status) < 0) {
		error_set_errno(error, "cannot inspect %s", name);
		return NULL;
	}
	if (!S_ISREG(status.st_mode)) {
		error_set(error, ERROR_FORMAT, "'%s' is not an ELF file", name);
		return NULL;
	}
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0) {
		error_set_errno(error, "cannot open '%s'", name);
		return NULL;
	}
	return open_source((struct elf_file){ .fd = own, .size = (uint64_t)status.st_size }, takes_foreign, name,
			   error);
}

struct elf_file *elf_file_open(int fd, const char *name, struct error *error)
{
	return open_file(fd, false, name, error);
}

struct elf_file *elf_file_open_any(int fd, const char *name, struct error *error)
{
	return open_file(fd, true, name, error);
}

bool elf_file_is_foreign(const struct elf_file *file)
{
	return file->is_foreign;
}

struct elf_file *elf_file_from_memory(const void *bytes, size_t size, const char *name, struct error *error)
{
	static const uint8_t nothing[1];
	return open_source((struct elf_file){ .memory = bytes ? bytes : nothing, .fd = -1, .size = bytes ? size : 0 },
			   false, name, error);
}

void elf_file_free(struct elf_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (file->chunks[i]) {
			struct elf_chunk *next = file->chunks[i]->next;
			chunk_free(file->chunks[i]);
			file->chunks[i] = next;
		}
	free(file->lines);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

/* --- sections --- */

/* Decompresses one section with libelf, whatever its compression, except zstd. */
static struct elf_bytes decompress(struct elf_file *file, size_t section, Elf *elf)
{
	struct elf_bytes none = { 0 };
	Elf_Scn *scn = elf ? elf_getscn(elf, section) : NULL;
	if (!scn || elf_compress(scn, 0, 0) < 0)
		return none;
	Elf_Data *data = elf_getdata(scn, NULL);
	if (!data || !data->d_buf)
		return none;
	struct elf_chunk *chunk = chunk_new(file, UINT64_MAX - section, data->d_size);
	if (!chunk)
		return none;
	memcpy(chunk->bytes, data->d_buf, data->d_size);
	return (struct elf_bytes){ .bytes = chunk->bytes, .size = chunk->size };
}

static struct elf_bytes unpacked(struct elf_file *file, size_t section, const uint8_t *bytes, uint64_t size)
{
	struct elf_bytes none = { 0 };
	struct elf_chunk *chunk = chunk_new(file, UINT64_MAX - section, size);
	if (!chunk)
		return none;
	struct elf_bytes part = { .bytes = chunk->bytes, .size = chunk->size };
	if (elf_image_unpack(bytes, file->sections[section].sh_size, chunk->bytes, chunk->size))
		return part;
	elf_file_release_part(file, &part);
	return none;
}

static struct elf_bytes compressed_section(struct elf_file *file, size_t section)
{
	struct elf_bytes none = { 0 };
	const Elf64_Shdr *header = &file->sections[section];
	for (const struct elf_chunk *chunk = file->chunks[hash_of(UINT64_MAX - section, BUCKET_BITS)]; chunk;
	     chunk = chunk->next)
		if (chunk->offset == UINT64_MAX - section)
			return (struct elf_bytes){ .bytes = chunk->bytes, .size = chunk->size };
	/* Limit the size: a small file must not cause a large allocation. */
	const uint8_t *bytes = view(file, header->sh_offset, header->sh_size);
	Elf64_Chdr compression;
	if (!bytes || header->sh_size < sizeof(compression))
		return none;
	memcpy(&compression, bytes, sizeof(compression));
	if (compression.ch_size > MOST_DEBUG_FRAME_BYTES || compression.ch_size / ZLIB_BEST_RATIO > header->sh_size ||
	    elf_version(EV_CURRENT) == EV_NONE)
		return none;
	if (compression.ch_type == ELFCOMPRESS_ZSTD)
		return unpacked(file, section, bytes, compression.ch_size);
	/* libelf does not write to memory that it only reads; its prototype predates const. */
	Elf *elf = file->memory ? elf_memory((char *)(uintptr_t)file->memory, file->size)
				: elf_begin(file->fd, ELF_C_READ, NULL);
	struct elf_bytes result = decompress(file, section, elf);
	elf_end(elf);
	return result;
}

struct elf_bytes elf_file_section(struct elf_file *file, const char *name)
{
	struct elf_bytes none = { 0 };
	size_t length = strlen(name);
	for (size_t i = 0; i < file->section_count; i++) {
		const Elf64_Shdr *header = &file->sections[i];
		if (header->sh_name >= file->section_names_size ||
		    file->section_names_size - header->sh_name <= length ||
		    memcmp(file->section_names + header->sh_name, name, length + 1) != 0)
			continue;
		if (header->sh_type == SHT_NOBITS)
			return none;
		if (header->sh_flags & SHF_COMPRESSED)
			return compressed_section(file, i);
		const uint8_t *bytes = view(file, header->sh_offset, header->sh_size);
		return bytes ? (struct elf_bytes){ bytes, header->sh_size, header->sh_addr } : none;
	}
	return none;
}

/* The tables of headers of a hostile file may be its sections, too. */
static bool is_header(const struct elf_file *file, const uint8_t *bytes)
{
	return bytes == (const uint8_t *)file->segments || bytes == (const uint8_t *)file->sections ||
	       bytes == (const uint8_t *)file->section_names;
}

void elf_file_release_part(struct elf_file *file, const struct elf_bytes *part)
{
	if (!part->bytes || is_header(file, part->bytes))
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct elf_chunk **at = &file->chunks[i]; *at; at = &(*at)->next) {
			struct elf_chunk *chunk = *at;
			if (chunk->bytes != part->bytes)
				continue;
			*at = chunk->next;
			chunk_free(chunk);
			return;
		}
}

void elf_file_release_parts(struct elf_file *file)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct elf_chunk **at = &file->chunks[i]; *at;) {
			struct elf_chunk *chunk = *at;
			if (is_header(file, chunk->bytes)) {
				at = &chunk->next;
				continue;
			}
			*at = chunk->next;
			chunk_free(chunk);
		}
}

/* --- segments --- */

/* Finds the bytes of a PT_LOAD segment from an address on that are in the file. */
static bool find_loaded(const struct elf_file *file, uint64_t address, uint64_t *offset, uint64_t *size)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		uint64_t skip = address - segment->p_vaddr;
		if (segment->p_type != PT_LOAD || address < segment->p_vaddr || skip >= segment->p_filesz)
			continue;
		if (segment->p_offset > file->size || skip >= file->size - segment->p_offset)
			return false;
		*offset = segment->p_offset + skip;
		*size = segment->p_filesz - skip;
		if (*size > file->size - *offset)
			*size = file->size - *offset;
		return true;
	}
	return false;
}

static const Elf64_Phdr *eh_frame_hdr_segment(const struct elf_file *file, size_t from)
{
	for (size_t i = from; i < file->segment_count; i++)
		if (file->segments[i].p_type == PT_GNU_EH_FRAME)
			return &file->segments[i];
	return NULL;
}

struct elf_bytes elf_file_eh_frame_hdr_place(const struct elf_file *file)
{
	const Elf64_Phdr *segment = eh_frame_hdr_segment(file, 0);
	return segment ? (struct elf_bytes){ NULL, segment->p_filesz, segment->p_vaddr } : (struct elf_bytes){ 0 };
}

struct elf_bytes elf_file_eh_frame_hdr(struct elf_file *file)
{
	const Elf64_Phdr *segment = eh_frame_hdr_segment(file, 0);
	while (segment) {
		const uint8_t *bytes = view(file, segment->p_offset, segment->p_filesz);
		if (bytes)
			return (struct elf_bytes){ bytes, segment->p_filesz, segment->p_vaddr };
		segment = eh_frame_hdr_segment(file, (size_t)(segment - file->segments) + 1);
	}
	return (struct elf_bytes){ 0 };
}

const uint8_t *elf_file_at(struct elf_file *file, uint64_t address, size_t size)
{
	uint64_t offset;
	uint64_t present;
	if (!find_loaded(file, address, &offset, &present) || size > present)
		return NULL;
	return view(file, offset, size);
}

/* Returns the line that begins at a file offset, or NULL if the file ends in it or it cannot be read. */
static const uint8_t *line_at(struct elf_file *file, uint64_t start)
{
	size_t at = hash_of(start / LINE_BYTES, LINE_BITS);
	struct elf_lines *lines = file->lines;
	if (lines->ends[at] == start + LINE_BYTES)
		return lines->bytes[at];
	lines->ends[at] = 0;
	if (pread(file->fd, lines->bytes[at], LINE_BYTES, (off_t)start) != LINE_BYTES)
		return NULL;
	lines->ends[at] = start + LINE_BYTES;
	return lines->bytes[at];
}

/* Copies a few bytes by way of the lines. Returns false if they are not all in whole lines. */
static bool copy_from_lines(struct elf_file *file, uint64_t offset, uint8_t *to, size_t size)
{
	if (size > LINE_BYTES || offset > file->size)
		return false;
	if (!file->lines)
		file->lines = calloc(1, sizeof(*file->lines));
	for (size_t done = 0; file->lines && done < size;) {
		size_t skipped = (offset + done) % LINE_BYTES;
		const uint8_t *line = line_at(file, offset + done - skipped);
		size_t part = LINE_BYTES - skipped < size - done ? LINE_BYTES - skipped : size - done;
		if (!line)
			return false;
		memcpy(to + done, line + skipped, part);
		done += part;
	}
	return file->lines != NULL;
}

bool elf_file_copy(struct elf_file *file, uint64_t address, void *to, size_t size)
{
	uint64_t offset;
	uint64_t present;
	if (!find_loaded(file, address, &offset, &present) || size > present)
		return false;
	if (file->memory) {
		memcpy(to, file->memory + offset, size);
		return true;
	}
	return copy_from_lines(file, offset, to, size) || pread(file->fd, to, size, (off_t)offset) == (ssize_t)size;
}

struct elf_bytes elf_file_from(struct elf_file *file, uint64_t address, uint64_t most)
{
	uint64_t offset;
	uint64_t present;
	if (!find_loaded(file, address, &offset, &present))
		return (struct elf_bytes){ 0 };
	if (present > most)
		present = most;
	const uint8_t *bytes = view(file, offset, present);
	return bytes ? (struct elf_bytes){ bytes, present, address } : (struct elf_bytes){ 0 };
}

bool elf_file_address_of_offset(const struct elf_file *file, uint64_t offset, uint64_t *address)
{
	/* The kernel maps whole pages, so a mapping may begin before its segment, and a page with the end of one
	 * segment and the start of the next is mapped twice. Executable segments are tried first. */
	for (int executable = 1; executable >= 0; executable--) {
		for (size_t i = 0; i < file->segment_count; i++) {
			const Elf64_Phdr *segment = &file->segments[i];
			bool is_executable = segment->p_flags & PF_X;
			uint64_t start = segment->p_offset - segment->p_offset % PAGE_BYTES;
			uint64_t size = segment->p_offset % PAGE_BYTES + segment->p_filesz;
			if (segment->p_type != PT_LOAD || is_executable != executable)
				continue;
			if (offset < start || offset - start >= size)
				continue;
			*address = segment->p_vaddr + (offset - segment->p_offset);
			return true;
		}
	}
	return false;
}

void elf_file_text_range(const struct elf_file *file, uint64_t *low, uint64_t *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		uint64_t end = segment->p_vaddr + segment->p_memsz;
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || end <= segment->p_vaddr)
			continue;
		if (segment->p_vaddr < *low)
			*low = segment->p_vaddr;
		if (end > *high)
			*high = end;
	}
	if (*high == 0)
		*low = 0;
}

uint64_t elf_file_entry(const struct elf_file *file)
{
	return file->entry;
}

/* --- build-id --- */

static size_t align_up(size_t value, size_t alignment)
{
	return (value + alignment - 1) & ~(alignment - 1);
}

/*
 * Returns the size of the build-id in notes, or 0 if they have none. A note is:
 *
 *   name size u32 | desc size u32 | type u32 | name | desc
 *
 * `name` is padded to 4 bytes, the whole note to the alignment of the segment.
 */
static size_t build_id_in(const uint8_t *notes, size_t size, size_t alignment, const uint8_t **id)
{
	struct cursor cursor = cursor_over(notes, size);
	while (cursor_left(&cursor) >= sizeof(Elf64_Nhdr)) {
		uint32_t name_size = cursor_u32(&cursor);
		uint32_t desc_size = cursor_u32(&cursor);
		uint32_t type = cursor_u32(&cursor);
		const uint8_t *name = cursor_bytes(&cursor, align_up(name_size, 4));
		const uint8_t *desc = cursor_bytes(&cursor, desc_size);
		if (!name || !desc)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0 && desc_size > 0) {
			*id = desc;
			return desc_size;
		}
		size_t used = (size_t)(cursor.next - notes);
		size_t padding = align_up(used, alignment) - used;
		cursor_bytes(&cursor, padding < cursor_left(&cursor) ? padding : cursor_left(&cursor));
	}
	return 0;
}

size_t elf_file_build_id(struct elf_file *file, const uint8_t **id)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		if (segment->p_type != PT_NOTE)
			continue;
		const uint8_t *notes = view(file, segment->p_offset, segment->p_filesz);
		size_t size = notes ? build_id_in(notes, segment->p_filesz, segment->p_align == 8 ? 8 : 4, id) : 0;
		if (size)
			return size;
	}
	struct elf_bytes section = elf_file_section(file, ".note.gnu.build-id");
	return section.bytes ? build_id_in(section.bytes, section.size, 4, id) : 0;
}

bool elf_file_has_build_id(struct elf_file *file, const uint8_t *id, size_t bytes)
{
	const uint8_t *own;
	return elf_file_build_id(file, &own) == bytes && (bytes == 0 || memcmp(own, id, bytes) == 0);
}
