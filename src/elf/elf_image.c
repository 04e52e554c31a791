#include "elf/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/huge_pages.h"
#include "elf/sparse.h"

enum { ALIGNMENT = 16, HEADERS_MAX = 16 << 20, WHOLE_MAX = 256 << 20 };
/* A compressed section larger than this is left out if it claims to grow by more than this factor. Debug information
 * grows by 3 to 20. */
enum { GROWN_MAX = 64 << 20, GROWTH_MAX = 64 };

/* The parts of a file. */
struct source {
	int fd;
	uint64_t size;
	Elf64_Ehdr header;
	Elf64_Phdr *segments; /* owned */
	Elf64_Shdr *sections; /* owned */
	char *names;          /* owned; names[names_size - 1] is a NUL */
	size_t segment_count, section_count, names_size;
};

static void source_release(struct source *source)
{
	free(source->segments);
	free(source->sections);
	free(source->names);
}

size_t elf_image_read(int fd, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;
	while (done < size) {
		ssize_t got = pread(fd, (uint8_t *)to + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* Reads a table of headers. Returns NULL if the file does not have it. */
static void *read_table(const struct source *source, uint64_t offset, uint64_t size)
{
	if (offset > source->size || size > source->size - offset || size > HEADERS_MAX)
		return NULL;
	void *table = malloc(size ? size : 1);
	if (table && elf_image_read(source->fd, table, size, offset) == size)
		return table;
	free(table);
	return NULL;
}

static bool read_names(struct source *source)
{
	const Elf64_Shdr *first = source->sections;
	uint32_t number = source->header.e_shstrndx == SHN_XINDEX ? first->sh_link : source->header.e_shstrndx;
	if (number >= source->section_count || source->sections[number].sh_size == 0)
		return false;
	source->names_size = source->sections[number].sh_size;
	source->names = read_table(source, source->sections[number].sh_offset, source->names_size);
	return source->names && source->names[source->names_size - 1] == 0;
}

/* Reads the headers. Returns whether they belong to a file for this class of machines and are not damaged. */
static bool read_headers(struct source *source)
{
	const Elf64_Ehdr *header = &source->header;
	if (elf_image_read(source->fd, &source->header, sizeof(*header), 0) != sizeof(*header) ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_shoff == 0 || header->e_shentsize != sizeof(Elf64_Shdr))
		return false;
	Elf64_Shdr *first = read_table(source, header->e_shoff, sizeof(*first));
	uint64_t count = !first ? 0 : header->e_shnum ? header->e_shnum : first->sh_size;
	source->segment_count = !first ? 0 : header->e_phnum == PN_XNUM ? first->sh_info : header->e_phnum;
	free(first);
	if (count == 0 || count > HEADERS_MAX / sizeof(Elf64_Shdr))
		return false;
	source->section_count = count;
	source->sections = read_table(source, header->e_shoff, count * sizeof(Elf64_Shdr));
	if (source->segment_count && header->e_phentsize != sizeof(Elf64_Phdr))
		return false;
	source->segments = read_table(source, header->e_phoff, source->segment_count * sizeof(Elf64_Phdr));
	return source->sections && source->segments && read_names(source);
}

/* Returns whether a section is needed: a large one that is not may be most of the file. */
static bool is_needed(const struct source *source, const Elf64_Shdr *section)
{
	static const char *const unneeded[] = { "debug_loc",      "debug_loclists",    "debug_macro",
						"debug_macinfo",  "debug_frame",       "debug_pubnames",
						"debug_pubtypes", "gdb_index",         "debug_gnu_pubnames",
						"debug_names",    "debug_gnu_pubtypes" };
	const char *name = section->sh_name < source->names_size ? source->names + section->sh_name : "";
	switch (section->sh_type) {
	case SHT_STRTAB:
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_SYMTAB_SHNDX:
	case SHT_NOTE:
		return true;
	case SHT_PROGBITS:
		break;
	default:
		return false;
	}
	/* ".zdebug_loc" was the name of a compressed section before sections had a flag for compression. */
	name += name[0] == '.';
	name += name[0] == 'z';
	for (size_t i = 0; i < sizeof(unneeded) / sizeof(unneeded[0]); i++)
		if (strcmp(name, unneeded[i]) == 0)
			return false;
	return !(section->sh_flags & SHF_ALLOC);
}

static uint64_t align_up(uint64_t size)
{
	return (size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

/* Returns whether libelf, or we, would unpack a few bytes to gigabytes. */
static bool is_bomb(const Elf64_Shdr *section, const Elf64_Chdr *compression)
{
	return compression->ch_size > GROWN_MAX && compression->ch_size / GROWTH_MAX > section->sh_size;
}

/* Reads how a section is compressed. Returns false if it is not. */
static bool read_compression(const struct source *source, const Elf64_Shdr *section, Elf64_Chdr *compression)
{
	return (section->sh_flags & SHF_COMPRESSED) && section->sh_size >= sizeof(*compression) &&
	       elf_image_read(source->fd, compression, sizeof(*compression), section->sh_offset) ==
		       sizeof(*compression);
}

/* Returns the size of a section in the image. libelf unpacks zlib's format; older versions cannot unpack zstd's format, which is unpacked into the
 * image. A bomb is left out. */
static uint64_t size_in_image(const struct source *source, Elf64_Shdr *section)
{
	Elf64_Chdr compression;
	if (!read_compression(source, section, &compression))
		return section->sh_size;
	if (is_bomb(section, &compression)) {
		section->sh_type = SHT_NOBITS;
		return 0;
	}
	return compression.ch_type == ELFCOMPRESS_ZSTD ? compression.ch_size : section->sh_size;
}

/* Leaves out unneeded sections. Returns the size of the image, or 0 if the sections overlap: then they may be much
 * larger than the file. */
static uint64_t choose_sections(struct source *source)
{
	uint64_t in_all = align_up(sizeof(Elf64_Ehdr)) + align_up(source->segment_count * sizeof(Elf64_Phdr)) +
			  source->section_count * sizeof(Elf64_Shdr);
	uint64_t contents = 0;
	for (size_t i = 0; i < source->section_count; i++) {
		Elf64_Shdr *section = &source->sections[i];
		if (section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS)
			continue;
		bool fits = section->sh_offset <= source->size && section->sh_size <= source->size - section->sh_offset;
		if (!fits || !is_needed(source, section)) {
			section->sh_type = SHT_NOBITS;
			continue;
		}
		contents += section->sh_size;
		in_all += align_up(size_in_image(source, section));
		if (contents > source->size)
			return 0;
	}
	return in_all;
}

/* A read failed, or the file was truncated since its size was read. */
static int error_truncated(const char *name, struct error *error)
{
	return error_set(error, ERROR_TRUNCATED,
			 "cannot read all of '%s': it was truncated meanwhile, or the disk failed", name);
}

static int refuse_holes(const struct source *source, const char *name, struct error *error)
{
	for (size_t i = 0; i < source->section_count; i++) {
		const Elf64_Shdr *section = &source->sections[i];
		if (section->sh_type != SHT_NULL && section->sh_type != SHT_NOBITS &&
		    sparse_range(source->fd, section->sh_offset, section->sh_size, SPARSE_HOLES_MAX))
			return error_set(error, ERROR_LIMIT, "'%s' is sparse: a section of %llu bytes is mostly a hole",
					 name, (unsigned long long)section->sh_size);
	}
	return 0;
}

bool elf_image_unpack(const uint8_t *section, size_t size, uint8_t *to, size_t to_size)
{
	size_t head = sizeof(Elf64_Chdr);
	size_t got = size < head ? 0 : ZSTD_decompress(to, to_size, section + head, size - head);
	return got == to_size && to_size > 0;
}

/* Unpacks a section, whose header then describes the unpacked bytes. A damaged one is left out. */
static void unpack(Elf64_Shdr *section, const Elf64_Chdr *compression, const uint8_t *packed, uint8_t *to, size_t room)
{
	if (compression->ch_size > room || !elf_image_unpack(packed, section->sh_size, to, compression->ch_size)) {
		section->sh_type = SHT_NOBITS;
		section->sh_size = 0;
		return;
	}
	section->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	section->sh_addralign = compression->ch_addralign;
	section->sh_size = compression->ch_size;
}

static int copy_section(const struct source *source, Elf64_Shdr *section, uint8_t *to, size_t room, const char *name,
			struct error *error)
{
	Elf64_Chdr compression;
	size_t size = section->sh_size;
	bool is_zstd = read_compression(source, section, &compression) && compression.ch_type == ELFCOMPRESS_ZSTD;
	if (!is_zstd && size > room)
		return error_truncated(name, error); /* it was compressed by zstd when the room was chosen */
	uint8_t *bytes = is_zstd ? malloc(size) : to;
	if (!bytes)
		return error_set(error, ERROR_MEMORY, "out of memory for %s", name);
	bool is_whole = elf_image_read(source->fd, bytes, size, section->sh_offset) == size;
	if (is_zstd) {
		if (is_whole)
			unpack(section, &compression, bytes, to, room);
		free(bytes);
	}
	return is_whole ? 0 : error_truncated(name, error);
}

static int copy_sections(struct elf_image *image, struct source *source, const char *name, struct error *error)
{
	if (refuse_holes(source, name, error) < 0)
		return ERROR_LIMIT;
	image->bytes = huge_pages_new(image->size);
	if (!image->bytes)
		return error_set(error, ERROR_MEMORY, "out of memory for %s", name);
	uint64_t at = align_up(sizeof(Elf64_Ehdr));
	source->header.e_phoff = at;
	memcpy(image->bytes + at, source->segments, source->segment_count * sizeof(Elf64_Phdr));
	at += align_up(source->segment_count * sizeof(Elf64_Phdr));
	source->header.e_shoff = at;
	uint8_t *headers = image->bytes + at;
	at += source->section_count * sizeof(Elf64_Shdr);
	for (size_t i = 0; i < source->section_count; i++) {
		Elf64_Shdr *section = &source->sections[i];
		if (section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS)
			continue;
		int status = copy_section(source, section, image->bytes + at, image->size - at, name, error);
		if (status < 0)
			return status;
		section->sh_offset = at;
		at += align_up(section->sh_size);
	}
	memcpy(headers, source->sections, source->section_count * sizeof(Elf64_Shdr));
	memcpy(image->bytes, &source->header, sizeof(source->header));
	return 0;
}

static int copy_whole(struct elf_image *image, const struct source *source, const char *name, struct error *error)
{
	if (source->size > WHOLE_MAX || sparse_file(source->fd))
		return error_set(error, ERROR_LIMIT, "'%s' has damaged section headers, or none, and is too large",
				 name);
	image->size = source->size;
	image->bytes = huge_pages_new(image->size);
	if (!image->bytes)
		return error_set(error, ERROR_MEMORY, "out of memory for %s", name);
	return elf_image_read(source->fd, image->bytes, image->size, 0) < image->size ? error_truncated(name, error)
										      : 0;
}

static int view(struct elf_image *image, void *bytes, const char *name, struct error *error)
{
	image->elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_memory(bytes, image->size);
	if (image->elf && elf_kind(image->elf) == ELF_K_ELF)
		return 0;
	elf_end(image->elf);
	elf_image_release(image);
	return error_set(error, ERROR_FORMAT, "'%s' is not an ELF file", name);
}

int elf_image_open(struct elf_image *image, int fd, const char *name, struct error *error)
{
	struct stat status;
	char magic[SELFMAG];
	*image = (struct elf_image){ 0 };
	if (fstat(fd, &status) < 0)
		return error_set_errno(error, "cannot inspect %s", name);
	struct source source = { .fd = fd, .size = (uint64_t)status.st_size };
	if (!S_ISREG(status.st_mode) || elf_image_read(fd, magic, SELFMAG, 0) != SELFMAG ||
	    memcmp(magic, ELFMAG, SELFMAG) != 0)
		return error_set(error, ERROR_FORMAT, "'%s' is not an ELF file", name);
	image->size = read_headers(&source) ? choose_sections(&source) : 0;
	int result = image->size ? copy_sections(image, &source, name, error) : copy_whole(image, &source, name, error);
	source_release(&source);
	if (result == 0)
		return view(image, image->bytes, name, error);
	elf_image_release(image);
	return result;
}

int elf_image_from_memory(struct elf_image *image, void *bytes, size_t size, const char *name, struct error *error)
{
	*image = (struct elf_image){ .size = size };
	return view(image, bytes, name, error);
}

void elf_image_release(struct elf_image *image)
{
	huge_pages_free(image->bytes, image->size);
	*image = (struct elf_image){ 0 };
}
