/*
 * Writes a profile of code at chosen addresses, with chosen frames and hits, for tests/cases/test_asm.py. Its input:
 *
 *     M KIND PATH BUILD-ID      a module: enum module_kind as a number; the build-id in hexadecimal digits, "-": none
 *     S 0:4660!g/f;0:4700!h 12  a sample: at the address 4660 of module 0 the function g is inlined in f, which calls h
 *
 * Usage: write_code FILE < LINES
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "profile_file/writer.h"

static void die(const char *what)
{
	fprintf(stderr, "write_code: %s\n", what);
	exit(2);
}

static uint32_t need(int64_t id)
{
	if (id < 0)
		die("out of memory");
	return (uint32_t)id;
}

static void add_module(struct profile *profile, char *words)
{
	struct profile_module module = { .kind = (uint8_t)atoi(strsep(&words, " ")) };
	module.path = need(profile_add_string(profile, strsep(&words, " ")));
	for (const char *digits = words; digits && digits[0] != '-' && digits[0] && digits[1]; digits += 2)
		if (module.build_id_bytes < sizeof(module.build_id))
			module.build_id[module.build_id_bytes++] =
				(uint8_t)strtoul((char[]){ digits[0], digits[1], 0 }, NULL, 16);
	need(profile_add_module(profile, &module));
}

static uint32_t frame_of(struct profile *profile, uint32_t module, const char *name, bool inlined)
{
	struct profile_function function = { .name = need(profile_add_string(profile, name)), .module = module };
	uint32_t id = 0;
	while (id < profile->function_count && profile->functions[id].name != function.name)
		id++;
	if (id == profile->function_count)
		id = need(profile_add_function(profile, &function));
	struct profile_frame frame = { .function = id, .inlined = inlined };
	return need(profile_add_frame(profile, &frame));
}

static uint32_t location_of(struct profile *profile, char *word)
{
	uint32_t module = (uint32_t)strtoul(word, &word, 10);
	uint64_t address = strtoull(word + 1, &word, 10);
	uint32_t id = need(profile_add_location(profile, module, address));
	if (profile->locations[id].first_frame != PROFILE_NONE)
		return id;
	uint32_t count = 0, first = PROFILE_NONE;
	for (char *next = word + 1, *name; (name = strsep(&next, "/")); count++) {
		uint32_t frame = frame_of(profile, module, name, next != NULL);
		first = count ? first : frame;
	}
	profile->locations[id].first_frame = first;
	profile->locations[id].frame_count = count;
	return id;
}

static void add_sample(struct profile *profile, char *line)
{
	char *space = strrchr(line, ' ');
	if (!space)
		die("a sample without hits");
	*space = 0;
	uint32_t node = PROFILE_ROOT;
	for (char *word; (word = strsep(&line, ";"));)
		node = need(profile_add_node(profile, node, location_of(profile, word)));
	if (profile_add_hit(profile, 0, PROFILE_NONE, node, 0, strtoull(space + 1, NULL, 10)) < 0)
		die("out of memory");
}

static void read_lines(struct profile *profile)
{
	char *line = NULL;
	size_t capacity = 0;
	while (getline(&line, &capacity, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] == 'M')
			add_module(profile, line + 2);
		else
			add_sample(profile, line + 2);
	}
	free(line);
}

int main(int argc, char **argv)
{
	struct error error = { 0 };
	struct profile *profile = profile_new();
	if (argc != 2 || !profile)
		die("usage: write_code FILE");
	struct profile_resource resource = { .name = need(profile_add_string(profile, "cpu")),
					     .title = need(profile_add_string(profile, "CPU Time")),
					     .unit = need(profile_add_string(profile, "ns")),
					     .kind = RESOURCE_MERGED,
					     .interval = 1000000 };
	need(profile_add_resource(profile, &resource));
	read_lines(profile);
	profile->symbolized = true;
	struct writer *writer = writer_open(argv[1], &error);
	int status = writer ? writer_finish(writer, profile, &error) : error.code;
	if (status == 0)
		status = writer_publish(writer, &error);
	if (status < 0)
		fprintf(stderr, "write_code: %s\n", error.message);
	writer_free(writer);
	profile_free(profile);
	return status < 0;
}
