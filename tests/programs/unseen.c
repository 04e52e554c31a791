/*
 * `unseen FILE WAYS [THREADS]`: reads the file once for each letter of WAYS, in each thread: `r` by read, `f` by
 * fread, `s` by read through syscall(), `p` by sendfile, `c` by read in a child, for which it waits. `k` receives
 * as many bytes from a socket, and `e` fails to execute another program.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 16384 };

static const char *path, *ways;

static void by_read(int file)
{
	char buffer[BYTES];
	while (read(file, buffer, sizeof(buffer)) > 0)
		;
}

static void by_stream(int file)
{
	char buffer[BYTES];
	FILE *stream = fdopen(dup(file), "r");
	while (fread(buffer, 1, sizeof(buffer), stream) > 0)
		;
	fclose(stream);
}

static void by_system_call(int file)
{
	char buffer[BYTES];
	while (syscall(SYS_read, file, buffer, sizeof(buffer)) > 0)
		;
}

/* Receives as many bytes as the file has, from a socket. */
static void by_socket(int file)
{
	char buffer[BYTES] = { 0 };
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		abort();
	for (off_t left = lseek(file, 0, SEEK_END); left > 0; left -= BYTES)
		if (send(ends[0], buffer, BYTES, 0) != BYTES || recv(ends[1], buffer, BYTES, MSG_WAITALL) != BYTES)
			abort();
	close(ends[0]);
	close(ends[1]);
}

static void by_sendfile(int file)
{
	int sink = open("/dev/null", O_WRONLY);
	while (sendfile(sink, file, NULL, BYTES) > 0)
		;
	close(sink);
}

static void in_child(int file)
{
	if (fork() == 0) {
		by_read(file);
		_exit(0);
	}
	wait(NULL);
}

static void go(char way)
{
	int file = open(path, O_RDONLY);
	if (way == 'r')
		by_read(file);
	else if (way == 'f')
		by_stream(file);
	else if (way == 's')
		by_system_call(file);
	else if (way == 'e')
		execl("/nowhere/at/all", "all", NULL);
	else if (way == 'k')
		by_socket(file);
	else if (way == 'p')
		by_sendfile(file);
	else
		in_child(file);
	close(file);
}

static void *work(void *argument)
{
	for (const char *way = ways; *way; way++)
		go(*way);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	int count = argc > 3 ? atoi(argv[3]) : 1;
	path = argv[1];
	ways = argv[2];
	for (int i = 1; i < count; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	work(NULL);
	for (int i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("done\n");
	return 0;
}
