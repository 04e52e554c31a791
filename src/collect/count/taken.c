/*
 * Reads which functions take the addresses of other functions. The instrumenter wrote this into a section of the
 * program's files (collect/source/instrument/taken.h), as records of four texts, each with a NUL at its end. Each
 * record becomes a note of the profile.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/count/parts.h"
#include "elf/elf_file.h"
#include "frames/frames.h"

enum { TEXTS = 4, NOTES_MAX = 100 * 1000 };

/* Returns the text at *at and moves *at behind it, or NULL if there is none with a NUL at its end. */
static const char *next_text(const struct elf_bytes *section, size_t *at)
{
	const char *text = (const char *)section->bytes + *at;
	const char *end = *at < section->size ? memchr(text, 0, section->size - *at) : NULL;
	if (!end)
		return NULL;
	*at += (size_t)(end - text) + 1;
	return text;
}

static int add_notes(struct profile *profile, const struct elf_bytes *section)
{
	size_t at = 0;
	for (size_t count = 0; count < NOTES_MAX; count++) {
		const char *texts[TEXTS];
		char note[1024];
		for (size_t i = 0; i < TEXTS; i++)
			if (!(texts[i] = next_text(section, &at)))
				return 0;
		snprintf(note, sizeof(note), "%.300s\t%.300s\t%.300s:%.10s", texts[0], texts[1], texts[2], texts[3]);
		int64_t result = profile_add_note(profile, TALLY_NOTE_TAKEN, note);
		if (result < 0)
			return (int)result;
	}
	return 0;
}

static int read_module(struct profile *profile, uint32_t module, const struct frames_options *options)
{
	const char *path = profile_string(profile, profile->modules[module].path);
	int fd = options->open_module ? options->open_module(options->context, module, NULL) : path_open_regular(path);
	struct elf_file *file = fd < 0 ? NULL : elf_file_open(fd, path, NULL);
	const uint8_t *id;
	int result = 0;
	if (file && elf_file_build_id(file, &id) == profile->modules[module].build_id_bytes &&
	    memcmp(id, profile->modules[module].build_id, profile->modules[module].build_id_bytes) == 0) {
		const struct elf_bytes section = elf_file_section(file, "cpprof_taken");
		result = section.bytes ? add_notes(profile, &section) : 0;
	}
	elf_file_free(file);
	if (fd >= 0)
		close(fd);
	return result;
}

/* Whether a module has probe points. Only such modules may have the section. */
static bool has_probe_points(const struct tally *tally, uint32_t module)
{
	for (uint32_t i = 0; i < tally->process_count; i++)
		for (size_t j = 0; j < tally->processes[i].probe_count; j++)
			if (tally_module(tally, i, tally->processes[i].probes[j].address, NULL) == module)
				return true;
	return false;
}

int tally_note_taken(const struct tally *tally, struct profile *profile, const struct frames_options *options)
{
	int result = 0;
	for (uint32_t i = 0; i < profile->module_count && result == 0; i++)
		if (profile->modules[i].kind == MODULE_FILE && has_probe_points(tally, i))
			result = read_module(profile, i, options);
	return result;
}
