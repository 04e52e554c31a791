/* A program with functions named as in the C library, which libcpprof calls too: only the program's calls may be counted. */
// prints: 3 9 0
// counts: main 1
// counts: strlen 1
// counts: memcpy 1
// counts: memset 1
// counts: strncmp 1
// counts: getenv 1
// counts: clock_gettime 1
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

size_t strlen(const char *text)
{
	const char *end = text;
	for (; *end; end++)
		__asm__ __volatile__("" ::: "memory");
	return (size_t)(end - text);
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		((char *)to)[i] = ((const char *)from)[i];
		__asm__ __volatile__("" ::: "memory");
	}
	return to;
}

void *memset(void *to, int byte, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		((char *)to)[i] = (char)byte;
		__asm__ __volatile__("" ::: "memory");
	}
	return to;
}

int strncmp(const char *a, const char *b, size_t most)
{
	for (; most && *a && *a == *b; most--)
		a++, b++;
	return most ? *a - *b : 0;
}

char *getenv(const char *name)
{
	for (char **variable = environ; *variable; variable++) {
		size_t i = 0;
		while (name[i] && (*variable)[i] == name[i])
			i++;
		if (!name[i] && (*variable)[i] == '=')
			return *variable + i + 1;
	}
	return NULL;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	return (int)syscall(SYS_clock_gettime, clock, time);
}

int main(void)
{
	char *volatile text = (char[]){ 'a', 'b', 'c', 0 };
	char copy[8];
	struct timespec time;
	(memset)(copy, '9', sizeof(copy));
	(memcpy)(copy, text, 2);
	int lengths = (int)(strlen)(text), differs = (strncmp)(copy, text, 2) || getenv("CPPROF NO") != NULL;
	printf("%d %c %d\n", lengths, copy[3], clock_gettime(CLOCK_REALTIME, &time) + differs);
	return 0;
}
