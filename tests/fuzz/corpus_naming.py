#!/usr/bin/env python3
"""Makes the corpora of fuzz_naming and fuzz_lines from one small library, compiled in several ways: whole files, and .debug_line
with its texts. Needs gcc, clang, objcopy, readelf and xz. Usage: corpus_naming.py [FOLDER]"""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = """
static inline __attribute__((always_inline)) int twice(int value)
{
	return 2 * value;
}
static __attribute__((noinline)) int local(int value)
{
	return value ? twice(value) + 1 : 0;
}
int exported(int value)
{
	return local(value) - 1;
}
"""
PLAIN = ["-O1", "-shared", "-fPIC", "-nostdlib", "-Wl,--build-id=none,-z,noseparate-code"]

# name: (compiler, flags)
WAYS = {
    "plain": ("gcc", []),
    "dwarf-5": ("gcc", ["-g"]),
    "dwarf-4": ("gcc", ["-gdwarf-4"]),
    "dwarf-3": ("gcc", ["-gdwarf-3", "-gstrict-dwarf"]),
    "dwarf-2": ("gcc", ["-gdwarf-2", "-gstrict-dwarf"]),
    "clang": ("clang", ["-g"]),
    "compressed": ("gcc", ["-g", "-gz=zlib"]),
    "sections": ("gcc", ["-g", "-ffunction-sections"]),
}


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


def section(path, name):
    """Returns a section's bytes, not compressed, or none."""
    with tempfile.NamedTemporaryFile() as out:
        run("objcopy", "--decompress-debug-sections", "-O", "binary", f"--only-section={name}", f"--set-section-flags={name}=alloc", path,
            out.name)
        return pathlib.Path(out.name).read_bytes()


def compile_all(folder):
    source = folder / "small.c"
    source.write_text(SOURCE)
    for name, (compiler, flags) in WAYS.items():
        run(compiler, *PLAIN, *flags, f"-ffile-prefix-map={folder}=.", "-o", folder / name, source)
        yield name, folder / name


def embed_symbols(folder, path):
    """Returns a file without symbols, which are in .gnu_debugdata instead."""
    symbols, out = folder / "symbols", folder / "debugdata"
    run("objcopy", "--only-keep-debug", "--strip-debug", path, symbols)
    run("xz", "-k", "-f", "--check=crc32", symbols)
    run("objcopy", "--strip-all", "--add-section", f".gnu_debugdata={symbols}.xz", path, out)
    return out


def main():
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus"
    naming, lines = target / "naming", target / "lines"
    for folder in (naming, lines):
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name, path in compile_all(folder):
            (naming / name).write_bytes(path.read_bytes())
            program = section(path, ".debug_line")
            if program:
                texts = section(path, ".debug_line_str") or section(path, ".debug_str")
                (lines / name).write_bytes(struct.pack("<H", len(texts)) + program + texts)
        out = embed_symbols(folder, folder / "plain")
        whole = out.read_bytes()
        (naming / out.name).write_bytes(whole)
        shown = subprocess.run(["readelf", "-SW", out], capture_output=True, text=True, check=True).stdout
        offset = int(re.search(r"\.gnu_debugdata\s+PROGBITS\s+\S+ (\S+)", shown)[1], 16)
        (naming / "debugdata-damaged").write_bytes(whole[:offset + 40] + b"\xff" * 8 + whole[offset + 48:])
        (naming / "cut").write_bytes(whole[:len(whole) // 2])


if __name__ == "__main__":
    main()
