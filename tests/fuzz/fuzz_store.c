/* The bytes are the file of a store on SQLite: selecting and counting its rows either fails or returns a sound profile. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/profile.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 1 << 24 };

static void select_all(const char *path)
{
	const struct store_selection selections[] = {
		{ .from_unix_ns = INT64_MIN, .to_unix_ns = INT64_MAX, .memory = MEMORY },
		{ .from_unix_ns = 0,
		  .to_unix_ns = INT64_MAX / 2,
		  .memory = MEMORY,
		  .labels = { &(struct store_label){ "a", "b" }, 1 } },
	};
	for (size_t i = 0; i < sizeof(selections) / sizeof(selections[0]); i++) {
		struct error error = { 0 };
		struct store_statistics statistics;
		struct store *store = store_open(path, STORE_READ, &error);
		if (!store)
			return;
		store_stats(store, &statistics, &error);
		struct profile *profile = store_select(store, &selections[i], &error);
		if (profile && profile_check(profile) < 0)
			abort();
		profile_free(profile);
		store_close(store);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/cpprof-fuzz-XXXXXX", beside[64];
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	select_all(path);
	snprintf(beside, sizeof(beside), "%s-shm", path);
	unlink(beside);
	snprintf(beside, sizeof(beside), "%s-wal", path);
	unlink(beside);
	unlink(path);
	close(fd);
	return 0;
}
