/*
 * Makes one text of many rows. Each row is appended at the end of the text, which `strlen` finds
 * by reading the whole text again: twice the rows take four times as long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 60000, ROW_BYTES = 32 };

static void append_row(char *text, size_t size, int number)
{
	snprintf(text + strlen(text), size - strlen(text), "%d;%d;open\n", number, number * 37 % 1000);
}

static char *join_rows(int rows)
{
	size_t size = (size_t)rows * ROW_BYTES;
	char *text = calloc(1, size);
	if (!text)
		return NULL;
	for (int i = 0; i < rows; i++)
		append_row(text, size, i);
	return text;
}

int main(void)
{
	char *text = join_rows(ROWS);
	if (!text) {
		perror("join");
		return 1;
	}
	printf("%zu bytes\n", strlen(text));
	free(text);
	return 0;
}
