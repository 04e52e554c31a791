/*
 * Arbitrary bytes as the machine code that a page contains. Code that is read has ranges of the profile's modules, and each report gets
 * the range of an address, or a reason.
 * Built for libFuzzer, or with replay.c as a program that runs the stored corpus.
 */
#include <stdlib.h>

#include "ui/page/stored_code.h"

enum { MODULES = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void find(struct stored_code *stored, const struct profile *profile, uint32_t module)
{
	static const uint64_t addresses[] = { 0, 0x1000, 0x1001, UINT64_MAX };
	const size_t count = sizeof(addresses) / sizeof(*addresses);
	struct code_list list;
	struct error error = { 0 };
	if (code_list_init(&list) < 0)
		return;
	int status = stored_code_decode(stored, profile, module, addresses, count, &list, &error);
	require(status == 0 ? list.range_count > 0 : error.code == status && list.range_count == 0);
	for (size_t i = 0; i < count && status == 0; i++) {
		size_t range = code_list_range(&list, module, addresses[i]);
		require(range == SIZE_MAX || code_list_find(&list, module, addresses[i]) < list.count);
	}
	code_list_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { 0 };
	struct profile *profile = profile_new();
	if (!profile)
		return 0;
	for (int i = 0; i < MODULES; i++)
		profile_add_module(profile, &(struct profile_module){ .kind = MODULE_FILE });
	struct stored_code *stored = stored_code_read(profile, data, size, &error);
	require(stored || error.code < 0);
	for (uint32_t module = 0; stored && module < profile->module_count; module++)
		find(stored, profile, module);
	stored_code_free(stored);
	profile_free(profile);
	return 0;
}
