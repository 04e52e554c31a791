#include "gprof/file_kind.h"

#include <string.h>
#include <unistd.h>

#include "abi/tally.h"
#include "base/path.h"
#include "profile_file/format.h"

enum file_kind file_kind_of(const char *path)
{
	static const struct {
		const char *magic;
		size_t bytes;
		enum file_kind kind;
	} kinds[] = {
		{ "gmon", 4, FILE_GMON },
		{ "\177ELF", 4, FILE_IMAGE },
		{ FORMAT_MAGIC, FORMAT_MAGIC_BYTES, FILE_PROFILE },
		{ TALLY_MAGIC, sizeof(TALLY_MAGIC) - 1, FILE_PROFILE },
	};
	char bytes[FORMAT_MAGIC_BYTES] = "";
	int fd = path_open_regular(path);
	ssize_t got = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));
	size_t count = got > 0 ? (size_t)got : 0;
	if (fd >= 0)
		close(fd);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (count >= kinds[i].bytes && memcmp(bytes, kinds[i].magic, kinds[i].bytes) == 0)
			return kinds[i].kind;
	return FILE_OTHER;
}
