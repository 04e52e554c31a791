/*
 * A solver whose grid is divided among the ranks of a parallel job, with a planted imbalance: each rank has as many rows, but
 * the flame, whose cells also react, burns in the rows of the last ranks.
 *
 *     mpicc -DWITH_MPI -o grid grid.c -lcpprof-mpi -lcpprof
 *     mpirun -n 4 cpprof record -r own:cells/10000 -r own:mpi-wait/1 -r cpu -o job.%r.data ./grid
 *     examples/grid/run_ranks 4 cpprof record -r own:cells/10000 -r cpu -o job.%r.data build/examples/grid     without MPI
 *     cpprof report --ranks job.*.data
 *
 * Without MPI, each process solves its part alone, with as much work as in a job.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cpprof/runtime.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#define NOT_INLINED __attribute__((noinline))

enum { ROWS = 40, COLUMNS = 100, SWEEPS = 2000, REACTIONS = 30 };

/* The rows of one rank, between a row of each neighbour, and cells at the border of the grid. */
struct part {
	int rank, ranks;
	double cells[ROWS + 2][COLUMNS + 2];
};

static cpprof_counter *cells_done;

/* The flame is between 11/16 and 15/16 of all rows. */
static int is_burning(const struct part *part, int row)
{
	int rows = part->ranks * ROWS, position = part->rank * ROWS + row - 1;
	return position >= rows * 11 / 16 && position < rows * 15 / 16;
}

NOT_INLINED static void relax_row(struct part *part, int row)
{
	double(*cells)[COLUMNS + 2] = part->cells;
	for (int column = 1; column <= COLUMNS; column++)
		cells[row][column] = (cells[row - 1][column] + cells[row + 1][column] + cells[row][column - 1] +
				      cells[row][column + 1]) /
				     4;
	cpprof_tick(cells_done, COLUMNS);
}

NOT_INLINED static void react_row(struct part *part, int row)
{
	for (int column = 1; column <= COLUMNS; column++) {
		double heat = part->cells[row][column];
		for (int i = 0; i < REACTIONS; i++)
			heat += (1 - heat) / (REACTIONS + heat);
		part->cells[row][column] = heat;
	}
	cpprof_tick(cells_done, COLUMNS);
}

/* Gets the neighbours' rows beside this part. */
NOT_INLINED static void exchange_rows(struct part *part)
{
#ifdef WITH_MPI
	int above = part->rank > 0 ? part->rank - 1 : MPI_PROC_NULL;
	int below = part->rank + 1 < part->ranks ? part->rank + 1 : MPI_PROC_NULL;
	MPI_Sendrecv(part->cells[1], COLUMNS + 2, MPI_DOUBLE, above, 0, part->cells[ROWS + 1], COLUMNS + 2, MPI_DOUBLE,
		     below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(part->cells[ROWS], COLUMNS + 2, MPI_DOUBLE, below, 0, part->cells[0], COLUMNS + 2, MPI_DOUBLE,
		     above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
	(void)part;
#endif
}

NOT_INLINED static void solve(struct part *part, long sweeps)
{
	for (long sweep = 0; sweep < sweeps; sweep++) {
		for (int row = 1; row <= ROWS; row++)
			relax_row(part, row);
		for (int row = 1; row <= ROWS; row++)
			if (is_burning(part, row))
				react_row(part, row);
		exchange_rows(part);
	}
}

static void join_job(struct part *part, int *argc, char ***argv)
{
#ifdef WITH_MPI
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &part->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &part->ranks);
#else
	const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *ranks = getenv("OMPI_COMM_WORLD_SIZE");
	(void)argc, (void)argv;
	part->rank = rank ? (int)strtol(rank, NULL, 10) : 0;
	part->ranks = ranks ? (int)strtol(ranks, NULL, 10) : 1;
#endif
}

static void leave_job(void)
{
#ifdef WITH_MPI
	MPI_Finalize();
#endif
}

int main(int argc, char **argv)
{
	static struct part part;
	join_job(&part, &argc, &argv);
	long sweeps = argc > 1 ? strtol(argv[1], NULL, 10) : SWEEPS;
	cells_done = cpprof_resource("cells", "cell");
	for (int column = 0; column < COLUMNS + 2; column++)
		part.cells[0][column] = 1;
	solve(&part, sweeps);
	leave_job();
	if (part.rank == 0)
		printf("%ld sweeps, %g in the first cell\n", sweeps, part.cells[1][1]);
	return 0;
}
