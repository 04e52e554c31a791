#include "collect/sample/preload/starts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/channel.h"
#include "collect/sample/probes/elf_needs.h"

enum { PATH_BYTES = 64 };

static FILE *open_file(uint32_t pid, const char *name)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return fopen(path, "re");
}

/* --- the environment at its start --- */

struct environment {
	bool was_read, has_library, has_channel, is_our_channel;
};

static void take_entry(struct environment *environment, const char *entry, const char *channel_path)
{
	static const char library[] = "LD_PRELOAD=", channel[] = CHANNEL_VARIABLE "=";
	environment->was_read = true;
	if (strncmp(entry, library, strlen(library)) == 0)
		environment->has_library |= strstr(entry, "libcpprof-preload.so") != NULL;
	if (strncmp(entry, channel, strlen(channel)) != 0)
		return;
	environment->has_channel = true;
	environment->is_our_channel = strcmp(entry + strlen(channel), channel_path) == 0;
}

static struct environment read_environment(uint32_t pid, const char *channel_path)
{
	struct environment environment = { 0 };
	FILE *file = open_file(pid, "environ");
	char *entry = NULL;
	size_t room = 0;
	while (file && getdelim(&entry, &room, '\0', file) > 0)
		take_entry(&environment, entry, channel_path);
	free(entry);
	if (file)
		fclose(file);
	return environment;
}

static const char *reason_of_lacks(uint32_t lacks)
{
	return lacks & CHANNEL_EXEC_FILTERED        ? "a seccomp filter forbids system calls of the library"
	       : lacks & CHANNEL_EXEC_OTHER_CHANNEL ? "another cpprof records it"
	       : lacks & CHANNEL_EXEC_NO_LIBRARY    ? "LD_PRELOAD is gone from its environment, or was replaced"
	       : lacks & CHANNEL_EXEC_NO_CHANNEL    ? CHANNEL_VARIABLE " is gone from its environment"
						    : NULL;
}

/* Examines the environment of a process. It also reads as empty if the process has ended; if the program
 * file is there, the process runs, and the environment is really empty. */
static const char *reason_of_environment(uint32_t pid, const char *channel_path, bool has_program, bool is_filtered)
{
	const struct environment environment = read_environment(pid, channel_path);
	uint32_t lacks = 0;
	FILE *file = environment.was_read ? NULL : open_file(pid, "environ");
	bool is_empty = file && has_program;
	if (file)
		fclose(file);
	if (!environment.was_read && !is_empty)
		return NULL;
	lacks |= environment.has_channel && !environment.is_our_channel ? CHANNEL_EXEC_OTHER_CHANNEL : 0;
	lacks |= environment.has_library ? 0 : CHANNEL_EXEC_NO_LIBRARY;
	lacks |= environment.has_channel ? 0 : CHANNEL_EXEC_NO_CHANNEL;
	/* The agent has left the library out, and nothing else. */
	if (lacks == CHANNEL_EXEC_NO_LIBRARY && is_filtered)
		lacks = CHANNEL_EXEC_FILTERED;
	return reason_of_lacks(lacks);
}

/* --- the process --- */

struct status {
	unsigned user;    /* effective */
	unsigned depth;   /* of its pid namespace, below the namespace of /proc */
	unsigned filters; /* of its system calls */
	bool has_user;
};

static struct status read_status(uint32_t pid)
{
	struct status status = { 0 };
	char line[256];
	FILE *file = open_file(pid, "status");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Uid: %*u %u", &status.user) == 1)
			status.has_user = true;
		(void)sscanf(line, "Seccomp_filters: %u", &status.filters);
		if (strncmp(line, "NSpid:", strlen("NSpid:")) == 0)
			for (const char *at = line; *at; at++)
				status.depth += *at == '\t';
	}
	if (file)
		fclose(file);
	return status;
}

static const char *reason_of_program(const char *path, bool *has_program)
{
	struct stat file;
	struct elf_needs needs;
	*has_program = stat(path, &file) == 0;
	if (*has_program && ((file.st_mode & S_ISUID && file.st_uid != getuid()) ||
			     (file.st_mode & S_ISGID && file.st_mode & S_IXGRP && file.st_gid != getgid())))
		return "set-user-ID and set-group-ID programs preload nothing";
	if (!*has_program || elf_needs_read(&needs, path, NULL) < 0)
		return NULL;
	bool is_static = !needs.interpreter, has_c_library = needs.needed_count > 0;
	elf_needs_release(&needs);
	return is_static ? "it is statically linked" : has_c_library ? NULL : "it needs no C library";
}

const char *preload_reason_of(uint32_t pid, const char *channel_path)
{
	bool has_program;
	char path[PATH_BYTES];
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	const char *reason = reason_of_program(path, &has_program);
	const struct status own = read_status((uint32_t)getpid()), status = read_status(pid);
	if (!reason)
		reason = reason_of_environment(pid, channel_path, has_program, status.filters > own.filters);
	if (!reason && status.depth > own.depth)
		reason = "it is in another pid namespace";
	if (!reason && status.has_user && status.user != geteuid())
		reason = "it is another user's";
	return reason;
}

const char *preload_reason_of_exec(const char *path, uint32_t lacks)
{
	bool has_program;
	const char *reason = path[0] == '/' ? reason_of_program(path, &has_program) : NULL;
	return reason ? reason : reason_of_lacks(lacks);
}
