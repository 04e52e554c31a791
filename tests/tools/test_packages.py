"""Packages: the Debian package, the archive of the sources, and the removal of an installation."""
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CPPROF_BUILD", REPOSITORY / "build")).resolve()
MESON = "/usr/bin/meson"

needs_debian = pytest.mark.needs("dpkg-shlibdeps")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="not root")


def done(*command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout


def files_below(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


def needed_by(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", done("readelf", "-d", file))


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installation")
    done(MESON, "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", folder)
    return folder


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package that `make deb` makes, with the build under test as its own build."""
    folder = tmp_path_factory.mktemp("package")
    (folder / "deb").symlink_to(BUILD)
    name = done("make", "-s", "-C", REPOSITORY, "deb", f"BUILD={folder}").strip().splitlines()[-1]
    assert Path(name).parent == folder
    return Path(name)


@pytest.fixture(scope="module")
def unpacked(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    done("dpkg-deb", "-x", package, folder)
    return folder


@needs_debian
def test_make_deb_configures_for_debian(tmp_path):
    """The build of `make deb` installs into Debian's folders. It is configured here, and not compiled."""
    commands = done("make", "-n", "-C", REPOSITORY, "deb", f"BUILD={tmp_path}").replace("\\\n", " ").splitlines()
    setup, = [line for line in commands if " setup --prefix=" in line]
    done("sh", "-c", setup, cwd=REPOSITORY)
    installed = set(json.loads(done(MESON, "introspect", "--installed", tmp_path / "deb")).values())
    folder = "/usr/lib/" + done("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
    assert {"/usr/bin/cpprof", f"{folder}/libcpprof.so.0.1.0"} <= installed
    assert all(path.startswith("/usr/") and not path.startswith("/usr/local/") for path in installed), installed


def dependencies(package):
    """Returns the names of the packages that the package depends on."""
    field = done("dpkg-deb", "-f", package, "Depends")
    return {re.match(r"[a-z0-9.+-]+", part.strip()).group() for part in field.split(",")}


@needs_debian
def test_package_has_what_an_installation_has(installation, unpacked):
    """The package has each installed file. It adds the copyright, and compresses the manual pages."""
    expected = {file + (".gz" if "/man/man" in file else "") for file in files_below(installation)}
    assert files_below(unpacked) == expected | {"usr/share/doc/cpprof/copyright"}
    assert "Apache License" in (unpacked / "usr/share/doc/cpprof/copyright").read_text()


@needs_debian
def test_package_depends_on_every_needed_library(package, unpacked):
    """For each library that a program of the package needs, the package that has it is a dependency."""
    programs = [path for path in [*unpacked.rglob("bin/cpprof"), *unpacked.rglob("lib*.so*")] if not path.is_symlink()]
    needed = {library for program in programs for library in needed_by(program)} - {path.name for path in unpacked.rglob("lib*.so*")}
    assert {"libc.so.6", "libdw.so.1"} <= needed
    found = done("/sbin/ldconfig", "-p")
    owners = set()
    for library in needed:
        path = os.path.realpath(re.search(rf"^\s*{re.escape(library)} \(.*x86-64.*=> (.*)$", found, re.MULTILINE).group(1))
        owner = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True)
        if owner.returncode != 0:  # /usr/lib is /lib on merged systems, and dpkg has the other name
            owner = subprocess.run(["dpkg", "-S", path.removeprefix("/usr")], capture_output=True, text=True)
        owners.add(owner.stdout.split(":")[0])
    assert owners <= dependencies(package)


@needs_debian
def test_package_is_consistent(package, unpacked):
    """The control file has the version of the build, the checksums fit, all files are root's, and programs are stripped."""
    version = re.search(r"version: '(.*)'", (REPOSITORY / "meson.build").read_text()).group(1)
    assert done("dpkg-deb", "-f", package, "Package", "Version").split("\n")[:2] == ["Package: cpprof", f"Version: {version}"]
    control = unpacked.parent / "control"
    done("dpkg-deb", "-e", package, control)
    done("md5sum", "--check", "--quiet", control / "md5sums", cwd=unpacked)
    assert {line.split()[1] for line in done("dpkg-deb", "-c", package).splitlines()} == {"root/root"}
    program, = unpacked.rglob("bin/cpprof")
    assert ".symtab" not in done("readelf", "-SW", program)


@needs_debian
def test_unpacked_package_records(unpacked, tmp_path):
    program, = unpacked.rglob("bin/cpprof")
    for backend in ([], ["--backend", "preload"]):
        done(program, "record", *backend, "-o", tmp_path / "true.data", "true")
        assert "true" in done(program, "info", tmp_path / "true.data")


@needs_debian
@needs_root
def test_package_installs_with_dpkg(package, tmp_path):
    """dpkg installs and removes the package in a root of its own."""
    (tmp_path / "var/lib/dpkg/updates").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/info").mkdir()
    (tmp_path / "var/lib/dpkg/status").write_text("")
    dpkg = ["dpkg", f"--root={tmp_path}", "--force-depends"]
    done(*dpkg, "--install", package)
    assert "ii  cpprof" in done(*dpkg, "--list", "cpprof")
    assert list(tmp_path.rglob("bin/cpprof"))
    done(*dpkg, "--remove", "cpprof")
    assert not list(tmp_path.rglob("*cpprof*.so*")) and not list(tmp_path.rglob("bin/cpprof"))


def installed_closure(names):
    """Returns the packages of this machine that the named packages need, with these, as dpkg names them (libc6:amd64)."""
    fields = done("dpkg-query", "-W", "-f", "${Architecture}\t${Package}\t${binary:Package}\t${Provides}\t${Pre-Depends},${Depends}\n")
    architectures = {done("dpkg", "--print-architecture").strip(), "all"}
    needs, provider = {}, {}
    for line in fields.splitlines():
        architecture, name, package, provides, depends = line.split("\t")
        if architecture not in architectures:
            continue
        alternatives = [[re.match(r"[a-z0-9.+-]*", word.strip()).group() for word in part.split("|")] for part in depends.split(",") if part.strip()]
        needs[package] = alternatives
        for name in [name, *(word.strip().split(" ")[0] for word in provides.split(",") if word.strip())]:
            provider.setdefault(name, package)
    closure, waiting = set(), list(names)
    while waiting:
        package = provider[waiting.pop()]
        if package not in closure:
            closure.add(package)
            waiting += [next(name for name in alternatives if name in provider) for alternatives in needs[package]]
    return closure


def copy_packages(packages, root):
    """Makes a root that has only the files of these packages, and the folders of a merged /usr."""
    for folder in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "proc", "sys", "dev", "tmp"):
        (root / folder).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    for package in packages:
        for name in done("dpkg-query", "-L", package).splitlines():
            source = Path(name)
            if not name.startswith(("/usr/share/", "/etc/")) and source.exists() and (source.is_symlink() or not source.is_dir()):
                target = root / name.lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                if not target.is_symlink() and not target.exists():
                    shutil.copy2(source, target, follow_symlinks=False)


@needs_debian
@needs_root
@pytest.mark.parametrize("has_sys", [True, False])
def test_package_records_on_a_bare_system(package, tmp_path, has_sys):
    """In a root that has only the package, its dependencies and coreutils, `cpprof record true` works, also without /sys."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace is permitted here")
    root = tmp_path / "root"
    copy_packages(installed_closure(dependencies(package) | {"coreutils", "dash"}), root)
    done("dpkg-deb", "-x", package, tmp_path / "package")
    # dpkg-deb -x would replace the links of the merged /usr.
    shutil.copytree(tmp_path / "package", root, symlinks=True, dirs_exist_ok=True)
    with_sys = f"mount --rbind /sys {root}/sys &&" if has_sys else ""
    script = f"""mount -t proc proc {root}/proc && {with_sys} mount --rbind /dev {root}/dev &&
        chroot {root} /bin/sh -c 'export PATH=/usr/local/bin:/usr/bin; cd /tmp && cpprof record true && cpprof info && cpprof report'"""
    assert "true" in done("unshare", "--mount", "--propagation", "private", "sh", "-c", script, env={"PATH": os.environ.get("PATH", os.defpath)})


def test_uninstall_removes_what_was_installed(installation, tmp_path):
    """Afterwards no file of ours is left; a foreign file and its folder stay."""
    shutil.copytree(installation, tmp_path, symlinks=True, dirs_exist_ok=True)
    program, = tmp_path.rglob("bin/cpprof")
    foreign = [program.with_name("other"), program.parents[1] / "share/cpprof/examples/mine.c"]
    for file in foreign:
        file.write_text("mine")
    removed = subprocess.run([REPOSITORY / "tools/uninstall", BUILD], env={**os.environ, "DESTDIR": str(tmp_path)}, capture_output=True, text=True)
    assert removed.returncode == 0, removed.stderr
    assert files_below(tmp_path) == {file.relative_to(tmp_path).as_posix() for file in foreign}
    assert "share/cpprof/examples, which is not empty" in removed.stderr
    assert not list(tmp_path.rglob("doc/cpprof")) and not list(tmp_path.rglob("include/cpprof"))
    kept = {folder for file in foreign for folder in file.parents if tmp_path in folder.parents}
    assert {path for path in tmp_path.rglob("*") if path.is_dir()} == kept


@pytest.mark.long("configures a build")
def test_archive_has_the_sources_and_can_be_configured(tmp_path):
    """`make dist` archives all files of the commit; meson configures them without git and outside of this folder."""
    name = done("make", "-s", "-C", REPOSITORY, "dist", f"BUILD={tmp_path}").strip().splitlines()[-1]
    with tarfile.open(name) as archive:
        archive.extractall(tmp_path)
    folder = Path(name.removesuffix(".tar.gz"))
    tracked = set(done("git", "-C", REPOSITORY, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")) - {""}
    assert files_below(folder) == tracked
    done(MESON, "setup", "-Dtests=false", tmp_path / "configured", cwd=folder)


def test_help_lists_the_targets():
    shown = done("make", "-s", "-C", REPOSITORY, "help")
    phony = re.search(r"^\.PHONY: (.*)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE).group(1).split()
    for target in set(phony) - {"all", "setup", "help"}:
        assert re.search(rf"^make {target}\b", shown, re.MULTILINE), target
