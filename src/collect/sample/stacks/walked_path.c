#include "collect/sample/stacks/walked_path.h"

static struct unwind_frame frame_at(const struct walked_path *path, uint64_t pc)
{
	struct unwind_frame frame = { .pc = pc, .address = pc, .module = UINT32_MAX };
	struct unwind_module module;
	if (processes_module_at(path->processes, path->process, pc, &module) == 0) {
		frame.address = pc - module.bias;
		frame.module = module.id;
	}
	return frame;
}

/* Adds the addresses [0, count), outermost last, and the frames that they interpret, below
 * `node`. Sets *unknown if one of them is in no module. */
static int64_t add_addresses(const struct walked_path *path, uint32_t node, const uint64_t *addresses, size_t count,
			     bool *unknown)
{
	uint32_t version = path->process->code_version;
	path->interpreted->left = path->interpreted->count;
	for (size_t i = count; i > 0; i--) {
		uint64_t pc = addresses[i - 1];
		uint32_t child = path_tree_follow(path->tree, node, pc, version);
		if (!child) {
			struct unwind_frame frame = frame_at(path, pc);
			bool known = frame.module != UINT32_MAX;
			*unknown |= !known;
			int64_t added = path_tree_add(path->tree, node, &frame, known ? version : 0);
			if (added < 0)
				return added;
			child = (uint32_t)added;
		}
		int64_t innermost = interpreted_add(path->interpreted, i - 1, child);
		if (innermost < 0)
			return innermost;
		node = (uint32_t)innermost;
	}
	return node;
}

int64_t walked_path_add_whole(const struct walked_path *path, const struct backend_sample *sample,
			      enum unwind_cause *cause)
{
	bool unknown = false;
	if (!unwind_cause_whole(*cause))
		return PROFILE_ROOT;
	int64_t node = add_addresses(path, path->base, sample->addresses, sample->address_count, &unknown);
	if (unknown)
		*cause = UNWIND_NO_MODULE;
	return node;
}

int64_t walked_path_add_broken(const struct walked_path *path, uint32_t node, const struct backend_sample *sample)
{
	size_t count = 0;
	bool unknown = false;
	while (!unknown && count < sample->address_count)
		unknown = frame_at(path, sample->addresses[count++]).module == UINT32_MAX;
	return add_addresses(path, node, sample->addresses, count, &unknown);
}
