/*
 * Reads which functions take the addresses of other functions, and which call these by their names. The instrumenter
 * wrote this into sections of the program's files (collect/source/instrument/taken_addresses.c), as records of texts, each with a
 * NUL at its end. Each record becomes a note of the profile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash_map.h"
#include "collect/count/parts.h"
#include "elf/elf_file.h"
#include "frames/frames.h"
#include "profile/file_users.h"

enum { TEXTS_MAX = 4, NOTES_MAX = 100 * 1000 };

/* A kind of record. */
struct record_kind {
	const char *section, *note;
	size_t texts;
	bool only_of_taken; /* only of functions whose address some function takes */
};

static const struct record_kind kinds[] = {
	{ "cpprof_taken", TALLY_NOTE_TAKEN, TEXTS_MAX, false },
	{ "cpprof_called", TALLY_NOTE_CALLED, 2, true },
};

struct reading {
	struct profile *profile;
	const struct record_kind *kind;
	struct hash_map taken;   /* set of the functions whose addresses were taken */
	struct hash_map written; /* set of the notes */
	size_t count;
	struct file_users files;
};

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

/* Returns 0 or a negative error. */
static int add_note(struct reading *reading, const char *const texts[TEXTS_MAX])
{
	char note[1024];
	uint64_t function = hash_bytes(texts[0], strlen(texts[0]));
	if (reading->kind->only_of_taken) {
		if (hash_map_get(&reading->taken, function) == HASH_MAP_NONE)
			return 0;
		snprintf(note, sizeof(note), "%.300s\t%.300s", texts[0], texts[1]);
	} else {
		snprintf(note, sizeof(note), "%.300s\t%.300s\t%.300s:%.10s", texts[0], texts[1], texts[2], texts[3]);
		if (hash_map_put(&reading->taken, function, 0) < 0)
			return ERROR_MEMORY;
	}
	uint64_t key = hash_u64(hash_bytes(note, strlen(note)) + reading->kind->texts);
	if (hash_map_get(&reading->written, key) != HASH_MAP_NONE)
		return 0;
	reading->count++;
	int64_t result = hash_map_put(&reading->written, key, 0);
	if (result == 0)
		result = profile_add_note(reading->profile, reading->kind->note, note);
	return result < 0 ? (int)result : 0;
}

static int add_notes(struct reading *reading, const struct elf_bytes *section)
{
	size_t at = 0;
	int result = 0;
	while (result == 0 && reading->count < NOTES_MAX) {
		const char *texts[TEXTS_MAX] = { NULL };
		for (size_t i = 0; i < reading->kind->texts; i++)
			if (!(texts[i] = next_text(section, &at)))
				return 0;
		result = add_note(reading, texts);
	}
	return result;
}

static int read_module(struct reading *reading, uint32_t module, const struct frames_options *options)
{
	const struct profile *profile = reading->profile;
	const struct profile_module *wanted = &profile->modules[module];
	const char *path = profile_string(profile, wanted->path);
	int fd = options->open_module ? options->open_module(options->context, module, NULL)
				      : file_users_open(&reading->files, profile, path);
	int result = fd < 0 && !options->open_module && errno == ENOMEM ? ERROR_MEMORY : 0;
	struct elf_file *file = fd < 0 ? NULL : elf_file_open_any(fd, path, NULL);
	if (file && elf_file_has_build_id(file, wanted->build_id, wanted->build_id_bytes)) {
		const struct elf_bytes section = elf_file_section(file, reading->kind->section);
		result = section.bytes ? add_notes(reading, &section) : 0;
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

int tally_note_taken_addresses(const struct tally *tally, struct profile *profile, const struct frames_options *options)
{
	struct reading reading = { .profile = profile };
	int result = 0;
	hash_map_init(&reading.taken);
	hash_map_init(&reading.written);
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		reading.kind = &kinds[kind];
		reading.count = 0;
		for (uint32_t i = 0; i < profile->module_count && result == 0; i++)
			if (profile->modules[i].kind == MODULE_FILE && has_probe_points(tally, i))
				result = read_module(&reading, i, options);
	}
	hash_map_release(&reading.taken);
	hash_map_release(&reading.written);
	file_users_release(&reading.files);
	return result;
}
