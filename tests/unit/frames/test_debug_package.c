/* The package with the debug symbols of a file, and the distribution's server: by small systems in a folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frames/debug_package.h"
#include "support/symbols_lab.h"

/* Makes a system with this /etc/os-release, two packages of libraries, and things that are no lists. */
static void make_system(const char *release)
{
	lab_run("rm -rf root; mkdir -p root/etc root/var/lib/dpkg/info && cd root && printf '%s' > etc/os-release",
		release);
	lab_run("cd root/var/lib/dpkg/info && printf '/.\\n/lib/libc.so.6\\n/usr/share/doc/libc6' > libc6:amd64.list "
		"&& "
		"printf '/usr/lib/libz.so.1.2\\n/usr/lib/libz.so.1\\n' > zlib1g:amd64.list && "
		"printf '/usr/bin/tool\\n' > tool.list && printf '/usr/bin/other\\n' > other.md5sums && mkfifo "
		"pipe.list");
}

static struct debug_package find(const char *path)
{
	struct debug_package package;
	char root[256];
	snprintf(root, sizeof(root), "%s", lab_path("root"));
	debug_package_find(root, path, &package);
	return package;
}

static void files_of_packages(void **state)
{
	(void)state;
	static const struct {
		const char *path, *package;
	} rows[] = {
		{ "/usr/lib/libz.so.1", "zlib1g-dbgsym" },
		{ "/usr/lib/libz.so.1.2", "zlib1g-dbgsym" },
		{ "/lib/libz.so.1", "zlib1g-dbgsym" }, /* before and after /lib became a link to /usr/lib */
		{ "/usr/lib/libc.so.6", "libc6-dbg" },
		{ "/lib/libc.so.6", "libc6-dbg" },
		{ "/usr/bin/tool", "tool-dbgsym" },
		{ "/usr/bin/to", "" },
		{ "/usr/bin/tool2", "" },
		{ "/bin/libz.so.1", "" },
		{ "/usr/bin/other", "" },
		{ "lib/libz.so.1", "" },
	};
	make_system("NAME=x\nID=debian\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct debug_package package = find(rows[i].path);
		assert_string_equal(package.name, rows[i].package);
		assert_int_equal(package.is_searched, rows[i].path[0] == '/');
		assert_string_equal(package.server, "https://debuginfod.debian.net");
	}
}

static void distributions(void **state)
{
	(void)state;
	static const struct {
		const char *release, *server;
		bool has_dpkg;
	} rows[] = {
		{ "ID=debian\n", "https://debuginfod.debian.net", true },
		{ "ID=\"ubuntu\"\nID_LIKE=debian", "https://debuginfod.ubuntu.com", true },
		{ "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "https://debuginfod.ubuntu.com", true },
		{ "VERSION_ID=12\nID=fedora\n", "https://debuginfod.fedoraproject.org/", false },
		{ "ID=opensuse-tumbleweed\nID_LIKE=\"opensuse suse\"\n", "https://debuginfod.opensuse.org/", false },
		{ "ID=\n", "https://debuginfod.elfutils.org/", false },
		{ "ID=debianlike\nID_LIKE=", "https://debuginfod.elfutils.org/", false },
		{ "", "https://debuginfod.elfutils.org/", false },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_system(rows[i].release);
		struct debug_package package = find("/usr/lib/libz.so.1");
		assert_string_equal(package.server, rows[i].server);
		assert_int_equal(package.name[0] != 0, rows[i].has_dpkg);
	}
}

/* Without a database, nothing is known: the file may be of a package. */
static void without_files(void **state)
{
	(void)state;
	make_system("ID=debian\n");
	lab_run("rm -rf root/var; mkdir -p root/usr/lib; mv root/etc/os-release root/usr/lib");
	struct debug_package package = find("/usr/lib/libz.so.1");
	assert_string_equal(package.name, "");
	assert_false(package.is_searched);
	assert_string_equal(package.server, "https://debuginfod.debian.net");
	lab_run("mkdir -p root/var/lib/dpkg/info");
	assert_false(find("/usr/lib/libz.so.1").is_searched);
	lab_run("rm -rf root");
	assert_string_equal(find("/usr/lib/libz.so.1").server, "https://debuginfod.elfutils.org/");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_packages),
		cmocka_unit_test(distributions),
		cmocka_unit_test(without_files),
	};
	return cmocka_run_group_tests_name("debug_package", tests, lab_setup, lab_teardown);
}
