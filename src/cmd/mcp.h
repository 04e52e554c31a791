/*
 * The parts of `cpprof mcp`, a server of the Model Context Protocol: JSON-RPC 2.0, one message a line, on standard input and output.
 *
 *   mcp.c        reads requests and answers them
 *   mcp_tools.c  the tools, their schemas, and the command line that a call of a tool means
 *   mcp_call.c   runs a command line in a confined process
 */
#ifndef CMD_MCP_H
#define CMD_MCP_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/json_text.h"

/* Answers larger than this are refused. */
enum { MCP_OUTPUT_MOST = 1 << 20 };

struct mcp_tool;

/* Returns the tool with that name, or NULL. */
const struct mcp_tool *mcp_tool_find(const char *name);

/* Prints the value of "tools" in the answer to tools/list. */
void mcp_tools_print(FILE *out);

/* A command line that ends with NULL. Starts as {0}. */
struct mcp_words {
	char **words; /* owned, with the words */
	size_t count, capacity;
};
void mcp_words_release(struct mcp_words *words);

/* Makes the command line of a call. `arguments`: a JSON object, or NULL; not changed. Returns 0, ERROR_USAGE with a text for the client, or
 * ERROR_MEMORY. */
int mcp_tool_words(const struct mcp_tool *tool, json_t *arguments, struct mcp_words *words, struct error *error);

/* The output of a command. */
struct mcp_output {
	struct buffer out, err; /* each ends with a NUL */
	bool failed;            /* it returned a status other than 0 and EXIT_EXCEEDED */
	int failure;            /* errno of a read that failed; 0: none */
};

/* Runs a command line of cpprof in a process that reads only files below the current folder, writes none, and has limited time and
 * output. The caller releases the buffers in any case. Returns 0 or a negative error with a text for the client. */
int mcp_call(const struct mcp_words *words, struct mcp_output *output, struct error *error);

#endif
