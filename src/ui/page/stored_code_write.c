/* Chooses the functions whose machine code a page has, and writes it. */
#include <stdlib.h>
#include <string.h>

#include "profile/file_users.h"
#include "ui/page/stored_code.h"
#include "ui/page/write.h"

/* An address with hits, at or below it. */
struct hit_address {
	uint32_t module, function; /* that contains the code, into which others may be inlined */
	uint64_t address;
	double rank; /* of all resources */
};

/* A function with the addresses [first, first + count). */
struct hit_function {
	size_t first, count;
	double rank;
	bool is_stored;
};

struct choice {
	const struct profile *profile;
	struct hit_address *addresses; /* owned; by module, function, address */
	size_t address_count;
	struct hit_function *functions; /* owned; the hottest first */
	size_t function_count, chosen;  /* chosen: the leading functions that may be stored */
	struct code_list code;
	bool *is_taken; /* [code.range_count]; owned */
	/* [module_count]: why a module of a chosen function has no code, "" if it has; NULL for other modules. Owned */
	char **reasons;
};

/* --- functions with hits --- */

/* A location's own hits, and a hundredth of those at and below it, as shares: callers come behind what they call. */
static double *rank_locations(const struct profile *profile)
{
	static const double below_weight = 0.01;
	double *totals = calloc(profile->resource_count + 1, sizeof(*totals));
	double *weights = calloc(profile->node_count + 1, sizeof(*weights));
	double *ranks = calloc(profile->location_count + 1, sizeof(*ranks));
	bool has_memory = totals && weights && ranks;
	for (size_t i = 0; has_memory && i < profile->hit_count; i++)
		totals[profile->hits[i].resource] += (double)profile->hits[i].count;
	for (size_t i = 0; has_memory && i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		double share = (double)hit->count / totals[hit->resource];
		weights[hit->node] += share;
		if (hit->node != PROFILE_ROOT)
			ranks[profile->nodes[hit->node].location] += share;
	}
	for (size_t i = has_memory ? profile->node_count : 0; i-- > 1;) {
		weights[profile->nodes[i].parent] += weights[i];
		ranks[profile->nodes[i].location] += below_weight * weights[i];
	}
	free(totals);
	free(weights);
	if (has_memory)
		return ranks;
	free(ranks);
	return NULL;
}

static int compare_addresses(const void *left, const void *right)
{
	const struct hit_address *a = left, *b = right;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

static int compare_functions(const void *left, const void *right)
{
	const struct hit_function *a = left, *b = right;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static int list_addresses(struct choice *choice)
{
	const struct profile *profile = choice->profile;
	double *ranks = rank_locations(profile);
	choice->addresses = calloc(profile->location_count + 1, sizeof(*choice->addresses));
	for (size_t i = 0; ranks && choice->addresses && i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		if (ranks[i] > 0 && location->frame_count > 0)
			choice->addresses[choice->address_count++] = (struct hit_address){
				location->module,
				profile->frames[location->first_frame + location->frame_count - 1].function,
				location->address, ranks[i]
			};
	}
	bool has_memory = ranks && choice->addresses;
	free(ranks);
	if (has_memory)
		qsort(choice->addresses, choice->address_count, sizeof(*choice->addresses), compare_addresses);
	return has_memory ? 0 : ERROR_MEMORY;
}

static int list_functions(struct choice *choice)
{
	int status = list_addresses(choice);
	choice->functions = calloc(choice->address_count + 1, sizeof(*choice->functions));
	if (status < 0 || !choice->functions)
		return ERROR_MEMORY;
	for (size_t i = 0; i < choice->address_count; i++) {
		const struct hit_address *own = &choice->addresses[i], *before = i > 0 ? own - 1 : NULL;
		if (!before || before->module != own->module || before->function != own->function)
			choice->functions[choice->function_count++] = (struct hit_function){ .first = i };
		struct hit_function *function = &choice->functions[choice->function_count - 1];
		function->count++;
		function->rank += own->rank;
	}
	qsort(choice->functions, choice->function_count, sizeof(*choice->functions), compare_functions);
	choice->chosen =
		choice->function_count < STORED_FUNCTIONS_MOST ? choice->function_count : STORED_FUNCTIONS_MOST;
	return 0;
}

/* --- their code --- */

static int compare_values(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

/* Finds the addresses of the chosen functions in a module: distinct, ascending. `found` has room for all addresses. Returns their number. */
static size_t find_in_module(const struct choice *choice, uint32_t module, uint64_t *found)
{
	size_t all = 0, count = 0;
	for (size_t i = 0; i < choice->chosen; i++) {
		const struct hit_function *function = &choice->functions[i];
		for (size_t k = function->first; k < function->first + function->count; k++)
			if (choice->addresses[k].module == module)
				found[all++] = choice->addresses[k].address;
	}
	qsort(found, all, sizeof(*found), compare_values);
	for (size_t i = 0; i < all; i++)
		if (i == 0 || found[i] != found[i - 1])
			found[count++] = found[i];
	return count;
}

/* Decodes the chosen functions of a module. Sets its reason. Returns 0 or ERROR_MEMORY. */
static int decode_module(struct choice *choice, const struct code_source *source, uint32_t module,
			 const uint64_t *addresses, size_t count, bool is_allowed)
{
	struct error reason = { 0 };
	int status = 0;
	if (is_allowed)
		status = source->decode(source->context, choice->profile, module, addresses, count, &choice->code,
					&reason);
	else
		error_set(&reason, ERROR_PERMISSION, "processes of other users executed it (cpprof html --source)");
	if (status != ERROR_MEMORY)
		choice->reasons[module] = strdup(reason.code ? reason.message : "");
	return choice->reasons[module] ? 0 : ERROR_MEMORY;
}

static int decode_all(struct choice *choice, const struct code_source *source, bool has_all)
{
	const struct profile *profile = choice->profile;
	struct file_users users = { 0 };
	uint64_t *found = calloc(choice->address_count + 1, sizeof(*found));
	choice->reasons = calloc(profile->module_count + 1, sizeof(*choice->reasons));
	int status = found && choice->reasons ? code_list_init(&choice->code) : ERROR_MEMORY;
	for (uint32_t module = 0; module < profile->module_count && status == 0; module++) {
		const char *path = profile_string(profile, profile->modules[module].path);
		bool is_file = profile->modules[module].kind == MODULE_FILE; /* of others, no file is read */
		size_t count = find_in_module(choice, module, found);
		if (count > 0)
			status = decode_module(choice, source, module, found, count,
					       has_all || !is_file || page_is_own(&users, profile, path));
	}
	file_users_release(&users);
	free(found);
	return status;
}

/* Takes the ranges of a function for which there is room. */
static void take_ranges(struct choice *choice, struct hit_function *function, size_t *room)
{
	for (size_t k = function->first; k < function->first + function->count; k++) {
		const struct hit_address *own = &choice->addresses[k];
		size_t range = code_list_range(&choice->code, own->module, own->address);
		if (range == SIZE_MAX)
			continue;
		if (!choice->is_taken[range] && choice->code.ranges[range].count <= *room) {
			choice->is_taken[range] = true;
			*room -= choice->code.ranges[range].count;
		}
		function->is_stored |= choice->is_taken[range];
	}
}

static int take_all(struct choice *choice)
{
	size_t room = STORED_INSTRUCTIONS_MOST;
	choice->is_taken = calloc(choice->code.range_count + 1, sizeof(*choice->is_taken));
	if (!choice->is_taken)
		return ERROR_MEMORY;
	for (size_t i = 0; i < choice->chosen; i++)
		take_ranges(choice, &choice->functions[i], &room);
	return 0;
}

static void write_module(const struct choice *choice, uint32_t module, struct buffer *bytes)
{
	struct buffer ranges;
	uint32_t count = 0;
	for (size_t i = 0; i < choice->code.range_count; i++)
		count += choice->is_taken[i] && choice->code.ranges[i].module == module;
	buffer_init(&ranges);
	buffer_append(&ranges, &count, sizeof(count));
	for (size_t i = 0; i < choice->code.range_count; i++)
		if (choice->is_taken[i] && choice->code.ranges[i].module == module)
			code_list_write_range(&ranges, &choice->code, i);
	buffer_append_varint(bytes, module);
	buffer_append_string(bytes, choice->reasons[module]);
	buffer_append_byte(bytes, 0);
	buffer_append_varint(bytes, ranges.size);
	buffer_append(bytes, ranges.bytes, ranges.size);
	if (buffer_error(&ranges))
		bytes->error = ERROR_MEMORY;
	buffer_release(&ranges);
}

static void write_all(const struct choice *choice, struct buffer *bytes, struct stored_code_written *written)
{
	size_t modules = 0;
	for (size_t i = 0; i < choice->function_count; i++)
		written->functions += choice->functions[i].is_stored;
	for (size_t i = 0; i < choice->profile->module_count; i++)
		modules += choice->reasons[i] != NULL;
	written->left_out = choice->function_count - written->functions;
	buffer_append_varint(bytes, written->functions);
	buffer_append_varint(bytes, modules);
	for (uint32_t i = 0; i < choice->profile->module_count; i++)
		if (choice->reasons[i])
			write_module(choice, i, bytes);
}

static void choice_release(struct choice *choice)
{
	for (size_t i = 0; choice->reasons && i < choice->profile->module_count; i++)
		free(choice->reasons[i]);
	free(choice->reasons);
	free(choice->addresses);
	free(choice->functions);
	free(choice->is_taken);
	code_list_release(&choice->code);
}

int stored_code_write(const struct profile *profile, const struct code_source *source, bool has_all,
		      struct buffer *bytes, struct stored_code_written *written, struct error *error)
{
	struct choice choice = { .profile = profile };
	*written = (struct stored_code_written){ 0 };
	int status = list_functions(&choice);
	if (status == 0)
		status = decode_all(&choice, source, has_all);
	if (status == 0)
		status = take_all(&choice);
	if (status == 0)
		write_all(&choice, bytes, written);
	if (status == 0)
		status = buffer_error(bytes);
	choice_release(&choice);
	return status < 0 ? error_set(error, status, "cannot store the machine code: out of memory") : 0;
}
