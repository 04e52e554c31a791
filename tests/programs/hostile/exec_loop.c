/* `exec_loop [TIMES]` executes itself TIMES times (default 5), each time after some work, by another member of
 * exec's family. */
#include "moment.h"

#include <errno.h>

extern char **environ;

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 5;
	char number[12];
	char *command[] = { argv[0], number, NULL };

	burn(1500);
	if (left == 0)
		return moment_ends("the last one ended well\n");
	snprintf(number, sizeof(number), "%d", left - 1);
	CHECK(execl("/nonexistent/program", "program", NULL) < 0);
	const char *volatile nowhere = (const char *)8;
	CHECK(execv(nowhere, command) < 0 && errno == EFAULT);
	burn(200);
	if (left % 3 == 0)
		execv(argv[0], command);
	else if (left % 3 == 1)
		execl(argv[0], argv[0], number, NULL);
	else
		execve(argv[0], command, environ);
	moment_went_wrong("it did not become itself\n");
}
