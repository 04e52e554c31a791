/* Two ranks that send each other known amounts of data, on known paths. */
#include <mpi.h>
#include <stddef.h>

#define NOINLINE __attribute__((noinline))

enum { ROOM = 200 };

static double numbers[ROOM];
static int words[ROOM];
static char letters[ROOM];
static int rank;

/* 800 bytes, into more room */
NOINLINE static void exchange(void)
{
	if (rank == 0)
		MPI_Send(numbers, 100, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
	else
		MPI_Recv(numbers, ROOM, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* 8 bytes to the other rank, and 8 from there */
NOINLINE static void swap(void)
{
	MPI_Status status;
	MPI_Sendrecv(numbers, 1, MPI_DOUBLE, 1 - rank, 6, words, ROOM, MPI_INT, 1 - rank, 6, MPI_COMM_WORLD, &status);
}

/* 7 bytes, into room for 9; nothing to nobody */
NOINLINE static void post(void)
{
	MPI_Request requests[3];
	MPI_Irecv(letters, 9, MPI_CHAR, 1 - rank, 7, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(letters + 9, 7, MPI_CHAR, 1 - rank, 7, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(letters + 9, 7, MPI_CHAR, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &requests[2]);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

/* 40 bytes there and 40 back; 20 bytes from rank 1; 24 bytes to rank 0, which sends them to itself too; 4 bytes, of 2 in place */
NOINLINE static void all(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Allreduce(words, words + 100, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Bcast(words, 5, MPI_INT, 1, MPI_COMM_WORLD);
	MPI_Gather(numbers, 3, MPI_DOUBLE, numbers + 100, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, letters, 2, MPI_CHAR, MPI_COMM_WORLD);
}

/* Rank 0 has 1 and rank 1 has 3 letters, as parts of 4; the arguments of the root have no meaning on rank 1. */
NOINLINE static void parts(void)
{
	static const int counts[] = { 1, 3 }, places[] = { 0, 1 };
	const int *at_root = rank == 0 ? counts : NULL;
	MPI_Datatype type = rank == 0 ? MPI_CHAR : MPI_DATATYPE_NULL;
	int index, flag;
	MPI_Gatherv(letters, counts[rank], MPI_CHAR, letters + 100, at_root, places, type, 0, MPI_COMM_WORLD);
	MPI_Scatterv(letters + 100, at_root, places, type, letters, counts[rank], MPI_CHAR, 0, MPI_COMM_WORLD);
	MPI_Alltoallv(letters, counts, places, MPI_CHAR, letters + 100, rank == 0 ? (int[]){ 1, 1 } : (int[]){ 3, 3 },
		      (int[]){ 0, 9 }, MPI_CHAR, MPI_COMM_WORLD);
	MPI_Reduce(words, words + 100, 2, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
	MPI_Testany(0, NULL, &index, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int ranks;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks != 2)
		MPI_Abort(MPI_COMM_WORLD, 1);
	exchange();
	swap();
	post();
	all();
	parts();
	MPI_Finalize();
	return 0;
}
