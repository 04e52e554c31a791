#include "store/service_names.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/path.h"
#include "base/safe_text.h"
#include "base/words.h"
#include "profile/cgroup.h"

/* By what a rule finds processes, and the words before its '='. */
enum subject { BY_CGROUP, BY_UNIT, BY_CONTAINER, BY_NAME, SUBJECTS };

static const char *const subjects[SUBJECTS] = { "cgroup", "unit", "container", "name" };

static const char *subject_word(size_t index)
{
	return index < SUBJECTS ? subjects[index] : NULL;
}

struct rule {
	enum subject subject;
	char *line; /* owned; the texts below are in it */
	const char *pattern, *service;
};

struct service_rules {
	struct rule *items; /* owned */
	size_t count, capacity;
};

/* --- reading --- */

/* Reads "SUBJECT=PATTERN SERVICE" in place. Returns false if the line is none. */
static bool read_rule(struct rule *rule)
{
	static const char BLANKS[] = " \t\r\n";
	char *rest = rule->line;
	const char *first = strtok_r(rest, BLANKS, &rest), *service = strtok_r(NULL, BLANKS, &rest),
		   *more = strtok_r(NULL, BLANKS, &rest);
	const char *equals = first ? strchr(first, '=') : NULL;
	if (!equals || !equals[1] || !service || service[0] == '#' || (more && more[0] != '#'))
		return false;
	size_t length = (size_t)(equals - first), subject = 0;
	while (subject < SUBJECTS &&
	       (strlen(subjects[subject]) != length || memcmp(subjects[subject], first, length) != 0))
		subject++;
	rule->subject = (enum subject)subject;
	rule->pattern = equals + 1;
	rule->service = service;
	return subject < SUBJECTS;
}

static int add_rule(struct service_rules *rules, const char *line, const char *path, unsigned number,
		    struct error *error)
{
	size_t blanks = strspn(line, " \t\r\n");
	if (!line[blanks] || line[blanks] == '#')
		return 0;
	struct rule rule = { .line = strdup(line) };
	if (!rule.line || ARRAY_RESERVE(rules->items, rules->capacity, rules->count + 1) < 0) {
		free(rule.line);
		return error_memory(error);
	}
	if (!read_rule(&rule)) {
		char list[64];
		free(rule.line);
		return error_set(error, ERROR_FORMAT, "%s:%u: expected SUBJECT=PATTERN SERVICE (SUBJECT: %s)", path,
				 number, words_list(subject_word, list, sizeof(list)));
	}
	rules->items[rules->count++] = rule;
	return 0;
}

static int read_rules(struct service_rules *rules, FILE *in, const char *path, struct error *error)
{
	char *line = NULL;
	size_t capacity = 0;
	int status = 0;
	errno = 0;
	for (unsigned number = 1; status == 0 && getline(&line, &capacity, in) >= 0; number++)
		status = add_rule(rules, line, path, number, error);
	if (status == 0 && !feof(in))
		status = error_set_errno(error, "cannot read '%s'", path);
	free(line);
	return status;
}

struct service_rules *service_rules_read(const char *path, struct error *error)
{
	int fd = path_open_input(path, error);
	if (fd < 0)
		return NULL;
	FILE *in = fdopen(fd, "r");
	struct service_rules *rules = in ? calloc(1, sizeof(*rules)) : NULL;
	int status = rules ? read_rules(rules, in, path, error) : error_memory(error);
	if (in)
		fclose(in);
	else
		close(fd);
	if (status == 0)
		return rules;
	service_rules_free(rules);
	return NULL;
}

void service_rules_free(struct service_rules *rules)
{
	for (size_t i = 0; rules && i < rules->count; i++)
		free(rules->items[i].line);
	if (rules)
		free(rules->items);
	free(rules);
}

/* --- naming --- */

struct facts {
	const char *cgroup, *name;
	enum cgroup_owner owner_kind;
	char owner[CGROUP_NAME_BYTES];
	bool is_named; /* the service is the name of the process */
};

static bool fits(const struct rule *rule, const struct facts *facts)
{
	switch (rule->subject) {
	case BY_CGROUP:
		return cgroup_fits(facts->cgroup, rule->pattern);
	case BY_UNIT:
		return facts->owner_kind == CGROUP_UNIT && fnmatch(rule->pattern, facts->owner, 0) == 0;
	case BY_CONTAINER:
		return facts->owner_kind == CGROUP_CONTAINER && fnmatch(rule->pattern, facts->owner, 0) == 0;
	default:
		return fnmatch(rule->pattern, facts->name, 0) == 0;
	}
}

/* Returns whether the process stands for the kernel's threads, or for the idle tasks of another recorder. */
static bool is_kernel(const struct profile_process *process, const char *name)
{
	return process->pid == 0 && (strcmp(name, "[kernel threads]") == 0 || strncmp(name, "swapper", 7) == 0);
}

/* The result is valid as long as the facts. */
static const char *service_of(const struct profile *profile, const struct profile_process *process,
			      const struct service_rules *rules, struct facts *facts)
{
	facts->name = profile_string(profile, process->name);
	facts->cgroup = profile_string(profile, process->cgroup);
	facts->owner_kind = cgroup_owner_find(facts->cgroup, facts->owner);
	facts->is_named = false;
	for (size_t i = 0; rules && i < rules->count; i++)
		if (fits(&rules->items[i], facts))
			return rules->items[i].service;
	if (is_kernel(process, facts->name))
		return "kernel";
	facts->is_named = facts->owner_kind == CGROUP_NO_OWNER;
	return facts->is_named ? facts->name : facts->owner;
}

/* Returns the id of the text in a safe form, or a negative error. */
static int64_t add_text(struct strings *texts, const char *text)
{
	char *safe = NULL;
	size_t bytes = 0;
	if (safe_word(text, NULL))
		return strings_add(texts, text, strlen(text));
	FILE *out = open_memstream(&safe, &bytes);
	if (!out)
		return ERROR_MEMORY;
	safe_text_write(out, text, strlen(text), "");
	int64_t id = fclose(out) == 0 ? strings_add(texts, safe, bytes) : ERROR_MEMORY;
	free(safe);
	return id;
}

/* --- the limit of names --- */

static void count_hits(const struct profile *profile, const uint32_t *named, uint64_t *hits)
{
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		if (hit->thread != PROFILE_NONE)
			hits[named[profile->threads[hit->thread].process]] += hit->count;
	}
}

static int compare_hits(const void *left, const void *right, void *context)
{
	const uint64_t *hits = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return COMPARE(hits[b], hits[a]) ?: COMPARE(a, b);
}

/* Gives the processes of all but the names with most hits the service of the rest. `named`: by process, its name's id if that is its
 * service, otherwise 0. */
static int limit_names(struct service_names *names, const struct profile *profile, const uint32_t *named)
{
	size_t count = names->texts.count;
	uint64_t *hits = calloc(count + 1, sizeof(*hits));
	uint32_t *ids = calloc(count + 1, sizeof(*ids)); /* those with most hits first */
	int status = hits && ids ? 0 : ERROR_MEMORY;
	if (status == 0) {
		for (uint32_t i = 0; i < count; i++)
			ids[i] = i;
		count_hits(profile, named, hits);
		hits[0] = 0; /* of the others */
		qsort_r(ids, count, sizeof(*ids), compare_hits, hits);
		for (size_t i = SERVICE_NAMES_MOST; i < count; i++)
			hits[ids[i]] = 0;
	}
	for (size_t i = 0; status == 0 && i < profile->process_count; i++)
		if (named[i] && !hits[named[i]])
			names->items[i] = names->rest;
	free(hits);
	free(ids);
	return status;
}

static int name_processes(struct service_names *names, const struct profile *profile, const struct service_rules *rules,
			  uint32_t *named)
{
	for (size_t i = 0; i < profile->process_count; i++) {
		struct facts facts;
		int64_t id = add_text(&names->texts, service_of(profile, &profile->processes[i], rules, &facts));
		if (id < 0)
			return (int)id;
		names->items[i] = strings_get(&names->texts, (uint32_t)id);
		named[i] = facts.is_named ? (uint32_t)id : 0;
	}
	return limit_names(names, profile, named);
}

static const char *rest_of(const struct profile *profile)
{
	if (service_names_is_machine(profile))
		return "machine";
	return profile->process_count > 0 ? profile_string(profile, profile->processes[0].name) : "";
}

int service_names_init(struct service_names *names, const struct profile *profile, const struct service_rules *rules)
{
	*names = (struct service_names){ .items = calloc(profile->process_count + 1, sizeof(*names->items)) };
	uint32_t *named = calloc(profile->process_count + 1, sizeof(*named));
	int status = strings_init(&names->texts);
	if (!names->items || !named)
		status = ERROR_MEMORY;
	int64_t rest = status == 0 ? add_text(&names->texts, rest_of(profile)) : status;
	if (rest >= 0) {
		names->rest = strings_get(&names->texts, (uint32_t)rest);
		status = name_processes(names, profile, rules, named);
	} else {
		status = (int)rest;
	}
	free(named);
	return status;
}

void service_names_release(struct service_names *names)
{
	free((void *)names->items);
	strings_release(&names->texts);
	*names = (struct service_names){ 0 };
}

bool service_names_is_machine(const struct profile *profile)
{
	/* The recorder notes the words that chose its target, "-a" before a command. */
	const char *command = profile_note(profile, "command");
	return command && strncmp(command, "-a", 2) == 0 && (command[2] == 0 || command[2] == ' ');
}
