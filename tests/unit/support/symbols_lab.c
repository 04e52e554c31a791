#include "symbols_lab.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/frames.h"

static char folder[256];

int lab_setup(void **state)
{
	(void)state;
	const char *temporary = getenv("TMPDIR");
	snprintf(folder, sizeof(folder), "%s/cpprof-symbols-XXXXXX", temporary ? temporary : "/tmp");
	setenv("S", SYMBOLS_SOURCES, 1);
	setenv("CC", SYMBOLS_COMPILER, 1);
	setenv("OBJCOPY", SYMBOLS_OBJCOPY, 1);
	/* Tests must not query a debuginfod server. */
	unsetenv("DEBUGINFOD_URLS");
	/* The users of the tests' profiles are not known: root then reads the programs that everybody may read. */
	return mkdtemp(folder) && chmod(folder, 0755) == 0 ? 0 : -1;
}

int lab_teardown(void **state)
{
	(void)state;
	char command[300];
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

const char *lab_path(const char *name)
{
	static char paths[8][512];
	static unsigned next;
	char *path = paths[next++ % 8];
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

void lab_run(const char *format, ...)
{
	char command[2048];
	int used = snprintf(command, sizeof(command), "cd '%s' && ", folder);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(command + used, sizeof(command) - (size_t)used, format, arguments);
	va_end(arguments);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

char *lab_output(const char *format, ...)
{
	char command[2048];
	int used = snprintf(command, sizeof(command), "cd '%s' && ", folder);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(command + used, sizeof(command) - (size_t)used, format, arguments);
	va_end(arguments);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	char *text = NULL;
	size_t size = 0, got;
	char chunk[4096];
	FILE *memory = open_memstream(&text, &size);
	while ((got = fread(chunk, 1, sizeof(chunk), pipe)) > 0)
		fwrite(chunk, 1, got, memory);
	fclose(memory);
	if (pclose(pipe) != 0)
		fail_msg("failed: %s", command);
	return text;
}

struct open_elf {
	int fd;
	Elf *elf;
};

static struct open_elf open_file(const char *name)
{
	elf_version(EV_CURRENT);
	struct open_elf file = { .fd = open(lab_path(name), O_RDONLY) };
	assert_true(file.fd >= 0);
	file.elf = elf_begin(file.fd, ELF_C_READ, NULL);
	assert_non_null(file.elf);
	return file;
}

static void close_file(struct open_elf *file)
{
	elf_end(file->elf);
	close(file->fd);
}

size_t lab_marks(const char *name, struct mark *marks)
{
	struct open_elf file = open_file(name);
	size_t names, count = 0;
	assert_int_equal(elf_getshdrstrndx(file.elf, &names), 0);
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file.elf, section));) {
		GElf_Shdr header;
		assert_non_null(gelf_getshdr(section, &header));
		if (strcmp(elf_strptr(file.elf, names, header.sh_name), "marks") != 0)
			continue;
		Elf_Data *data = elf_rawdata(section, NULL);
		for (size_t at = 0; at + 12 <= data->d_size && count < LAB_MARKS; at += 12) {
			int32_t raw[3];
			memcpy(raw, (char *)data->d_buf + at, sizeof(raw));
			marks[count++] = (struct mark){ raw[0], (uint32_t)raw[1],
							header.sh_addr + at + 8 + (uint64_t)(int64_t)raw[2] };
		}
	}
	close_file(&file);
	return count;
}

struct mark lab_mark(const char *name, int id)
{
	struct mark marks[LAB_MARKS];
	size_t count = lab_marks(name, marks);
	for (size_t i = 0; i < count; i++)
		if (marks[i].id == id)
			return marks[i];
	fail_msg("%s has no mark %d", name, id);
	return marks[0];
}

uint64_t lab_symbol(const char *name, const char *symbol)
{
	struct open_elf file = open_file(name);
	uint64_t address = 0;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file.elf, section));) {
		GElf_Shdr header;
		gelf_getshdr(section, &header);
		if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		for (int i = 0; (size_t)i < header.sh_size / header.sh_entsize; i++) {
			GElf_Sym raw;
			gelf_getsym(data, i, &raw);
			if (strcmp(elf_strptr(file.elf, header.sh_link, raw.st_name), symbol) == 0)
				address = raw.st_value;
		}
	}
	close_file(&file);
	if (address == 0)
		fail_msg("%s has no symbol %s", name, symbol);
	return address;
}

uint64_t lab_section(const char *name, const char *wanted, uint64_t *file_bytes)
{
	struct open_elf file = open_file(name);
	size_t names;
	uint64_t offset = 0;
	assert_int_equal(elf_getshdrstrndx(file.elf, &names), 0);
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file.elf, section));) {
		GElf_Shdr header;
		assert_non_null(gelf_getshdr(section, &header));
		if (strcmp(elf_strptr(file.elf, names, header.sh_name), wanted) == 0)
			offset = header.sh_offset;
	}
	*file_bytes = (uint64_t)lseek(file.fd, 0, SEEK_END);
	close_file(&file);
	assert_true(offset > 0 && offset < *file_bytes);
	return offset;
}

uint32_t lab_line(const char *source, const char *text)
{
	char path[512], line[512];
	snprintf(path, sizeof(path), "%s/%s", SYMBOLS_SOURCES, source);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	uint32_t number = 0;
	bool found = false;
	while (!found && fgets(line, sizeof(line), file)) {
		number++;
		found = strstr(line, text) != NULL;
	}
	fclose(file);
	assert_true(found);
	return number;
}

struct profile *lab_profile(const char *name)
{
	struct profile *profile = profile_new();
	assert_non_null(profile);
	struct profile_module module = { .path = (uint32_t)profile_add_string(profile, lab_path(name)) };
	assert_int_equal(profile_add_module(profile, &module), 0);
	return profile;
}

void lab_symbolize(struct profile *profile)
{
	struct error error = { 0 };
	assert_int_equal(frames_name_profile(profile, NULL, &error), 0);
	assert_true(profile->symbolized);
	assert_int_equal(profile_check(profile), 0);
}

struct profile *lab_symbolized(const char *name, uint64_t address)
{
	struct profile *profile = lab_profile(name);
	assert_int_equal(profile_add_location(profile, 0, address), 0);
	lab_symbolize(profile);
	return profile;
}

const struct profile_frame *lab_frame(const struct profile *profile, uint32_t location, uint32_t index)
{
	assert_true(index < profile->locations[location].frame_count);
	return &profile->frames[profile->locations[location].first_frame + index];
}

const struct profile_function *lab_function(const struct profile *profile, uint32_t location, uint32_t index)
{
	return &profile->functions[lab_frame(profile, location, index)->function];
}

const char *lab_name(const struct profile *profile, uint32_t location, uint32_t index)
{
	return profile_string(profile, lab_function(profile, location, index)->name);
}

void lab_expect(const struct profile *profile, uint32_t index, const char *name, const char *file, uint32_t line)
{
	const struct profile_frame *frame = lab_frame(profile, 0, index);
	assert_string_equal(lab_name(profile, 0, index), name);
	assert_int_equal(frame->inlined, index + 1 < profile->locations[0].frame_count);
	if (!file)
		return;
	const char *path = profile_string(profile, frame->file);
	const char *slash = strrchr(path, '/');
	assert_string_equal(slash ? slash + 1 : path, file);
	assert_int_equal(frame->line, line);
}
