#include "collect/sample/probes/usdt_notes.h"

#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/path.h"
#include "elf/sparse.h"

enum { STAPSDT_TYPE = 3 };

static unsigned count_words(const char *text)
{
	unsigned count = 0;
	for (bool between = true; *text; text++) {
		count += between && *text != ' ';
		between = *text == ' ';
	}
	return count;
}

/*
 *	pc  base  semaphore   "libc\0" "setjmp\0" "8@ARGUMENT -4@ARGUMENT ...\0"
 *	u64 u64   u64         provider  probe      arguments
 */
static int read_note(struct cursor note, struct usdt_search *search)
{
	cursor_bytes(&note, 3 * sizeof(uint64_t));
	const char *provider = cursor_string(&note);
	const char *probe = cursor_string(&note);
	const char *arguments = cursor_string(&note);
	if (note.failed)
		return 0;
	if (strcmp(provider, search->provider) == 0 && strcmp(probe, search->probe) == 0) {
		unsigned count = count_words(arguments);
		if (count < search->argument_count)
			search->argument_count = count;
		return 1;
	}
	char name[256];
	snprintf(name, sizeof(name), "%s:%s", provider, probe);
	near_names_offer(&search->near, name);
	search->others++;
	return 0;
}

static int read_section(Elf_Data *data, struct usdt_search *search)
{
	GElf_Nhdr header;
	size_t name_at, content_at, at = 0;
	int found = 0;
	while (data && found < INT_MAX && (at = gelf_getnote(data, at, &header, &name_at, &content_at)) > 0) {
		const uint8_t *bytes = data->d_buf;
		if (header.n_type == STAPSDT_TYPE && header.n_namesz == sizeof("stapsdt") &&
		    memcmp(bytes + name_at, "stapsdt", sizeof("stapsdt")) == 0)
			found += read_note(cursor_over(bytes + content_at, header.n_descsz), search);
	}
	return found;
}

static int read_sections(Elf *elf, struct usdt_search *search)
{
	size_t names = 0;
	int found = 0;
	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		if (name && strcmp(name, ".note.stapsdt") == 0 && header.sh_type == SHT_NOTE)
			found += read_section(elf_getdata(section, NULL), search);
	}
	return found;
}

int usdt_notes_count(const char *path, struct usdt_search *search, struct error *error)
{
	int fd = path_open_regular(path);
	if (fd < 0)
		return error_set_errno(error, "cannot read '%s'", path);
	elf_version(EV_CURRENT);
	/* Read, not mapped: the file's owner may truncate it meanwhile. */
	Elf *elf = sparse_file(fd) ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	search->argument_count = UINT_MAX;
	int found = elf ? read_sections(elf, search) : 0;
	elf_end(elf);
	close(fd);
	return found;
}
