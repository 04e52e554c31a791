#include "frames/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "frames/kernel/symbols.h"
#include "profile/module_name.h"

enum kernel_cause { KERNEL_UNREADABLE };

static const struct frames_cause causes[] = {
	[KERNEL_UNREADABLE] = { .remedy = "record again where /proc/kallsyms can be read" },
};

static bool serves(const struct profile *profile, uint32_t module)
{
	return module_is_kernel_code(profile, module);
}

/* Address 0 is all of the kernel, and an address that no symbol contains is somewhere in it: "[kernel]". */
static int set_name(struct frames_naming *naming, uint32_t module, uint32_t location,
		    const struct kernel_symbol *symbol, const struct buffer *names, struct buffer *text)
{
	buffer_clear(text);
	if (symbol->length)
		buffer_append(text, names->bytes + symbol->at, symbol->length);
	else
		buffer_append(text, MODULE_NAME_KERNEL, strlen(MODULE_NAME_KERNEL));
	buffer_append_byte(text, 0);
	if (buffer_error(text) < 0)
		return buffer_error(text);
	const struct function_identity identity = { .name = (const char *)text->bytes, .module = module };
	return frames_set_plain(naming, location, FRAME_KERNEL, &identity);
}

/* `fd` -1: only the name of all of the kernel is needed. */
static int name_all(struct frames_naming *naming, uint32_t module, const uint32_t *locations, size_t count, int fd,
		    struct frames_failure *failure)
{
	struct buffer names, text;
	buffer_init(&names);
	buffer_init(&text);
	uint64_t *addresses = malloc((count + 1) * sizeof(*addresses));
	struct kernel_symbol *found = malloc((count + 1) * sizeof(*found));
	int status = addresses && found ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < count && status == 0; i++)
		addresses[i] = naming->profile->locations[locations[i]].address;
	if (status == 0 && fd < 0)
		memset(found, 0, count * sizeof(*found));
	else if (status == 0)
		status = kernel_symbols_read(fd, addresses, count, found, &names);
	if (status == ERROR_SYSTEM) {
		error_set_errno(&failure->detail, "cannot read the symbols of the kernel");
		failure->cause = &causes[KERNEL_UNREADABLE];
		status = 0;
	} else {
		for (size_t i = 0; i < count && status == 0; i++)
			status = set_name(naming, module, locations[i], &found[i], &names, &text);
		naming->progress.done += count;
	}
	free(addresses);
	free(found);
	buffer_release(&names);
	buffer_release(&text);
	return status;
}

static int name_module(struct frames_naming *naming, uint32_t module, const uint32_t *locations, size_t count,
		       struct frames_failure *failure)
{
	const struct frames_options *options = naming->options; /* the jail sets open_module */
	bool is_whole = count == 1 && naming->profile->locations[locations[0]].address == 0;
	struct error why = { 0 };
	int fd = is_whole ? -1 : options->open_module(options->context, module, &why);
	if (fd < 0 && !is_whole) {
		failure->detail = why;
		failure->cause = &causes[KERNEL_UNREADABLE];
		return 0;
	}
	int status = name_all(naming, module, locations, count, fd, failure);
	if (fd >= 0)
		close(fd);
	return status;
}

const struct frames_provider kernel_provider = {
	.kind = FRAME_KERNEL,
	.causes = causes,
	.cause_count = sizeof(causes) / sizeof(causes[0]),
	.serves = serves,
	.name_module = name_module,
};
