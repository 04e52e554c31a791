/* Uses some CPU time, then ends as requested: `ending exit N`, or `ending signal N`. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	burn(20000);
	if (!strcmp(argv[1], "signal")) {
		raise(atoi(argv[2]));
		return 1;
	}
	_exit(atoi(argv[2]));
}
