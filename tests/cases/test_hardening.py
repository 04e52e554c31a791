"""The command and the libraries are built so that a defect in them is hard to use."""
import subprocess

import pytest
from cli_support import BUILD

PROGRAM = "src/cmd/cpprof"
LIBRARIES = sorted(str(path.relative_to(BUILD)) for path in BUILD.glob("src/**/*.so") if not path.is_symlink())


def read(option, path):
	return subprocess.run(["readelf", "-W", option, BUILD / path], check=True, capture_output=True, text=True).stdout


def test_libraries_were_built():
	assert LIBRARIES


@pytest.mark.parametrize("path", [PROGRAM, *LIBRARIES])
def test_addresses_are_read_only_after_the_start(path):
	headers = read("-l", path)
	assert "GNU_RELRO" in headers
	assert [line.split()[-2] for line in headers.splitlines() if "GNU_STACK" in line] == ["RW"]
	assert "NOW" in read("-d", path)


@pytest.mark.parametrize("path", [PROGRAM, *LIBRARIES])
def test_stacks_and_buffers_are_checked(path):
	"""The libraries run inside other programs, below any function: their buffers are not checked by libc's functions."""
	symbols = read("--dyn-syms", path)
	assert "__stack_chk_fail" in symbols or "__asan" in symbols
	if path == PROGRAM:
		assert "__snprintf_chk" in symbols or "__asan" in symbols
