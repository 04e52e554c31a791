/*
 * Answers questions about samples through analyze/, for tests/cases/test_definitions.py. Its input:
 *
 *     S main;f;g 12        a sample; with 0 hits: one of another resource
 *     Q functions          -> "12 main", ..., "."
 *     Q body | down main | up g,f
 *     Q whatif main;f=0.5 main;g,h=0
 *                          -> the predicted total, then the hits of each path, "."
 *     Q instructions f,g 4:8:11 20:24
 *                          -> the addresses with hits; for each instruction with hits "4 BODY TOTAL", then "unplaced N", "."
 *     O untrimmed no-stitch zeros   options of the view, from now on
 *     N                    deletes all samples
 *
 * Names joined by ',' are a set of labels. In a sample, names that begin with START or CREATE are functions of
 * that role, and | marks where a thread starts. 12!f/g is code at address 12, of f, which is inlined in g. Words such as
 * 4:8:11 are ranges of code, with the instructions [4, 8) and [8, 11).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "analyze/instructions.h"
#include "analyze/kernel_work.h"
#include "profile/module_name.h"
#include "profile/profile.h"

enum { PATHS = 16, NAMES = 64, CODE = 2, KERNEL = 3 };

static void die(const char *what)
{
	fprintf(stderr, "oracle_analyze: %s\n", what);
	exit(2);
}

static int64_t need(int64_t id)
{
	if (id < 0)
		die("out of memory");
	return id;
}

static struct profile *new_profile(void)
{
	struct profile *profile = profile_new();
	if (!profile)
		die("out of memory");
	struct profile_resource resource = { .name = (uint32_t)need(profile_add_string(profile, "real")),
					     .kind = RESOURCE_MERGED,
					     .interval = 1 };
	struct profile_module module = { .kind = MODULE_NAMES };
	need(profile_add_resource(profile, &resource));
	need(profile_add_resource(profile, &resource));
	need(profile_add_module(profile, &module));
	module.kind = MODULE_THREAD;
	need(profile_add_module(profile, &module));
	module.kind = MODULE_FILE;
	need(profile_add_module(profile, &module));
	module.kind = MODULE_KERNEL;
	module.path = (uint32_t)need(profile_add_string(profile, MODULE_NAME_KERNEL));
	need(profile_add_module(profile, &module));
	return profile;
}

/* Returns the frame of a new row for a function, each of which is one. */
static uint32_t frame_of(struct profile *profile, const char *name, bool inlined)
{
	struct profile_function function = { .name = (uint32_t)need(profile_add_string(profile, name)),
					     .module = CODE };
	uint32_t id = 0;
	while (id < profile->function_count && profile->functions[id].name != function.name)
		id++;
	if (id == profile->function_count)
		id = (uint32_t)need(profile_add_function(profile, &function));
	struct profile_frame frame = { .function = id, .inlined = inlined };
	return (uint32_t)need(profile_add_frame(profile, &frame));
}

/* Returns the location of "12!f/g". */
static uint32_t code_of(struct profile *profile, const char *name)
{
	char *copy = strdup(name), *frames;
	if (!copy)
		die("out of memory");
	uint64_t address = strtoull(copy, &frames, 10);
	uint32_t location = (uint32_t)need(profile_add_location(profile, CODE, address));
	if (profile->locations[location].first_frame == PROFILE_NONE) {
		uint32_t count = 0, first = PROFILE_NONE;
		for (char *next = frames + 1, *word; (word = strsep(&next, "/")); count++) {
			uint32_t frame = frame_of(profile, word, next != NULL);
			first = count ? first : frame;
		}
		profile->locations[location].first_frame = first;
		profile->locations[location].frame_count = count;
	}
	free(copy);
	return location;
}

/* Returns the location of a name, whose address is the name's string id. */
static uint32_t location_of(struct profile *profile, const char *name)
{
	if (strcmp(name, "|") == 0)
		return (uint32_t)need(profile_add_location(profile, 1, 0));
	if (strchr(name, '!'))
		return code_of(profile, name);
	uint32_t string = (uint32_t)need(profile_add_string(profile, name));
	uint32_t module = strncmp(name, "KERNEL", 6) == 0 ? KERNEL : 0;
	uint32_t location = (uint32_t)need(profile_add_location(profile, module, string));
	if (profile->locations[location].first_frame == PROFILE_NONE) {
		uint8_t role = strncmp(name, "START", 5) == 0    ? ROLE_START
			       : strncmp(name, "CREATE", 6) == 0 ? ROLE_CREATE
								 : ROLE_NONE;
		struct profile_function function = { .name = string, .module = module, .role = role };
		struct profile_frame frame = { .function = (uint32_t)need(profile_add_function(profile, &function)) };
		uint32_t first = (uint32_t)need(profile_add_frame(profile, &frame));
		profile->locations[location].first_frame = first;
		profile->locations[location].frame_count = 1;
	}
	return location;
}

static void add_sample(struct profile *profile, char *line)
{
	char *space = strrchr(line, ' ');
	if (!space)
		die("a sample without hits");
	*space = 0;
	uint32_t node = PROFILE_ROOT;
	for (char *next = line, *name; (name = strsep(&next, ";"));)
		node = (uint32_t)need(profile_add_node(profile, node, location_of(profile, name)));
	uint64_t hits = strtoull(space + 1, NULL, 10);
	need(profile_add_hit(profile, 0, PROFILE_NONE, node, hits ? 0 : 1, hits ? hits : 1));
}

static struct label_set labels_of(const struct view *view, char *names)
{
	struct label_set labels = { 0 };
	bool *chosen = calloc(view->label_count, sizeof(*chosen));
	labels.labels = calloc(view->label_count, sizeof(*labels.labels));
	if (!chosen || !labels.labels)
		die("out of memory");
	for (char *name; (name = strsep(&names, ","));) {
		struct label_set found;
		if (view_find(view, name, &found) != 1 || found.count != 1)
			die("a name that is not one label");
		chosen[found.labels[0]] = true;
		label_set_release(&found);
	}
	for (uint32_t i = 0; i < view->label_count; i++)
		if (chosen[i])
			labels.labels[labels.count++] = i;
	free(chosen);
	return labels;
}

static void print_list(const struct view *view, struct path_list *list)
{
	if (!list)
		die("no list");
	for (size_t i = 0; i < list->count; i++) {
		const struct path_entry *entry = &list->entries[i];
		const uint32_t *labels = path_labels(list, entry);
		printf("%" PRIu64, entry->hits);
		for (uint32_t k = 0; k < entry->length; k++)
			printf("%c%s", k ? ';' : ' ', view->labels[labels[k]].text);
		putchar('\n');
	}
	path_list_free(list);
}

static void print_paths(const struct view *view, char *names,
			struct path_list *(*analyze)(const struct view *view, const struct label_set *roots,
						     struct error *error))
{
	struct label_set roots = labels_of(view, names);
	print_list(view, analyze(view, &roots, NULL));
	label_set_release(&roots);
}

static void answer_what_if(const struct view *view, char *words)
{
	struct what_if paths[PATHS];
	struct label_set steps[PATHS][NAMES];
	size_t count = 0;
	for (char *word; (word = strsep(&words, " ")); count++) {
		char *factor = strrchr(word, '=');
		if (!factor || count == PATHS)
			die("a what-if path without a factor, or too many");
		*factor = 0;
		paths[count] = (struct what_if){ .steps = steps[count], .factor = strtod(factor + 1, NULL) };
		for (char *name; (name = strsep(&word, ";"));) {
			if (paths[count].length == NAMES)
				die("too long a path");
			steps[count][paths[count].length++] = labels_of(view, name);
		}
	}
	struct what_if_result result;
	if (analyze_what_if(view, paths, count, &result, NULL) < 0)
		die("no what-if");
	printf("%.12f\n", result.predicted);
	for (size_t i = 0; i < count; i++)
		printf("%" PRIu64 "\n", result.affected[i]);
	free(result.affected);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < paths[i].length; k++)
			label_set_release(&steps[i][k]);
}

static void add_range(struct code_list *code, char *word)
{
	struct code_range *ranges = realloc(code->ranges, (code->range_count + 1) * sizeof(*ranges));
	if (!ranges)
		die("out of memory");
	code->ranges = ranges;
	struct code_range *range = &ranges[code->range_count++];
	*range = (struct code_range){ .module = CODE, .first = code->count, .start = strtoull(word, &word, 10) };
	for (uint64_t start = range->start, end; *word; start = end) {
		struct code_instruction *all = realloc(code->instructions, (code->count + 1) * sizeof(*all));
		if (!all)
			die("out of memory");
		code->instructions = all;
		range->end = end = strtoull(word + 1, &word, 10);
		all[code->count++] = (struct code_instruction){ .address = start, .bytes = (uint32_t)(end - start) };
		range->count++;
	}
}

static void answer_instructions(const struct view *view, char *words)
{
	struct label_set functions = labels_of(view, strsep(&words, " "));
	struct code_list code;
	struct code_address *addresses;
	size_t count = 0;
	if (code_list_init(&code) < 0 || analyze_code_addresses(view, &functions, &addresses, &count, NULL) < 0)
		die("no addresses");
	for (size_t i = 0; i < count; i++)
		printf("%s%" PRIu64, i ? " " : "", addresses[i].address);
	putchar('\n');
	free(addresses);
	for (char *word; (word = strsep(&words, " "));)
		add_range(&code, word);
	struct instruction_list *list = analyze_instructions(view, &functions, &code, NULL);
	if (!list)
		die("no instructions");
	for (size_t i = 0; i < list->code.count; i++)
		if (list->hits[i].total > 0)
			printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", list->code.instructions[i].address,
			       list->hits[i].body, list->hits[i].total);
	printf("unplaced %" PRIu64 "\n", list->unplaced);
	instruction_list_free(list);
	label_set_release(&functions);
}

/* Checks that the hits of each node of the view are the sum over the profile's nodes that view_node assigns to
 * it. */
static void check_places(const struct view *view)
{
	uint64_t *hits = calloc(view->node_count, sizeof(*hits));
	if (!hits)
		die("out of memory");
	for (size_t i = 0; i < view->profile->node_count; i++) {
		if (view->node_hits[i] > 0 && view->view_node[i] >= view->node_count)
			die("hits without a place");
		if (view->node_hits[i] > 0)
			hits[view->view_node[i]] += view->node_hits[i];
	}
	for (size_t i = 0; i < view->node_count; i++)
		if (hits[i] != view->hits[i])
			die("a place that got other hits");
	free(hits);
}

static void answer_kernel_work(const struct view *view)
{
	struct error error;
	struct kernel_work *work = analyze_kernel_work(view, &error);
	if (!work)
		die(error.message);
	for (size_t i = 0; i < work->count; i++) {
		const struct kernel_entry *entry = &work->entries[i];
		printf("%" PRIu64 " %s %s %" PRIu64 "\n", entry->hits,
		       entry->label == PROFILE_NONE ? "-" : view->labels[entry->label].text,
		       entry->work == PROFILE_NONE ? "-" : view->labels[entry->work].text, entry->work_hits);
	}
	kernel_work_free(work);
}

static void answer(const struct profile *profile, const struct view_options *options, char *query)
{
	struct view *view = view_new(profile, options, NULL);
	if (!view)
		die("no view");
	check_places(view);
	char *word = strsep(&query, " ");
	if (strcmp(word, "functions") == 0)
		print_list(view, analyze_functions(view, NULL));
	else if (strcmp(word, "body") == 0)
		print_list(view, analyze_body(view, NULL));
	else if (strcmp(word, "waits") == 0)
		print_list(view, analyze_body_and_waits(view, NULL));
	else if (strcmp(word, "down") == 0)
		print_paths(view, query, analyze_down);
	else if (strcmp(word, "up") == 0)
		print_paths(view, query, analyze_up);
	else if (strcmp(word, "whatif") == 0)
		answer_what_if(view, query);
	else if (strcmp(word, "kernelwork") == 0)
		answer_kernel_work(view);
	else if (strcmp(word, "instructions") == 0)
		answer_instructions(view, query);
	else
		die("an unknown question");
	puts(".");
	view_free(view);
}

int main(void)
{
	struct profile *profile = new_profile();
	struct view_options options = { .thread = VIEW_ANY, .keep_view_nodes = true };
	char *line = NULL;
	size_t capacity = 0;
	while (getline(&line, &capacity, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] == 'S' && line[1] == ' ') {
			add_sample(profile, line + 2);
		} else if (line[0] == 'Q' && line[1] == ' ') {
			answer(profile, &options, line + 2);
		} else if (line[0] == 'O') {
			options.untrimmed = strstr(line, "untrimmed");
			options.no_stitch = strstr(line, "no-stitch");
			options.zeros = strstr(line, "zeros");
			options.kernel = strstr(line, "kernel-hide")   ? VIEW_KERNEL_HIDE
					 : strstr(line, "kernel-only") ? VIEW_KERNEL_ONLY
								       : VIEW_KERNEL_SHOW;
		} else {
			profile_free(profile);
			profile = new_profile();
		}
	}
	free(line);
	profile_free(profile);
	return 0;
}
