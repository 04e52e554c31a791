"""libcpprof-mpi.so: what a program uses of MPI, by call path; and recordings that mpirun starts."""
import os
import subprocess

import pytest
from cli_support import BUILD, CPPROF, REPOSITORY, done
from record_support import folded, hits

LIBRARY = BUILD / "src/collect/agent/libcpprof-mpi.so"
RESOURCES = ["-r", "own:mpi-bytes/1", "-r", "own:mpi-time/1", "-r", "own:mpi-wait/1"]
WAITS = {"MPI_Recv", "MPI_Sendrecv", "MPI_Waitall", "MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Gather", "MPI_Allgather",
	"MPI_Gatherv", "MPI_Scatterv", "MPI_Alltoallv", "MPI_Reduce"}
# {(function, function of MPI): bytes}, by rank; from tests/programs/mpi/messages.c
BOTH = {("swap", "MPI_Sendrecv"): 16, ("post", "MPI_Irecv"): 9, ("post", "MPI_Isend"): 7, ("all", "MPI_Allreduce"): 80, ("all", "MPI_Bcast"): 20,
	("all", "MPI_Allgather"): 4}
BYTES = [
	{("exchange", "MPI_Send"): 800, ("all", "MPI_Gather"): 24 + 2 * 24, ("parts", "MPI_Gatherv"): 1 + 4, ("parts", "MPI_Scatterv"): 4 + 1,
		("parts", "MPI_Alltoallv"): 4 + 2, ("parts", "MPI_Reduce"): 8, **BOTH},
	{("exchange", "MPI_Recv"): 800, ("all", "MPI_Gather"): 24, ("parts", "MPI_Gatherv"): 3, ("parts", "MPI_Scatterv"): 3, ("parts", "MPI_Alltoallv"): 4 + 6,
		("parts", "MPI_Reduce"): 8 + 8, **BOTH},
]

pytestmark = pytest.mark.needs("mpi")


def start(folder, ranks, *command, **environment):
	"""Runs a command as so many ranks, also as root and on fewer processors."""
	environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **environment}
	words = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader", "-n", ranks, *command]
	return subprocess.run([*map(str, words)], cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False)


@pytest.fixture(scope="module", params=["linked", "preloaded"], name="job")
def the_job(request, tmp_path_factory):
	"""The folder of the recordings of two ranks."""
	if not LIBRARY.exists():
		pytest.skip("there is no libcpprof-mpi.so: this build found no mpi.h (libopenmpi-dev)")
	folder = tmp_path_factory.mktemp("job")
	is_linked = request.param == "linked"
	libraries = [LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"] if is_linked else []
	subprocess.run(["mpicc", "-O2", "-g", "-o", folder / "messages", REPOSITORY / "tests/programs/mpi/messages.c", *libraries], check=True)
	result = start(folder, 2, *([] if is_linked else ["-x", f"LD_PRELOAD={LIBRARY}"]), CPPROF, "record", *RESOURCES, "-o", "job.%r.data", "--", "./messages")
	assert result.returncode == 0 and result.stderr.count(" 0 lost") == 2, result.stderr
	return folder


def calls(path, resource):
	"""{(function, function of MPI): amount}"""
	found = {}
	for frames, amount in folded(path, resource).items():
		last = next(at for at, name in enumerate(frames) if name.startswith("MPI_"))
		found[frames[last - 1:last + 1]] = found.get(frames[last - 1:last + 1], 0) + amount
	return found


@pytest.mark.parametrize("rank", [0, 1])
def test_bytes(job, rank):
	assert calls(job / f"job.{rank}.data", "own:mpi-bytes") == BYTES[rank]


@pytest.mark.parametrize("rank", [0, 1])
def test_times(job, rank):
	"""Each call has a time, and the waits among them all of it."""
	times, waits = (calls(job / f"job.{rank}.data", f"own:mpi-{kind}") for kind in ("time", "wait"))
	expected = {*BYTES[rank], ("post", "MPI_Waitall"), ("all", "MPI_Barrier"), ("parts", "MPI_Testany")}
	assert set(times) == expected and all(amount > 0 for amount in times.values())
	assert waits == {call: amount for call, amount in times.items() if call[1] in WAITS}
	assert hits(folded(job / f"job.{rank}.data", "own:mpi-time")) == sum(times.values())


def test_ranks(job):
	text = done("report", "--ranks", "--body", "-r", "own:mpi-bytes", "--threshold", 0, job / "job.0.data", job / "job.1.data")
	assert text.startswith("2 Ranks, Body Profile for resource: Own: mpi-bytes\n")
	assert " 0 400.0 800 0 MPI_Send [800]" in text and " 0 400.0 800 1 MPI_Recv [800]" in text


def test_without_a_recorder(job):
	result = start(job, 2, "./messages")
	assert result.returncode == 0, result.stderr


def test_the_grid(tmp_path):
	"""The example with MPI has the same imbalance as without it."""
	program = BUILD / "examples/grid_mpi"
	if not program.exists():
		pytest.skip("there is no grid_mpi: this build found no mpi.h (libopenmpi-dev)")
	result = start(tmp_path, 4, CPPROF, "record", "-r", "own:cells/1", "-r", "own:mpi-bytes/1", "-o", "job.%r.data", "--", program, 5)
	assert result.returncode == 0 and "5 sweeps" in result.stdout, result.stderr
	files = [tmp_path / f"job.{rank}.data" for rank in range(4)]
	text = done("report", "--ranks", "--body", "-r", "own:cells", *files)
	assert "0.2000 2.0000 ±" in text and " 15000 3 react_row [20000]" in text, text
	row = 102 * 8 # bytes; the ranks at the ends exchange two rows in each sweep, the others four
	text = done("report", "--ranks", "--body", "-r", "own:mpi-bytes", *files)
	assert f" {5 * 2 * row} {5 * 3 * row}.0 {5 * 4 * row} 1 MPI_Sendrecv [{5 * 12 * row}]" in text, text
