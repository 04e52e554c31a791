/* A known number of calls of the C library: N of each kind, in a function of its own. */
#define _GNU_SOURCE
#include <cpprof/profiler.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#define CHECK(condition)                                              \
	do {                                                          \
		if (!(condition)) {                                   \
			dprintf(2, "%d: %s\n", __LINE__, #condition); \
			_exit(3);                                     \
		}                                                     \
	} while (0)

#define SEEN __attribute__((noinline))

static void *volatile kept;

SEEN static void memory(int count)
{
	CPPROF_FUNCTION;
	for (int i = 0; i < count; i++) {
		kept = malloc(10);
		kept = realloc(kept, 2000);
		free(kept);
		free(kept = calloc(3, 7));
		free(kept = aligned_alloc(64, 128));
		void *other;
		CHECK(posix_memalign(&other, 4096, 100) == 0);
		free(other);
	}
}

SEEN static void descriptors(int count)
{
	CPPROF_FUNCTION;
	char text[4];
	int ends[2], pair[2];
	CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	for (int i = 0; i < count; i++) {
		int fd = open("/dev/null", O_WRONLY);
		struct iovec vector = { text, 2 };
		struct pollfd polled = { .fd = ends[0], .events = POLLIN };
		CHECK(write(ends[1], "ab", 2) == 2 && writev(fd, &vector, 1) == 2);
		CHECK(poll(&polled, 1, -1) == 1 && read(ends[0], text, 4) == 2);
		CHECK(send(pair[0], "x", 1, 0) == 1 && recv(pair[1], text, 4, 0) == 1);
		CHECK(lseek(fd, 0, SEEK_SET) == 0 && close(fd) == 0);
		errno = 0;
		CHECK(read(-1, text, 4) == -1 && errno == EBADF);
	}
}

static int listed(FILE *to, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	int result = vfprintf(to, format, values);
	va_end(values);
	return result;
}

SEEN static void streams(int count)
{
	CPPROF_FUNCTION;
	char line[64];
	FILE *file = tmpfile();
	for (int i = 0; i < count; i++) {
		CHECK(fprintf(file, "%d %s\n", i, "words") > 0 && fputs("text\n", file) >= 0);
		CHECK(fwrite("abc", 1, 3, file) == 3 && fputc('\n', file) == '\n' && listed(file, "%.1f\n", 0.5) == 4);
	}
	rewind(file);
	for (int i = 0; i < count; i++) {
		int number;
		CHECK(fscanf(file, "%d", &number) == 1 && number == i && fgets(line, sizeof(line), file));
		CHECK(strcmp(line, " words\n") == 0 && fread(line, 1, 5, file) == 5 && fgetc(file) == 'a');
		CHECK(fgets(line, sizeof(line), file) && fgets(line, sizeof(line), file));
	}
	CHECK(fclose(file) == 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static int turn;

SEEN static void *member(void *rounds)
{
	CPPROF_FUNCTION;
	for (int i = 0; i < *(int *)rounds; i++) {
		pthread_mutex_lock(&mutex);
		turn++;
		pthread_cond_broadcast(&condition);
		pthread_mutex_unlock(&mutex);
		pthread_rwlock_rdlock(&lock);
		pthread_rwlock_unlock(&lock);
		pthread_rwlock_wrlock(&lock);
		pthread_rwlock_unlock(&lock);
		pthread_barrier_wait(&barrier);
	}
	return rounds;
}

static int c11(void *argument)
{
	CPPROF_FUNCTION;
	return *(int *)argument;
}

SEEN static void threads(int count)
{
	CPPROF_FUNCTION;
	enum { MEMBERS = 3 };
	pthread_t ids[MEMBERS];
	sem_t semaphore;
	mtx_t plain;
	pthread_barrier_init(&barrier, NULL, MEMBERS);
	for (int i = 0; i < MEMBERS; i++)
		CHECK(pthread_create(&ids[i], NULL, member, &count) == 0);
	for (int i = 0; i < MEMBERS; i++) {
		void *result;
		CHECK(pthread_join(ids[i], &result) == 0 && result == &count);
	}
	CHECK(turn == MEMBERS * count && sem_init(&semaphore, 0, 0) == 0 &&
	      mtx_init(&plain, mtx_plain) == thrd_success);
	for (int i = 0; i < count; i++) {
		thrd_t id;
		int result;
		CHECK(sem_post(&semaphore) == 0 && sem_wait(&semaphore) == 0 && sem_trywait(&semaphore) == -1 &&
		      errno == EAGAIN);
		CHECK(mtx_lock(&plain) == thrd_success && mtx_unlock(&plain) == thrd_success);
		CHECK(pthread_mutex_trylock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
		if (i == 0)
			CHECK(thrd_create(&id, c11, &count) == thrd_success && thrd_join(id, &result) == thrd_success &&
			      result == count);
	}
}

SEEN static void forked(int count)
{
	CPPROF_FUNCTION;
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		memory(count);
		_exit(7);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
}

int main(int argc, char **argv)
{
	CPPROF_FUNCTION;
	int count = argc > 1 ? atoi(argv[1]) : 10;
	memory(count);
	descriptors(count);
	streams(count);
	threads(count);
	forked(count);
	puts("done");
	return 5;
}
