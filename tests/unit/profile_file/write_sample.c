/* Writes a random profile for the decoder in tests/decoder/. Usage: write_sample SEED FILE [killed] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_file/writer.h"
#include "support/sample_profile.h"

enum { FLUSHES = 4 };

static int write_profile(struct profile *profile, struct writer *writer, struct random *random, bool killed,
			 struct error *error)
{
	int code = 0;
	for (int i = 0; i < FLUSHES && code == 0; i++) {
		if (!sample_profile_grow(profile, random, random_below(random, 2000)))
			return error_set(error, ERROR_MEMORY, "out of memory");
		code = writer_flush(writer, profile, error);
		profile_clear_hits(profile);
	}
	if (code == 0 && !killed &&
	    (!sample_profile_symbolize(profile, random) || !sample_profile_add_tail_calls(profile, random)))
		return error_set(error, ERROR_MEMORY, "out of memory");
	if (code == 0 && !killed)
		code = writer_finish(writer, profile, error);
	return code < 0 ? code : writer_publish(writer, error);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return fprintf(stderr, "usage: write_sample SEED FILE [killed]\n"), 2;
	struct random random = { .state = strtoull(argv[1], NULL, 10) };
	struct error error = { .message = "out of memory" };
	struct profile *profile = profile_new();
	struct writer *writer = profile ? writer_open(argv[2], &error) : NULL;
	bool killed = argc > 3 && strcmp(argv[3], "killed") == 0;
	int code = writer ? write_profile(profile, writer, &random, killed, &error) : -1;
	if (code < 0)
		fprintf(stderr, "write_sample: %s\n", error.message);
	writer_free(writer);
	profile_free(profile);
	return code < 0;
}
