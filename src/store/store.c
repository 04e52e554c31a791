#include "store/store.h"

#include <string.h>

#include "store/service_parts.h"

/* The first one is that of a plain path. */
static const struct store_kind *const kinds[] = { &store_sqlite, &store_clickhouse };

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), SCHEMES = sizeof(kinds[0]->schemes) / sizeof(kinds[0]->schemes[0]) };

/* Returns the kind with a scheme with which the text begins, or NULL. Sets *place behind "SCHEME://". */
static const struct store_kind *kind_of(const char *text, const char **place)
{
	static const char mark[] = "://";
	for (size_t i = 0; i < KINDS * SCHEMES; i++) {
		const struct store_kind *kind = kinds[i / SCHEMES];
		const char *scheme = kind->schemes[i % SCHEMES];
		size_t length = scheme ? strlen(scheme) : 0;
		if (length > 0 && strncmp(text, scheme, length) == 0 &&
		    strncmp(text + length, mark, sizeof(mark) - 1) == 0) {
			*place = text + length + sizeof(mark) - 1;
			return kind;
		}
	}
	return NULL;
}

bool store_is_url(const char *text)
{
	const char *place;
	return kind_of(text, &place) != NULL;
}

static const struct store_kind *find_kind(const char *url, const char **place, struct error *error)
{
	const struct store_kind *kind = kind_of(url, place);
	if (!kind && strstr(url, "://")) {
		error_set(error, ERROR_USAGE,
			  "'%s' is no URL of a store (sqlite:///PATH, a path, or http://HOST:8123/DATABASE)", url);
		return NULL;
	}
	if (!kind) {
		kind = kinds[0];
		*place = url;
	}
	if (!**place) {
		error_set(error, ERROR_USAGE, "'%s' has no path (sqlite:///PATH, http://HOST:8123/DATABASE)", url);
		return NULL;
	}
	return kind;
}

int store_create(const char *url, const struct store_settings *settings, struct error *error)
{
	const char *place;
	const struct store_kind *kind = find_kind(url, &place, error);
	return kind ? kind->create(url, place, settings, error) : ERROR_USAGE;
}

struct store *store_open(const char *url, enum store_mode mode, struct error *error)
{
	const char *place;
	const struct store_kind *kind = find_kind(url, &place, error);
	struct store *store = kind ? kind->open(url, place, mode, error) : NULL;
	if (store)
		store->kind = kind;
	return store;
}

void store_close(struct store *store)
{
	if (store)
		store->kind->close(store);
}

int64_t store_bucket_ns(const struct store *store)
{
	return store->kind->bucket_ns(store);
}

static int add_part(struct store *store, const struct service_parts *parts, uint32_t number, struct error *error)
{
	struct service_part part;
	int status = service_part_init(&part, parts, number);
	status = status < 0 ? error_memory(error) : store->kind->add(store, &part.recording, error);
	service_part_release(&part);
	return status;
}

static int add_parts(struct store *store, const struct store_recording *recording, struct error *error)
{
	struct service_parts parts;
	int added = 0, status = service_parts_init(&parts, recording);
	if (status < 0)
		error_memory(error);
	else
		status = 1;
	for (uint32_t number = 0; status > 0 && number < parts.count; number++) {
		status = add_part(store, &parts, number, error);
		added += status > 0;
	}
	service_parts_release(&parts);
	return status < 0 ? status : added;
}

int store_check(const struct store_recording *recording, struct error *error)
{
	if (recording->labels.count <= STORE_LABELS_MOST)
		return 0;
	return error_set(error, ERROR_LIMIT, "cannot add '%s': it has %zu labels, more than %d", recording->name,
			 recording->labels.count, STORE_LABELS_MOST);
}

int store_add(struct store *store, const struct store_recording *recording, struct error *error)
{
	int fits = store_check(recording, error);
	if (fits < 0)
		return fits;
	int there = store->kind->has(store, recording, error);
	if (there != 0)
		return there < 0 ? there : 0;
	int added =
		recording->services ? add_parts(store, recording, error) : store->kind->add(store, recording, error);
	int status = store->kind->end(store, added < 0 ? added : 0, error);
	return status < 0 ? status : added;
}

struct profile *store_select(struct store *store, const struct store_selection *selection, struct error *error)
{
	return store->kind->select(store, selection, error);
}

int store_stats(struct store *store, struct store_statistics *statistics, struct error *error)
{
	return store->kind->stats(store, statistics, error);
}

int store_prune(struct store *store, int64_t before_unix_ns, const char *service, uint64_t *removed,
		struct error *error)
{
	return store->kind->prune(store, before_unix_ns, service, removed, error);
}
