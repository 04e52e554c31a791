#include "own_process.h"

#include <sys/uio.h>
#include <unistd.h>

#include "collect/sample/attach.h"

static int pretend_to_attach(struct backend *backend, pid_t pid, pid_t tid, bool on_exec, struct error *error)
{
	/* New at the first call and known at the second: this process has one thread. Threads of a sanitizer do
	 * not matter to the tests. */
	static pid_t watched;
	(void)backend, (void)pid, (void)on_exec, (void)error;
	int is_new = tid != watched;
	watched = is_new ? tid : 0;
	return is_new;
}

static bool pretend_to_drain(struct backend *backend, uint64_t until_ns, const struct backend_sink *backend_sink)
{
	(void)backend, (void)until_ns, (void)backend_sink;
	return false;
}

int own_process_sink(struct sample_sink *sink, struct error *error)
{
	static const struct backend_vtable pretender = { .name = "pretender",
							 .attach = pretend_to_attach,
							 .drain = pretend_to_drain };
	int result = sample_sink_init(sink, error);
	if (result < 0)
		return result;
	struct backend_sink backend_sink = sample_sink_for_backend(sink);
	result = attach_process(&pretender, NULL, getpid(), false, &backend_sink, error);
	if (result < 0)
		sample_sink_release(sink);
	return result;
}

struct unwind_frame own_process_frame(struct sample_sink *sink, uint64_t pc)
{
	uint32_t pid = (uint32_t)getpid();
	struct unwind_frame frame = { .pc = pc, .address = pc, .module = UINT32_MAX };
	struct thread *thread = processes_thread(sink->processes, pid, pid);
	struct unwind_module module;
	if (thread && processes_module_at(sink->processes, processes_of(sink->processes, thread), pc, &module) == 0) {
		frame.address = pc - module.bias;
		frame.module = module.id;
	}
	return frame;
}

size_t own_process_copy(uint64_t address, void *to, size_t size)
{
	struct iovec local = { .iov_base = to, .iov_len = size };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address,
				.iov_len = size }; /* NOLINT(performance-no-int-to-ptr) */
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	return got < 0 ? 0 : (size_t)got;
}
