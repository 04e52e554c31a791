#include "collect/sample/bpf/hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/sample/bpf/kernel_version.h"
#include "collect/sample/bpf/uprobes.h"

struct bpf_group *bpf_functions_add(struct bpf_functions *functions, const char *path, bool at_return)
{
	char *copy = strdup(path);
	if (!copy || ARRAY_RESERVE(functions->groups, functions->capacity, functions->count + 1) < 0) {
		free(copy);
		return NULL;
	}
	struct bpf_group *group = &functions->groups[functions->count++];
	*group = (struct bpf_group){ .path = copy, .at_return = at_return };
	return group;
}

/* Before Linux 6.10 a link for one process covers the calls of one thread only. */
bool bpf_functions_can_limit(void)
{
	return bpf_uprobes_can_group() && kernel_version_is_from(6, 10);
}

static int attach_group(struct bpf_functions *functions, int program_fd, const struct bpf_group *group,
			const uint64_t *cookies, pid_t pid)
{
	if (ARRAY_RESERVE(functions->links, functions->link_capacity, functions->link_count + 1) < 0)
		return ERROR_MEMORY;
	int link = bpf_uprobes_attach(program_fd, group->path, group->offsets, cookies, group->count, group->at_return,
				      pid);
	if (link < 0)
		return ERROR_SYSTEM;
	functions->links[functions->link_count++] = link;
	return 0;
}

int bpf_functions_attach(struct bpf_functions *functions, int program_fd, pid_t pid, struct error *error)
{
	functions->pid = pid;
	for (size_t i = 0; i < functions->count; i++) {
		const struct bpf_group *group = &functions->groups[i];
		int result = attach_group(functions, program_fd, group, group->cookies, pid);
		if (result == ERROR_MEMORY)
			return error_memory(error);
		if (result < 0)
			return error_set_errno(error, "cannot attach probes to functions in %s", group->path);
	}
	return 0;
}

int bpf_functions_widen(struct bpf_functions *functions, int program_fd,
			int (*add_probe)(void *context, uint64_t number, pid_t but_not, uint64_t *copy), void *context)
{
	pid_t first = functions->pid;
	int result = 0;
	functions->pid = 0;
	for (size_t i = 0; i < functions->count && first && result == 0; i++) {
		const struct bpf_group *group = &functions->groups[i];
		uint64_t cookies[BPF_GROUP_MAX];
		for (size_t j = 0; j < group->count && result == 0; j++)
			result = add_probe(context, group->cookies[j], first, &cookies[j]);
		if (result == 0)
			result = attach_group(functions, program_fd, group, cookies, 0);
	}
	return result;
}

void bpf_functions_release(struct bpf_functions *functions)
{
	for (size_t i = 0; i < functions->link_count; i++)
		close(functions->links[i]);
	for (size_t i = 0; i < functions->count; i++)
		free(functions->groups[i].path);
	free(functions->links);
	free(functions->groups);
	*functions = (struct bpf_functions){ 0 };
}
