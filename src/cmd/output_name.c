#include "cmd/output_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/whole_number.h"

/* The variables in which launchers state the rank of a process, the most particular first. */
static const struct rank_variable {
	const char *name;
	bool is_for_scripts; /* a script that starts the ranks has it, too, as 0 */
} rank_variables[] = {
	{ "OMPI_COMM_WORLD_RANK", false }, /* Open MPI's mpirun */
	{ "PMIX_RANK", false },            /* launchers with PMIx */
	{ "PMI_RANK", false },             /* MPICH and those like it */
	{ "MV2_COMM_WORLD_RANK", false },  /* MVAPICH2 */
	{ "SLURM_PROCID", true },          /* srun */
};

enum { RANK_VARIABLES = sizeof(rank_variables) / sizeof(rank_variables[0]) };

/* Returns the value of a variable if it is a number, or NULL. */
static const char *number_in(const char *variable)
{
	const char *value = getenv(variable);
	uint64_t number;
	return value && whole_number_read(value, &number) ? value : NULL;
}

static const char *find_rank(bool is_asked_for)
{
	const char *rank = NULL;
	for (size_t i = 0; i < RANK_VARIABLES && !rank; i++)
		if (is_asked_for || !rank_variables[i].is_for_scripts)
			rank = number_in(rank_variables[i].name);
	return rank;
}

/* --- what a letter stands for --- */

static int append_rank(struct buffer *expanded, const char *name, struct error *error)
{
	const char *rank = find_rank(true);
	if (rank) {
		buffer_append_string(expanded, rank);
		return 0;
	}
	char names[256] = "";
	for (size_t i = 0; i < RANK_VARIABLES; i++) {
		size_t used = strlen(names);
		snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? " or " : "", rank_variables[i].name);
	}
	return error_set(error, ERROR_USAGE,
			 "cannot name the profile '%s': no rank (start cpprof record by mpirun or srun, or set %s)",
			 name, names);
}

static int append_process(struct buffer *expanded, const char *name, struct error *error)
{
	(void)name, (void)error;
	buffer_printf(expanded, "%" PRIdMAX, (intmax_t)getpid());
	return 0;
}

static int append_host(struct buffer *expanded, const char *name, struct error *error)
{
	struct utsname host;
	if (uname(&host) < 0)
		return error_set_errno(error, "cannot name the profile '%s': no name of the host", name);
	buffer_append_string(expanded, host.nodename);
	return 0;
}

static int append_percent(struct buffer *expanded, const char *name, struct error *error)
{
	(void)name, (void)error;
	buffer_append_byte(expanded, '%');
	return 0;
}

/* A letter behind a '%', and the function that appends what it stands for to the name. */
static const struct placeholder {
	char letter;
	int (*append)(struct buffer *expanded, const char *name, struct error *error);
} placeholders[] = {
	{ 'r', append_rank },
	{ 'p', append_process },
	{ 'h', append_host },
	{ '%', append_percent },
};

/* Returns the row of the placeholder at the beginning of `text`, or NULL. */
static const struct placeholder *find_placeholder(const char *text)
{
	for (size_t i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]) && text[0] == '%'; i++)
		if (placeholders[i].letter == text[1])
			return &placeholders[i];
	return NULL;
}

/* --- names --- */

int output_name_append(struct buffer *expanded, const char *name, struct error *error)
{
	int status = 0;
	for (const char *at = name; *at && status == 0;) {
		const struct placeholder *placeholder = find_placeholder(at);
		if (placeholder)
			status = placeholder->append(expanded, name, error);
		else
			buffer_append_byte(expanded, (uint8_t)*at);
		at += placeholder ? 2 : 1;
	}
	buffer_append_byte(expanded, 0);
	return status;
}

const char *output_name_rank(const char *name)
{
	bool is_asked_for = false;
	for (const char *at = name; *at && !is_asked_for;) {
		const struct placeholder *placeholder = find_placeholder(at);
		is_asked_for = placeholder && placeholder->append == append_rank;
		at += placeholder ? 2 : 1;
	}
	return find_rank(is_asked_for);
}
