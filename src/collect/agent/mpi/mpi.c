/*
 * libcpprof-mpi: what a program uses of MPI, as resources of the program itself (cpprof/runtime.h), by call path:
 *
 *   own:mpi-time    ns in MPI's functions
 *   own:mpi-wait    ns of them in functions that return when other ranks have done their part
 *   own:mpi-bytes   bytes of the data that this rank sends and receives
 *
 * The MPI library has each function under a second name, PMPI_..., so that a library in front of it can define the first one (MPI 4.0, section 15.2).
 * The program is linked with this library (-lcpprof-mpi), or it is preloaded. A function that is not here is MPI's own, and is not measured.
 *
 * The functions here keep no state, so that any thread may call them.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <cpprof/runtime.h>

#define EXPORTED __attribute__((visibility("default")))
/* The frame of MPI's function is the innermost one of the path. */
#define INLINED __attribute__((always_inline, artificial)) static inline

static cpprof_counter *time_used, *time_waited, *bytes_moved;

__attribute__((constructor)) static void declare(void)
{
	time_used = cpprof_resource("mpi-time", "ns");
	time_waited = cpprof_resource("mpi-wait", "ns");
	bytes_moved = cpprof_resource("mpi-bytes", "byte");
}

/* --- times --- */

/* Returns the time at which a call begins, or 0 if no time is measured. */
INLINED uint64_t begin(void)
{
	enum { NS_PER_S = 1000000000 };
	struct timespec now;
	if (!CPPROF_IS_MEASURED(time_used) && !CPPROF_IS_MEASURED(time_waited))
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

INLINED void end(uint64_t began, bool waits)
{
	uint64_t now = began ? begin() : 0;
	if (now <= began) /* nothing is measured now, or was */
		return;
	cpprof_tick(time_used, now - began);
	if (waits)
		cpprof_tick(time_waited, now - began);
}

/* --- bytes --- */

static uint64_t bytes_of(int count, MPI_Datatype type)
{
	int size = 0;
	return count > 0 && PMPI_Type_size(type, &size) == MPI_SUCCESS && size > 0 ? (uint64_t)count * (uint64_t)size
										   : 0;
}

/* The same of a part for each of the ranks. */
static uint64_t bytes_of_parts(const int *counts, MPI_Datatype type, int ranks)
{
	uint64_t sum = 0;
	for (int i = 0; i < ranks; i++)
		sum += bytes_of(counts[i], type);
	return sum;
}

/* Data that is in place is not sent. */
static uint64_t bytes_sent(const void *buffer, int count, MPI_Datatype type)
{
	return buffer == MPI_IN_PLACE ? 0 : bytes_of(count, type);
}

/* Returns the bytes of a message that was received. */
static uint64_t bytes_received(const MPI_Status *status, MPI_Datatype type)
{
	int count = 0;
	if (PMPI_Get_count(status, type, &count) != MPI_SUCCESS || count == MPI_UNDEFINED)
		return 0;
	return bytes_of(count, type);
}

/* Returns the ranks with which a rank exchanges data in a communicator: the other ones of an intercommunicator. */
static int ranks_of(MPI_Comm comm)
{
	int count = 0, is_inter = 0;
	PMPI_Comm_test_inter(comm, &is_inter);
	if (is_inter)
		PMPI_Comm_remote_size(comm, &count);
	else
		PMPI_Comm_size(comm, &count);
	return count;
}

/* Returns whether the arguments of a call with a root have their usual meaning. In an intercommunicator most of them have none on some ranks, and
 * such calls count no bytes. */
static bool is_intra(MPI_Comm comm)
{
	int is_inter = 0;
	return PMPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && !is_inter;
}

static bool is_root(int root, MPI_Comm comm)
{
	int rank = MPI_PROC_NULL;
	return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

/* Returns the bytes of the root's parts for all ranks. Their arguments have no meaning on other ranks. */
static uint64_t bytes_at_root(int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	return is_root(root, comm) ? (uint64_t)ranks_of(comm) * bytes_of(count, type) : 0;
}

INLINED void count_bytes(uint64_t bytes)
{
	if (bytes > 0)
		cpprof_tick(bytes_moved, bytes);
}

/* --- calls --- */

/* Defines a function. `waits`: whether it returns when other ranks have done their part. `moved`: its bytes, if it succeeds. */
#define CALL(name, waits, moved, parameters, ...)                             \
	EXPORTED int MPI_##name parameters                                    \
	{                                                                     \
		uint64_t began = begin();                                     \
		int result = PMPI_##name(__VA_ARGS__);                        \
		end(began, waits);                                            \
		if (CPPROF_IS_MEASURED(bytes_moved) && result == MPI_SUCCESS) \
			count_bytes(moved);                                   \
		return result;                                                \
	}

/* Messages that are sent. The receiver may be MPI_PROC_NULL, which takes none. */
#define SENT (to == MPI_PROC_NULL ? 0 : bytes_of(count, type))
#define SEND_PARAMETERS const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm
CALL(Send, false, SENT, (SEND_PARAMETERS), buffer, count, type, to, tag, comm)
CALL(Bsend, false, SENT, (SEND_PARAMETERS), buffer, count, type, to, tag, comm)
CALL(Rsend, false, SENT, (SEND_PARAMETERS), buffer, count, type, to, tag, comm)
CALL(Ssend, true, SENT, (SEND_PARAMETERS), buffer, count, type, to, tag, comm)
CALL(Isend, false, SENT, (SEND_PARAMETERS, MPI_Request *request), buffer, count, type, to, tag, comm, request)
CALL(Ibsend, false, SENT, (SEND_PARAMETERS, MPI_Request *request), buffer, count, type, to, tag, comm, request)
CALL(Irsend, false, SENT, (SEND_PARAMETERS, MPI_Request *request), buffer, count, type, to, tag, comm, request)
CALL(Issend, false, SENT, (SEND_PARAMETERS, MPI_Request *request), buffer, count, type, to, tag, comm, request)

/* Messages that are received: a status states their size. */
#define RECEIVES(name, sent, parameters, ...)                                        \
	EXPORTED int MPI_##name parameters                                           \
	{                                                                            \
		MPI_Status own, *used = status == MPI_STATUS_IGNORE ? &own : status; \
		uint64_t began = begin();                                            \
		int result = PMPI_##name(__VA_ARGS__, used);                         \
		end(began, true);                                                    \
		if (CPPROF_IS_MEASURED(bytes_moved) && result == MPI_SUCCESS)        \
			count_bytes((sent) + bytes_received(used, type_received));   \
		return result;                                                       \
	}

RECEIVES(Recv, 0,
	 (void *buffer, int count, MPI_Datatype type_received, int from, int tag, MPI_Comm comm, MPI_Status *status),
	 buffer, count, type_received, from, tag, comm)
/* NOLINTNEXTLINE(readability-function-size): the parameters are MPI's */
RECEIVES(Sendrecv, to == MPI_PROC_NULL ? 0 : bytes_of(sent_count, type_sent),
	 (const void *sent_buffer, int sent_count, MPI_Datatype type_sent, int to, int sent_tag, void *buffer,
	  int count, MPI_Datatype type_received, int from, int tag, MPI_Comm comm, MPI_Status *status),
	 sent_buffer, sent_count, type_sent, to, sent_tag, buffer, count, type_received, from, tag, comm)
RECEIVES(Sendrecv_replace, to == MPI_PROC_NULL ? 0 : bytes_of(count, type_received),
	 (void *buffer, int count, MPI_Datatype type_received, int to, int sent_tag, int from, int tag, MPI_Comm comm,
	  MPI_Status *status),
	 buffer, count, type_received, to, sent_tag, from, tag, comm)

/* The size of what arrives later is not known: it counts as the room for it. */
CALL(Irecv, false, from == MPI_PROC_NULL ? 0 : bytes_of(count, type),
     (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request), buffer,
     count, type, from, tag, comm, request)

/* Waits and tests */
CALL(Wait, true, 0, (MPI_Request * request, MPI_Status *status), request, status)
CALL(Waitall, true, 0, (int count, MPI_Request requests[], MPI_Status statuses[]), count, requests, statuses)
CALL(Waitany, true, 0, (int count, MPI_Request requests[], int *index, MPI_Status *status), count, requests, index,
     status)
CALL(Waitsome, true, 0, (int count, MPI_Request requests[], int *done, int indexes[], MPI_Status statuses[]), count,
     requests, done, indexes, statuses)
CALL(Probe, true, 0, (int from, int tag, MPI_Comm comm, MPI_Status *status), from, tag, comm, status)
CALL(Test, false, 0, (MPI_Request * request, int *flag, MPI_Status *status), request, flag, status)
CALL(Testall, false, 0, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]), count, requests, flag,
     statuses)
CALL(Testany, false, 0, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status), count, requests,
     index, flag, status)
CALL(Testsome, false, 0, (int count, MPI_Request requests[], int *done, int indexes[], MPI_Status statuses[]), count,
     requests, done, indexes, statuses)
CALL(Iprobe, false, 0, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status), from, tag, comm, flag, status)

/* Collective calls. Some arguments have a meaning at the root only. */
CALL(Barrier, true, 0, (MPI_Comm comm), comm)
CALL(Bcast, true, is_intra(comm) ? bytes_of(count, type) : 0,
     (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm), buffer, count, type, root, comm)
CALL(Reduce, true,
     is_intra(comm) ? bytes_sent(from, count, type) + (is_root(root, comm) ? bytes_of(count, type) : 0) : 0,
     (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm), from, to, count,
     type, op, root, comm)
CALL(Allreduce, true, bytes_sent(from, count, type) + bytes_of(count, type),
     (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), from, to, count, type, op,
     comm)
CALL(Exscan, true, bytes_sent(from, count, type) + bytes_of(count, type),
     (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), from, to, count, type, op,
     comm)
CALL(Scan, true, bytes_sent(from, count, type) + bytes_of(count, type),
     (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), from, to, count, type, op,
     comm)

#define PARTS_PARAMETERS \
	const void *from, int sent, MPI_Datatype type_sent, void *to, int received, MPI_Datatype type_received
#define PARTS from, sent, type_sent, to, received, type_received
CALL(Gather, true,
     is_intra(comm) ? bytes_sent(from, sent, type_sent) + bytes_at_root(received, type_received, root, comm) : 0,
     (PARTS_PARAMETERS, int root, MPI_Comm comm), PARTS, root, comm)
CALL(Scatter, true,
     is_intra(comm) ? bytes_sent(to, received, type_received) + bytes_at_root(sent, type_sent, root, comm) : 0,
     (PARTS_PARAMETERS, int root, MPI_Comm comm), PARTS, root, comm)
CALL(Allgather, true, bytes_sent(from, sent, type_sent) + (uint64_t)ranks_of(comm) * bytes_of(received, type_received),
     (PARTS_PARAMETERS, MPI_Comm comm), PARTS, comm)
CALL(Alltoall, true, (uint64_t)ranks_of(comm) * (bytes_sent(from, sent, type_sent) + bytes_of(received, type_received)),
     (PARTS_PARAMETERS, MPI_Comm comm), PARTS, comm)
CALL(Gatherv, true,
     is_intra(comm) ? bytes_sent(from, sent, type_sent) +
			      (is_root(root, comm) ? bytes_of_parts(received, type_received, ranks_of(comm)) : 0)
		    : 0,
     (const void *from, int sent, MPI_Datatype type_sent, void *to, const int received[], const int places[],
      MPI_Datatype type_received, int root, MPI_Comm comm),
     from, sent, type_sent, to, received, places, type_received, root, comm)
CALL(Scatterv, true,
     is_intra(comm) ? bytes_sent(to, received, type_received) +
			      (is_root(root, comm) ? bytes_of_parts(sent, type_sent, ranks_of(comm)) : 0)
		    : 0,
     (const void *from, const int sent[], const int places[], MPI_Datatype type_sent, void *to, int received,
      MPI_Datatype type_received, int root, MPI_Comm comm),
     from, sent, places, type_sent, to, received, type_received, root, comm)
CALL(Allgatherv, true, bytes_sent(from, sent, type_sent) + bytes_of_parts(received, type_received, ranks_of(comm)),
     (const void *from, int sent, MPI_Datatype type_sent, void *to, const int received[], const int places[],
      MPI_Datatype type_received, MPI_Comm comm),
     from, sent, type_sent, to, received, places, type_received, comm)
CALL(Alltoallv, true,
     (from == MPI_IN_PLACE ? 0 : bytes_of_parts(sent, type_sent, ranks_of(comm))) +
	     bytes_of_parts(received, type_received, ranks_of(comm)),
     (const void *from, const int sent[], const int sent_places[], MPI_Datatype type_sent, void *to,
      const int received[], const int places[], MPI_Datatype type_received, MPI_Comm comm),
     from, sent, sent_places, type_sent, to, received, places, type_received, comm)
