#include "collect/sample/plan.h"

#include <stdio.h>
#include <string.h>

#include "collect/sample/backends.h"
#include "collect/sample/inside.h"

/* --- one backend --- */

/* Returns 0 if the backend can take part in this run, regardless of the resources, or an error. */
static int fits(const struct backend_vtable *vtable, const struct record_options *options, struct error *error)
{
	if (!vtable->only_commands && options->paused)
		return inside_refuse_pause(error);
	if (options->director && !vtable->experiment)
		return error_set(error, ERROR_UNSUPPORTED, "the %s backend cannot pause single threads", vtable->name);
	bool attaches = !process_list_is_empty(options->processes);
	if (vtable->only_commands && options->no_children)
		return error_set(error, ERROR_UNSUPPORTED,
				 "the %s backend cannot record with --no-children: every program that the command "
				 "starts loads its library (use the bpf or the perf backend)",
				 vtable->name);
	if (!vtable->only_commands || (!attaches && !options->everything))
		return 0;
	return error_set(error, ERROR_UNSUPPORTED,
			 "the %s backend cannot record with %s: it is loaded into commands that it starts (use the bpf "
			 "backend, as root or with CAP_BPF and CAP_PERFMON, or the perf backend, with 'sudo sysctl "
			 "kernel.perf_event_paranoid=%d')",
			 vtable->name, options->everything ? "-a" : "-p", options->everything ? 0 : 1);
}

/* Returns whether the backend could measure the resource in this run if everything were permitted. */
static bool could_serve(const struct backend_vtable *vtable, const struct resource_row *row,
			const struct record_options *options)
{
	struct error why;
	return fits(vtable, options, &why) == 0 && (!vtable->serves || vtable->serves(row));
}

/* Probes one resource. CPU time that was requested by name is refused where only user time is permitted;
 * it is not quietly replaced. */
static int probe_one(const struct backend_vtable *vtable, const struct resource_request *resource, bool *user_only,
		     struct error *error)
{
	*user_only = false;
	int result = vtable->probe(resource, user_only, error);
	if (result == 0 && *user_only && resource->row->is_time && resource->row->modes == RESOURCE_ALL_MODES)
		return error_set(error, ERROR_PERMISSION,
				 "cannot measure %s: kernel.perf_event_paranoid = 2 hides time in the kernel (record "
				 "-r user, or 'sudo sysctl kernel.perf_event_paranoid=1')",
				 resource->name);
	return result;
}

/* Chooses the resource of a run without -r: CPU time, or user time where the kernel may not be observed. */
static int choose_default(struct plan *plan, const struct backend_vtable *vtable, const struct record_options *options,
			  struct error *error)
{
	struct resource_request *resource = &plan->resources[0];
	bool user_only = false;
	int result = resource_parse("cpu", resource, error);
	if (result == 0)
		result = vtable->probe(resource, &user_only, error);
	if (result == 0 && user_only)
		result = resource_parse("user", resource, error);
	if (result < 0)
		return result;
	if (options->time_interval)
		resource->interval = options->time_interval;
	plan->user_by_default = user_only;
	plan->request.resource_count = 1;
	return 0;
}

/* Accepts a backend that measures all resources. Otherwise returns the error, and sets *refused to the
 * first resource that the backend does not measure. */
static int accept(struct plan *plan, const struct backend_vtable *vtable, const struct record_options *options,
		  size_t *refused, struct error *error)
{
	*refused = 0;
	plan->request.user_mode_only = false;
	if (fits(vtable, options, error) < 0)
		return error->code;
	if (options->resource_count == 0) {
		int result = choose_default(plan, vtable, options, error);
		if (result < 0)
			return result;
	}
	for (size_t i = 0; i < plan->request.resource_count; i++) {
		bool user_only;
		int result = probe_one(vtable, &plan->resources[i], &user_only, error);
		*refused = i;
		if (result < 0)
			return result;
		plan->request.user_mode_only |= user_only;
	}
	plan->vtable = vtable;
	return 0;
}

/* --- the choice --- */

/* Returns the reason in "cannot VERB OBJECT: REASON (REMEDY)", or in "REASON: REMEDY". */
static const char *reason_of(const char *message)
{
	const char *colon = strncmp(message, "cannot ", strlen("cannot ")) == 0 ? strstr(message, ": ") : NULL;
	return colon ? colon + 2 : message;
}

/* Returns the length of the part of a message that gives the reason; the remedy follows it. */
static int reason_length(const char *message)
{
	static const char *const ends[] = { ": ", ";", " (" };
	const char *reason = reason_of(message);
	size_t length = strlen(reason);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end = strstr(reason, ends[i]);
		if (end && (size_t)(end - reason) < length)
			length = (size_t)(end - reason);
	}
	return (int)length;
}

/* Keeps a short reason for the closing line. */
static void note_passed_over(struct plan *plan, const struct backend_vtable *vtable, const struct error *why)
{
	if (plan->passed_over[0])
		return; /* of several backends, the most preferred one is reported */
	snprintf(plan->passed_over, sizeof(plan->passed_over), "%s: %.*s", vtable->name, reason_length(why->message),
		 reason_of(why->message));
}

/* Adds the reason why a backend that was chosen could not be opened. */
static void note_not_opened(struct plan *plan, const struct backend_vtable *vtable, const struct error *why)
{
	size_t used = strlen(plan->passed_over);
	if (used == 0)
		note_passed_over(plan, vtable, why);
	else
		snprintf(plan->passed_over + used, sizeof(plan->passed_over) - used, ", nor by %s: %.*s", vtable->name,
			 reason_length(why->message), reason_of(why->message));
}

/* Returns the first backend from `from` on that accepts everything, or NULL if there is none. */
static const struct backend_vtable *find_backend(struct plan *plan, const struct backend_vtable *const *from,
						 const struct record_options *options)
{
	for (; *from; from++) {
		size_t refused;
		struct error why;
		if (accept(plan, *from, options, &refused, &why) == 0)
			return *from;
		note_passed_over(plan, *from, &why);
	}
	return NULL;
}

/* Returns the index of the first resource that no backend measures, or the count if there is none. */
static size_t refused_by_all(const struct plan *plan, const struct record_options *options)
{
	for (size_t i = 0; i < plan->request.resource_count; i++) {
		bool accepted = false;
		for (size_t b = 0; record_backends[b] && !accepted; b++) {
			bool user_only;
			struct error why;
			accepted = fits(record_backends[b], options, &why) == 0 &&
				   probe_one(record_backends[b], &plan->resources[i], &user_only, &why) == 0;
		}
		if (!accepted)
			return i;
	}
	return plan->request.resource_count;
}

/* Reports why a resource is not measured with --paused, where the program starts the recording. */
static int explain_paused(const struct resource_request *resource, struct error *error)
{
	struct error why = { 0 };
	bool user_only;
	for (size_t b = 0; record_backends[b] && why.code == 0; b++)
		if (record_backends[b]->only_commands)
			probe_one(record_backends[b], resource, &user_only, &why);
	return error_set(error, ERROR_UNSUPPORTED, "--paused needs the preload backend: %s", why.message);
}

/* Reports why a resource is not measured. Of several backends that could measure it, the last needs the
 * fewest privileges, so its remedy is the easiest. */
static int explain_resource(const struct resource_request *resource, const struct record_options *options,
			    struct error *error)
{
	const struct backend_vtable *last = NULL, *elsewhere = NULL;
	size_t could = 0;
	bool user_only;
	if (options->paused)
		return explain_paused(resource, error);
	for (size_t b = 0; record_backends[b]; b++) {
		if (could_serve(record_backends[b], resource->row, options)) {
			last = record_backends[b];
			could++;
		} else if (!record_backends[b]->serves || record_backends[b]->serves(resource->row)) {
			elsewhere = record_backends[b];
		}
	}
	if (!last)
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot measure %s in a running process: only the %s backend measures it, in commands "
				 "that it starts",
				 resource->name, elsewhere ? elsewhere->name : "none");
	if (could > 1)
		return probe_one(last, resource, &user_only, error);
	struct error why;
	int result = probe_one(last, resource, &user_only, &why);
	/* A reason that concerns the whole backend may not name the requested resource. */
	if (strstr(why.message, resource->row->name))
		return error_set(error, result, "%s", why.message);
	return error_set(error, result, "%s needs the %s backend: %s", resource->name, last->name, why.message);
}

/* Reports why no backend measures CPU time, which all of them could: the last backend that fits gives the
 * remedy. */
static int explain_default(struct plan *plan, const struct record_options *options, struct error *error)
{
	const struct backend_vtable *last = record_backends[0];
	struct error why;
	size_t refused;
	for (size_t b = 0; record_backends[b]; b++)
		if (fits(record_backends[b], options, &why) == 0)
			last = record_backends[b];
	return accept(plan, last, options, &refused, error);
}

/* Measures user time in the place of CPU time if a backend then accepts all resources: each of them is measured somewhere, and only the
 * kernel's part of the time keeps them apart. Returns whether there is such a backend; the plan is unchanged if not. */
static bool accept_user_time(struct plan *plan, const struct record_options *options)
{
	struct resource_request user;
	struct error why;
	if (resource_parse("user", &user, &why) < 0)
		return false;
	for (size_t i = 0; i < plan->request.resource_count; i++) {
		struct resource_request cpu = plan->resources[i];
		if (cpu.counter != COUNTER_CPU)
			continue;
		for (size_t k = 0; k < plan->request.resource_count; k++)
			if (plan->resources[k].counter == user.counter)
				return false; /* both were requested */
		user.interval = cpu.interval;
		plan->resources[i] = user;
		plan->user_by_default = find_backend(plan, record_backends, options) != NULL;
		if (!plan->user_by_default)
			plan->resources[i] = cpu;
		return plan->user_by_default;
	}
	return false;
}

/* Reports that each resource has a backend, but that no backend measures all of them. */
static int explain_mixture(struct plan *plan, const struct record_options *options, struct error *error)
{
	char text[sizeof(error->message)] = "";
	for (size_t b = 0; record_backends[b]; b++) {
		size_t refused;
		struct error why;
		size_t used = strlen(text);
		if (accept(plan, record_backends[b], options, &refused, &why) < 0)
			snprintf(text + used, sizeof(text) - used, "; %s not by %s (%.*s)",
				 plan->resources[refused].name, record_backends[b]->name, reason_length(why.message),
				 reason_of(why.message));
	}
	return error_set(error, ERROR_UNSUPPORTED,
			 "no backend measures all of these resources (record them in two runs)%.*s", (int)sizeof(text),
			 text);
}

/* --- the plan --- */

int plan_make(struct plan *plan, const struct record_options *options, struct error *error)
{
	size_t refused;
	*plan = (struct plan){ 0 };
	memcpy(plan->resources, options->resources, sizeof(plan->resources));
	plan->request = (struct backend_request){
		.resources = plan->resources,
		.resource_count = options->resource_count,
		.processes = options->processes,
		.no_children = options->no_children,
		.everything = options->everything,
		.paused = options->paused,
		.experiments = options->director != NULL,
		.creations = true,
		.has_low_rate = options->has_low_rate,
	};
	for (size_t i = 0; i < plan->request.resource_count; i++)
		/* The names of all mappings describe the memory that faults touched. */
		plan->request.data_maps |= counter_is_fault(plan->resources[i].counter);
	if (options->backend) {
		const struct backend_vtable *forced = backend_find(options->backend, error);
		return forced ? accept(plan, forced, options, &refused, error) : error->code;
	}
	if (find_backend(plan, record_backends, options))
		return 0;
	if (options->resource_count == 0)
		return explain_default(plan, options, error);
	size_t unmeasured = refused_by_all(plan, options);
	if (unmeasured < plan->request.resource_count)
		return explain_resource(&plan->resources[unmeasured], options, error);
	return accept_user_time(plan, options) ? 0 : explain_mixture(plan, options, error);
}

bool plan_for_labels(struct plan *plan, const struct record_options *options)
{
	const struct backend_vtable *chosen = plan->vtable;
	struct error why;
	size_t refused;
	for (size_t b = 0; record_backends[b] && !options->backend && !chosen->has_labels; b++) {
		if (!record_backends[b]->has_labels || accept(plan, record_backends[b], options, &refused, &why) < 0)
			continue;
		snprintf(plan->passed_over, sizeof(plan->passed_over), "%s: the program sets labels", chosen->name);
		plan->for_labels = true;
		return true;
	}
	if (plan->vtable == chosen && !options->backend &&
	    !chosen->has_labels) /* others may have changed the request */
		accept(plan, chosen, options, &refused, &why);
	return chosen->has_labels;
}

bool plan_next(struct plan *plan, const struct record_options *options, const struct error *why)
{
	const struct backend_vtable *const *at = record_backends;
	if (plan->for_labels) {
		plan->for_labels = false;
		plan->passed_over[0] = 0;
		return find_backend(plan, record_backends, options) != NULL;
	}
	while (*at && *at != plan->vtable)
		at++;
	if (options->backend || !*at || (why->code != ERROR_PERMISSION && why->code != ERROR_UNSUPPORTED))
		return false;
	note_not_opened(plan, *at, why);
	return find_backend(plan, at + 1, options) != NULL;
}
