#include <fcntl.h>
#include <sys/syscall.h>

#include "collect/agent/core/runtime.h"
#include "collect/shared/time_offset.h"
#include "processor/agent/machine.h"

void runtime_find_time_offset(void)
{
	char text[TIME_OFFSET_BYTES];
	long fd = machine_syscall(SYS_openat, AT_FDCWD, (long)TIME_OFFSET_FILE, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return;
	long bytes = machine_syscall(SYS_read, fd, (long)text, sizeof(text) - 1, 0, 0, 0);
	machine_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	text[bytes > 0 ? bytes : 0] = 0;
	runtime.time_offset_ns = time_offset_parse(text);
}
