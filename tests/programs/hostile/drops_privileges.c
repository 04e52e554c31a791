/*
 * Changes its folder, its root and its user in the middle of its work, with threads beside it (in which the C
 * library changes the user by a signal). Without root privileges it only changes its folder.
 */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "moment.h"

enum { NOBODY = 65534 };

static atomic_bool is_over;

static void *work(void *unused)
{
	while (!atomic_load(&is_over))
		burn(20);
	CHECK((uid_t)syscall(SYS_getuid) == (getuid()));
	return unused;
}

NOINLINE static void become_nobody(void)
{
	char folder[] = "/tmp/hostile-XXXXXX";

	CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
	CHECK(rmdir(folder) == 0);
	burn(1000);
	if (geteuid() != 0)
		return;
	CHECK(chroot(".") == 0);
	CHECK(access("/proc", F_OK) < 0 && errno == ENOENT);
	burn(1000);
	CHECK(setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0);
	burn(1000);
	CHECK(setresuid(NOBODY, NOBODY, NOBODY) == 0);
	CHECK(setuid(0) < 0 && errno == EPERM);
}

int main(void)
{
	pthread_t before, after;

	burn(1000);
	CHECK(pthread_create(&before, NULL, work, NULL) == 0);
	become_nobody();
	CHECK(pthread_create(&after, NULL, work, NULL) == 0);
	burn(3000);
	atomic_store(&is_over, true);
	CHECK(pthread_join(before, NULL) == 0 && pthread_join(after, NULL) == 0);
	return moment_ends("it is nobody, nowhere\n");
}
