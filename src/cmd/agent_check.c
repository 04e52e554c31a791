/* Checks the options that only the children read, by the code of the children. It runs in a child too, because commands limit the memory of
 * their process. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd/agent.h"
#include "cmd/message.h"
#include "store/store.h"

static int check_record(const struct agent_settings *settings)
{
	struct invocation invocation = { .command = &command_record };
	struct agent_words words;
	struct error error = { 0 };
	agent_settings_record_words(settings, "", &words);
	if (words.failed)
		return failure(&invocation, "%s", error_text(ERROR_MEMORY));
	if (options_parse(&invocation, (int)words.count, words.items, &error) < 0)
		return failure_of(&invocation, &error);
	return record_slice_check(&invocation);
}

/* Runs `store add` without a file, and with a spool that does not exist, so that it only reads its options. */
static int check_add(const struct agent_settings *settings)
{
	struct invocation invocation = { .command = &command_store };
	struct error error = { 0 };
	struct agent_words words;
	/* A URL that is none opens nothing here. */
	if (strstr(settings->store, "://") && !store_is_url(settings->store)) {
		store_close(store_open(settings->store, STORE_READ, &error));
		return failure_of(&invocation, &error);
	}
	agent_settings_add_words(settings, NULL, &words);
	return words.failed ? failure(&invocation, "%s", error_text(ERROR_MEMORY))
			    : dispatch((int)words.count, words.items);
}

static int check_work(const void *context)
{
	int status = check_record(context);
	return status == EXIT_DONE ? check_add(context) : status;
}

/* Returns the last message without "cpprof COMMAND: " and without the reference to that command's help. Changes the text. */
static const char *message_of(char *text)
{
	size_t length = strlen(text);
	if (length > 0 && text[length - 1] == '\n')
		text[length - 1] = 0;
	char *line = strrchr(text, '\n'), *help = strstr(line ? line : text, "; try 'cpprof ");
	line = line ? line + 1 : text;
	if (help)
		*help = 0;
	const char *behind = strstr(line, ": ");
	return behind ? behind + strlen(": ") : line;
}

int agent_check(const struct agent_settings *settings, struct error *error)
{
	struct agent_job job;
	struct agent_end end;
	sigset_t signals;
	sigprocmask(SIG_SETMASK, NULL, &signals);
	if (agent_job_start(&job, check_work, settings, &signals, error) < 0)
		return error->code;
	agent_job_end(&job, &end);
	if (end.status == EXIT_DONE)
		return 0;
	if (end.status > EXIT_NO_COMMAND)
		return error_set(error, ERROR_SYSTEM, "cannot check the options: signal %d ended the check",
				 end.status - EXIT_NO_COMMAND - 1);
	return error_set(error, end.status == EXIT_WORDS ? ERROR_USAGE : ERROR_SYSTEM, "%s", message_of(end.text));
}
