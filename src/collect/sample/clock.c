#include "collect/sample/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "collect/shared/time_offset.h"

static int64_t offset_ns;

static void find_offset(void)
{
	char text[TIME_OFFSET_BYTES];
	int fd = open(TIME_OFFSET_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[bytes > 0 ? bytes : 0] = 0;
	offset_ns = time_offset_parse(text);
}

uint64_t clock_now_ns(clockid_t clock)
{
	enum { NS_PER_SECOND = 1000000000 };
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct timespec time;
	clock_gettime(clock, &time);
	uint64_t ns = (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
	if (clock != CLOCK_MONOTONIC)
		return ns;
	pthread_once(&once, find_offset);
	return ns - (uint64_t)offset_ns;
}
