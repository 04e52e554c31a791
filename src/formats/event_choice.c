#include "formats/event_choice.h"

static bool has_process(const struct format_input *input, uint32_t pid)
{
	const struct profile *profile = input->profile;
	if (!input->view.processes)
		return true;
	for (size_t i = 0; i < profile->process_count; i++)
		if (input->view.processes[i] && profile->processes[i].pid == pid)
			return true;
	return false;
}

bool event_is_chosen(const struct format_input *input, const struct event *event)
{
	const struct profile *profile = input->profile;
	if (!has_process(input, event->process))
		return false;
	if (input->view.thread == VIEW_ANY)
		return true;
	const struct profile_thread *thread = &profile->threads[input->view.thread];
	return thread->tid == event->thread && profile->processes[thread->process].pid == event->process;
}
