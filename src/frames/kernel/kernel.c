/* The provider of names for the kernel's functions, from a list of its symbols (frames/kernel/symbols.h). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "frames/kernel/symbols.h"
#include "frames/naming_answer.h"
#include "profile/module_name.h"

enum kernel_cause { KERNEL_UNREADABLE, KERNEL_NOT_WRITTEN };

static const struct frames_cause causes[] = {
	[KERNEL_UNREADABLE] = { .remedy = "record again where /proc/kallsyms can be read" },
	[KERNEL_NOT_WRITTEN] = { .remedy = "record again, and let the recorder end" },
};

static bool serves(const struct profile *profile, uint32_t module)
{
	return module_is_kernel_code(profile, module);
}

/* Address 0 is all of the kernel, and an address that no symbol contains is somewhere in it: "[kernel]". */
static int add_name(struct naming_answer *answer, const struct kernel_symbol *symbol, const struct buffer *names,
		    struct buffer *text)
{
	buffer_clear(text);
	if (symbol->length)
		buffer_append(text, names->bytes + symbol->at, symbol->length);
	else
		buffer_append(text, MODULE_NAME_KERNEL, strlen(MODULE_NAME_KERNEL));
	buffer_append_byte(text, 0);
	if (buffer_error(text) < 0)
		return buffer_error(text);
	return naming_answer_plain(answer, &(struct named_function){ .name = (const char *)text->bytes });
}

/* `fd` -1: only the name of all of the kernel is needed. */
static int name_all(const struct frames_request *request, int fd, struct naming_answer *answer)
{
	struct buffer names, text;
	buffer_init(&names);
	buffer_init(&text);
	uint64_t *addresses = malloc((request->count + 1) * sizeof(*addresses));
	struct kernel_symbol *found = calloc(request->count + 1, sizeof(*found));
	int status = addresses && found ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < request->count && status == 0; i++)
		addresses[i] = frames_request_address(request, i);
	if (status == 0 && fd >= 0)
		status = kernel_symbols_read(fd, addresses, request->count, found, &names);
	if (status == ERROR_SYSTEM) {
		error_set_errno(&answer->failure.detail, "cannot read the symbols of the kernel");
		answer->failure.cause = &causes[KERNEL_UNREADABLE];
		status = 0;
	} else {
		for (size_t i = 0; i < request->count && status == 0; i++)
			status = add_name(answer, &found[i], &names, &text);
	}
	free(addresses);
	free(found);
	buffer_release(&names);
	buffer_release(&text);
	return status;
}

static int name_module(const struct frames_request *request, struct naming_answer *answer)
{
	const struct frames_options *options = request->options; /* the jail sets open_module */
	bool is_whole = request->count == 1 && frames_request_address(request, 0) == 0;
	struct error why = { 0 };
	int fd = is_whole ? -1 : options->open_module(options->context, request->module, &why);
	if (fd < 0 && !is_whole) {
		enum kernel_cause cause = why.code == ERROR_TRUNCATED ? KERNEL_NOT_WRITTEN : KERNEL_UNREADABLE;
		answer->failure = (struct frames_failure){ &causes[cause], why };
		return 0;
	}
	int status = name_all(request, fd, answer);
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
