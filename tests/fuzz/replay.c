/* Runs the function of a fuzzer on every file of the given folders, so that inputs that once caused a failure are
 * tried with each build. Exit status 1: a file cannot be read, or there is no input. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 22 };

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rbe");
	uint8_t *bytes = malloc(MOST_BYTES);
	if (!file || !bytes) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(1);
	}
	size_t size = fread(bytes, 1, MOST_BYTES, file);
	fclose(file);
	/* A copy of exactly this size, so that a sanitizer detects a read beyond the end. */
	uint8_t *exact = realloc(bytes, size ? size : 1);
	LLVMFuzzerTestOneInput(exact ? exact : bytes, size);
	free(exact ? exact : bytes);
	return 1;
}

int main(int argc, char **argv)
{
	int count = 0;
	for (int i = 1; i < argc; i++) {
		DIR *folder = opendir(argv[i]);
		for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
			char path[4096];
			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);
			count += replay_file(path);
		}
		if (folder)
			closedir(folder);
	}
	printf("%d inputs\n", count);
	return count > 0 ? 0 : 1;
}
