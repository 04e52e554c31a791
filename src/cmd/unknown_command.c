/* The message for an unknown command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/near_names.h"
#include "base/path.h"
#include "cmd/command.h"
#include "cmd/message.h"

static bool is_program(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Returns whether `name` is a program, by its path or in PATH. */
static bool names_program(const char *name)
{
	char *path = path_search(name);
	bool is_found = path && is_program(path);
	free(path);
	return is_found;
}

/* Returns whether `name`, which this build does not have, is a command of builds with the collectors. */
static bool measures(const char *name)
{
#define NOTHING(name)
#define NAME(name) #name,
	static const char *const names[] = { COMMANDS(NOTHING, NAME) };
#undef NOTHING
#undef NAME
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

int command_unknown(const struct invocation *invocation, const char *name)
{
	char list[128] = "";
	if (measures(name))
		return failure(invocation,
			       "cannot run '%s': this build of cpprof has no collectors (run it with a build that has "
			       "them, and read the profile here)",
			       name);
	for (size_t i = 0; commands[i]; i++) {
		size_t used = strlen(list);
		if (!(commands[i]->needs & IS_HIDDEN) && text_resembles(name, commands[i]->name))
			snprintf(list + used, sizeof(list) - used, "%s'%s'", used ? " or " : "", commands[i]->name);
	}
	if (list[0])
		return usage_error(invocation, "unknown command '%s' (did you mean %s?)", name, list);
	if (strcmp(name, "version") == 0)
		return usage_error(invocation, "unknown command '%s' (did you mean 'cpprof --version'?)", name);
	if (!command_find("record"))
		return usage_error(invocation, "unknown command '%s'", name);
	if (names_program(name))
		return usage_error(invocation, "unknown command '%s' (did you mean 'cpprof record %s'?)", name, name);
	if (is_program(name))
		return usage_error(invocation, "unknown command '%s' (did you mean 'cpprof record ./%s'?)", name, name);
	return usage_error(invocation, "unknown command '%s'", name);
}
