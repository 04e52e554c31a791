/*
 * Functions of the C library for memory and texts, defined again for this library alone. A program may define its
 * own, with an object or a hook in them that would be entered while this library counts another call. Compilers
 * insert calls of the first four. They are hidden from other objects, and local in libcpprof.a.
 */
#include <string.h>

#include "processor/agent/copy.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	copy_bytes(to, from, bytes);
	return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
	if ((size_t)to - (size_t)from >= bytes)
		return memcpy(to, from, bytes);
	for (; bytes > 0; bytes--)
		((char *)to)[bytes - 1] = ((const char *)from)[bytes - 1];
	return to;
}

void *memset(void *to, int byte, size_t bytes)
{
	fill_bytes(to, byte, bytes);
	return to;
}

int memcmp(const void *left, const void *right, size_t bytes)
{
	const unsigned char *a = left, *b = right;
	for (; bytes > 0; bytes--, a++, b++)
		if (*a != *b)
			return *a - *b;
	return 0;
}

void *memchr(const void *text, int byte, size_t bytes)
{
	const unsigned char *at = text;
	for (; bytes > 0; bytes--, at++)
		if (*at == (unsigned char)byte)
			return (void *)at;
	return NULL;
}

size_t strnlen(const char *text, size_t most)
{
	size_t bytes = 0;
	while (bytes < most && text[bytes])
		bytes++;
	return bytes;
}

size_t strlen(const char *text)
{
	return strnlen(text, (size_t)-1);
}

int strncmp(const char *left, const char *right, size_t most)
{
	for (; most > 0; most--, left++, right++)
		if (*left != *right || !*left)
			return (unsigned char)*left - (unsigned char)*right;
	return 0;
}

int strcmp(const char *left, const char *right)
{
	return strncmp(left, right, (size_t)-1);
}

char *strchr(const char *text, int byte)
{
	return memchr(text, byte, strlen(text) + 1);
}

size_t strcspn(const char *text, const char *any)
{
	size_t bytes = 0;
	while (text[bytes] && !strchr(any, text[bytes]))
		bytes++;
	return bytes;
}

char *strstr(const char *text, const char *part)
{
	size_t bytes = strlen(part);
	for (;; text++) {
		if (strncmp(text, part, bytes) == 0)
			return (char *)text;
		if (!*text)
			return NULL;
	}
}
