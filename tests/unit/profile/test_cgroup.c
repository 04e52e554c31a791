/* Which unit or container a control group belongs to, and patterns of groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/cgroup.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "01234567-89ab-cdef-0123-456789abcdef"
#define POD_SLICE "01234567_89ab_cdef_0123_456789abcdef"

static void owners_are_found(void **state)
{
	static const struct {
		const char *path, *name;
		enum cgroup_owner owner;
	} cases[] = {
		/* systemd */
		{ "/system.slice/nginx.service", "nginx", CGROUP_UNIT },
		{ "/system.slice/nginx.service/worker", "nginx", CGROUP_UNIT },
		{ "/system.slice/system-getty.slice/getty@tty1.service", "getty", CGROUP_UNIT },
		{ "/system.slice/foo@7.service", "foo", CGROUP_UNIT },
		{ "/system.slice/my\\x2dshop.service", "my-shop", CGROUP_UNIT },
		{ "/system.slice/odd\\x2.service", "odd\\x2", CGROUP_UNIT },
		{ "/system.slice/odd\\x00.service", "odd\\x00", CGROUP_UNIT },
		{ "/system.slice/app-server.service", "app-server", CGROUP_UNIT }, /* no desktop's */
		{ "/system.slice/run-report.service", "run-report", CGROUP_UNIT },
		{ "/system.slice/run-u12.service", "", CGROUP_NO_OWNER },
		{ "/system.slice/run-r0a1b2c3d.service", "", CGROUP_NO_OWNER },
		{ "/system.slice/run-p12-i13.service", "", CGROUP_NO_OWNER },
		{ "/system.slice", "", CGROUP_NO_OWNER },
		{ "/system.slice/@x.service", "", CGROUP_NO_OWNER },
		{ "/system.slice/.service", "", CGROUP_NO_OWNER },
		{ "/init.scope", "", CGROUP_NO_OWNER },
		/* users */
		{ "/user.slice/user-1000.slice/session-2.scope", "", CGROUP_NO_OWNER },
		{ "/user.slice/user-1000.slice/user@1000.service/init.scope", "", CGROUP_NO_OWNER },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-foo.service", "foo", CGROUP_UNIT },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service", "foo", CGROUP_UNIT },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-firefox-4711.scope", "firefox",
		  CGROUP_UNIT },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal-4711.scope",
		  "org.gnome.Terminal", CGROUP_UNIT },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-nm\\x2dapplet@autostart.service",
		  "nm-applet", CGROUP_UNIT },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-foo.scope", "foo", CGROUP_UNIT },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-.service", "app-", CGROUP_UNIT },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-@1.service", "app-", CGROUP_UNIT },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-x-.scope", "x", CGROUP_UNIT },
		/* containers */
		{ "/system.slice/docker-" ID ".scope", "0123456789ab", CGROUP_CONTAINER },
		{ "/docker/" ID, "0123456789ab", CGROUP_CONTAINER },
		{ "/machine.slice/libpod-" ID ".scope", "0123456789ab", CGROUP_CONTAINER },
		{ "/machine.slice/libpod-" ID ".scope/container", "0123456789ab", CGROUP_CONTAINER },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", "0123456789ab",
		  CGROUP_CONTAINER },
		{ "/docker/" ID "/docker/fedcba9876543210"
		  "0123456789abcdef0123456789abcdef0123456789abcdef",
		  "fedcba987654", CGROUP_CONTAINER },
		{ "/docker/" ID "/system.slice/nginx.service", "nginx", CGROUP_UNIT }, /* systemd in a container */
		{ "/docker/0" ID, "", CGROUP_NO_OWNER },
		{ "/docker/0123456789ab", "", CGROUP_NO_OWNER },
		{ "/docker/g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "", CGROUP_NO_OWNER },
		/* pods */
		{ "/kubepods/burstable/pod" POD "/" ID, "pod01234567-0123456789ab", CGROUP_CONTAINER },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_SLICE
		  ".slice/cri-containerd-" ID ".scope",
		  "pod01234567-0123456789ab", CGROUP_CONTAINER },
		{ "/system.slice/containerd.service/kubepods-pod" POD_SLICE ".slice:cri-containerd:" ID,
		  "pod01234567-0123456789ab", CGROUP_CONTAINER },
		{ "/kubepods/podinfo/" ID, "0123456789ab", CGROUP_CONTAINER },
		/* none */
		{ "/", "", CGROUP_NO_OWNER },
		{ "", "", CGROUP_NO_OWNER },
		{ "/../../x", "", CGROUP_NO_OWNER },
		{ "//", "", CGROUP_NO_OWNER },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[CGROUP_NAME_BYTES];
		enum cgroup_owner owner = cgroup_owner_find(cases[i].path, name);
		if (owner != cases[i].owner || strcmp(name, cases[i].name) != 0)
			print_error("%s: %d '%s'\n", cases[i].path, (int)owner, name);
		assert_int_equal(owner, cases[i].owner);
		assert_string_equal(name, cases[i].name);
	}
}

static void long_names_are_cut(void **state)
{
	(void)state;
	char path[1024], name[CGROUP_NAME_BYTES], letters[601];
	memset(letters, 'n', 600);
	letters[600] = 0;
	snprintf(path, sizeof(path), "/system.slice/%s.service", letters);
	assert_int_equal(cgroup_owner_find(path, name), CGROUP_UNIT);
	assert_int_equal(strlen(name), CGROUP_NAME_BYTES - 1);
}

static void groups_fit_patterns(void **state)
{
	(void)state;
	assert_true(cgroup_fits("/a/b/c", "/a/b"));
	assert_true(cgroup_fits("/a/b/c", "/a/b/"));
	assert_true(cgroup_fits("/a/b/c", "b"));
	assert_true(cgroup_fits("/a/b/c", "/"));
	assert_true(cgroup_fits("/a/docker-1.scope", "*docker*"));
	assert_true(cgroup_fits("/a/my\\x2dshop.service", "my\\x2dshop.service"));
	assert_false(cgroup_fits("/a/bc", "/a/b"));
	assert_false(cgroup_fits("/a/b", "/b"));
	assert_false(cgroup_fits("", "*"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_are_found),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(groups_fit_patterns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
