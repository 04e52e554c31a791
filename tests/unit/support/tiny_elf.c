#include "tiny_elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "processor/names.h"
#include "processor/tests.h"

enum { EH_FRAME_HDR = 0x1c0, EH_FRAME = TINY_EH_FRAME - TINY_BASE };

static const char names[] = "\0.eh_frame\0.debug_frame\0.shstrtab";
enum { NAME_EH_FRAME = 1, NAME_DEBUG_FRAME = 11, NAME_NAMES = 24, SECTIONS = 4, OTHERS_MOST = 4, SEGMENTS = 2 };

/* The contents of a file besides its headers. */
struct contents {
	const struct buffer *eh_frame, *debug_frame; /* NULL: none */
	const void *code;
	size_t code_bytes;
	const struct tiny_section *others; /* [other_count] */
	size_t other_count;
	bool has_sections;
};

static void pad_to(struct buffer *out, size_t size)
{
	while (out->size < size)
		buffer_append_byte(out, 0);
}

static Elf64_Shdr section(uint32_t name, uint32_t type, uint64_t address, uint64_t offset, uint64_t size)
{
	return (Elf64_Shdr){
		.sh_name = name,
		.sh_type = type,
		.sh_addr = address,
		.sh_offset = offset,
		.sh_size = size,
		.sh_addralign = 1,
	};
}

static void put_section_headers(struct buffer *out, const struct contents *contents, size_t debug_offset)
{
	const struct buffer *eh_frame = contents->eh_frame, *debug_frame = contents->debug_frame;
	size_t names_offset = out->size, name = sizeof(names), count = SECTIONS;
	buffer_append(out, names, sizeof(names));
	for (size_t i = 0; i < contents->other_count; i++)
		buffer_append(out, contents->others[i].name, strlen(contents->others[i].name) + 1);
	size_t names_bytes = out->size - names_offset;
	Elf64_Shdr headers[SECTIONS + OTHERS_MOST] = {
		{ 0 },
		section(NAME_EH_FRAME, eh_frame ? SHT_PROGBITS : SHT_NOBITS, TINY_EH_FRAME, EH_FRAME,
			eh_frame ? eh_frame->size : 0),
		section(NAME_DEBUG_FRAME, debug_frame ? SHT_PROGBITS : SHT_NOBITS, 0, debug_offset,
			debug_frame ? debug_frame->size : 0),
		section(NAME_NAMES, SHT_STRTAB, 0, names_offset, names_bytes),
	};
	for (size_t i = 0; i < contents->other_count; i++) {
		const struct tiny_section *other = &contents->others[i];
		headers[count++] = section((uint32_t)name, other->type, 0, out->size, other->size);
		name += strlen(other->name) + 1;
		buffer_append(out, other->bytes, other->size);
	}
	pad_to(out, (out->size + 7) & ~(size_t)7);
	size_t headers_offset = out->size;
	buffer_append(out, headers, count * sizeof(headers[0]));
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)out->bytes;
	header->e_shoff = headers_offset;
	header->e_shentsize = sizeof(Elf64_Shdr);
	header->e_shnum = (uint16_t)count;
	header->e_shstrndx = SECTIONS - 1;
}

static void put_headers(struct buffer *out, bool has_eh_frame)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = ARCH_ELF_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = has_eh_frame ? SEGMENTS : SEGMENTS - 1,
		.e_entry = TINY_BASE + 0x1000,
	};
	Elf64_Phdr segments[SEGMENTS] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = TINY_BASE, .p_memsz = TINY_TEXT_BYTES },
		{ .p_type = PT_GNU_EH_FRAME,
		  .p_offset = EH_FRAME_HDR,
		  .p_vaddr = TINY_BASE + EH_FRAME_HDR,
		  .p_filesz = 8 },
	};
	buffer_append(out, &header, sizeof(header));
	buffer_append(out, segments, sizeof(segments));
}

static void put_file(struct buffer *out, const struct contents *contents)
{
	/* version, pcrel sdata4 pointer, no search table; then the pointer */
	const uint8_t hdr[4] = { 1, 0x1b, 0xff, 0xff };
	int32_t to_eh_frame = EH_FRAME - (EH_FRAME_HDR + (int32_t)sizeof(hdr));
	buffer_clear(out);
	put_headers(out, contents->eh_frame != NULL);
	pad_to(out, EH_FRAME_HDR);
	buffer_append(out, hdr, sizeof(hdr));
	buffer_append(out, &to_eh_frame, sizeof(to_eh_frame));
	pad_to(out, EH_FRAME);
	if (contents->eh_frame)
		buffer_append(out, contents->eh_frame->bytes, contents->eh_frame->size);
	size_t debug_offset = out->size;
	if (contents->debug_frame)
		buffer_append(out, contents->debug_frame->bytes, contents->debug_frame->size);
	if (contents->has_sections)
		put_section_headers(out, contents, debug_offset);
	if (contents->code) {
		pad_to(out, TINY_CODE - TINY_BASE);
		buffer_append(out, contents->code, contents->code_bytes);
	}
	if (buffer_error(out))
		abort();
	Elf64_Phdr *segment = (Elf64_Phdr *)(void *)(out->bytes + sizeof(Elf64_Ehdr));
	segment->p_filesz = out->size;
}

void tiny_elf(struct buffer *out, const struct buffer *eh_frame, const struct buffer *debug_frame, bool has_sections)
{
	put_file(out,
		 &(struct contents){ .eh_frame = eh_frame, .debug_frame = debug_frame, .has_sections = has_sections });
}

void tiny_elf_with_code(struct buffer *out, const struct buffer *eh_frame, const void *code, size_t code_bytes,
			const struct tiny_section *other)
{
	put_file(out, &(struct contents){ .eh_frame = eh_frame,
					  .code = code,
					  .code_bytes = code_bytes,
					  .others = other,
					  .other_count = other ? 1 : 0,
					  .has_sections = true });
}

void tiny_elf_with_sections(struct buffer *out, const struct tiny_section *sections, size_t count)
{
	put_file(out, &(struct contents){ .others = sections, .other_count = count, .has_sections = true });
}

void tiny_entry(struct buffer *section_bytes, const struct buffer *content)
{
	uint32_t length = (uint32_t)content->size;
	buffer_append(section_bytes, &length, sizeof(length));
	buffer_append(section_bytes, content->bytes, content->size);
}

size_t tiny_cie(struct buffer *section_bytes, bool is_eh_frame, const char *augmentation, const void *instructions,
		size_t size)
{
	size_t offset = section_bytes->size;
	struct buffer content;
	uint32_t id = is_eh_frame ? 0 : UINT32_MAX;
	buffer_init(&content);
	buffer_append(&content, &id, sizeof(id));
	buffer_append_byte(&content, 1);
	buffer_append(&content, augmentation, strlen(augmentation) + 1);
	buffer_append_byte(&content, 1);    /* code alignment */
	buffer_append_byte(&content, 0x78); /* data alignment -8 */
	buffer_append_byte(&content, TEST_RETURN_COLUMN);
	if (augmentation[0] == 'z')
		buffer_append_byte(&content, 0); /* no augmentation data: the letters that tests use need none */
	buffer_append(&content, instructions, size);
	tiny_entry(section_bytes, &content);
	buffer_release(&content);
	return offset;
}

void tiny_fde(struct buffer *section_bytes, bool is_eh_frame, size_t cie, uint64_t start, uint64_t size,
	      const void *instructions, size_t instructions_size)
{
	struct buffer content;
	uint32_t id = (uint32_t)(is_eh_frame ? section_bytes->size + sizeof(uint32_t) - cie : cie);
	buffer_init(&content);
	buffer_append(&content, &id, sizeof(id));
	buffer_append(&content, &start, sizeof(start));
	buffer_append(&content, &size, sizeof(size));
	if (is_eh_frame)
		buffer_append_byte(&content, 0); /* augmentation data */
	buffer_append(&content, instructions, instructions_size);
	tiny_entry(section_bytes, &content);
	buffer_release(&content);
}
