/* Functions named as in the C library, with Profiler objects. libcpprof uses them too, but those calls must not be counted. */
#include <cpprof/profiler.h>

#include <stddef.h>
#include <stdio.h>

static unsigned copies, fills, lengths;

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	CPPROF_FUNCTION;
	copies++;
	for (volatile size_t i = 0; i < bytes; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

void *memset(void *to, int byte, size_t bytes)
{
	CPPROF_FUNCTION;
	fills++;
	for (volatile size_t i = 0; i < bytes; i++)
		((char *)to)[i] = (char)byte;
	return to;
}

size_t strlen(const char *text)
{
	CPPROF_FUNCTION;
	lengths++;
	volatile size_t bytes = 0;
	while (text[bytes])
		bytes++;
	return bytes;
}

int main(void)
{
	CPPROF_FUNCTION;
	char text[8];
	memset(text, 0, sizeof(text));
	for (unsigned i = 0; i < 10; i++)
		memcpy(text, "ab", strlen("ab"));
	printf("calls main 1\ncalls memcpy %u\ncalls memset %u\ncalls strlen %u\n", copies, fills, lengths);
	return 0;
}
