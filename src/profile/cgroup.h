/*
 * Paths of control groups, as in profile_process.cgroup: "/system.slice/nginx.service". systemd and the engines of containers name
 * groups by what runs in them.
 */
#ifndef PROFILE_CGROUP_H
#define PROFILE_CGROUP_H

#include <stdbool.h>

/* Returns whether the path or a leading part of it, from any of its components on, equals the pattern or matches it (fnmatch); a pattern
 * with a leading '/' is compared from the root on. An empty path fits nothing. */
bool cgroup_fits(const char *path, const char *pattern);

enum cgroup_owner { CGROUP_NO_OWNER, CGROUP_UNIT, CGROUP_CONTAINER };

enum { CGROUP_NAME_BYTES = 256 };

/*
 * Finds the unit of systemd or the container that a group belongs to: the innermost component of the path that names one. Writes its
 * name into `name` [CGROUP_NAME_BYTES], "" if there is none.
 *
 *   unit        a service without its suffix and instance: "nginx.service" is nginx, "getty@tty1.service" is getty; an application of a
 *               desktop by its own name: "app-gnome-firefox-4711.scope" is firefox. Other scopes (sessions), the managers of users
 *               (user@1000.service) and units with numbers for names (run-u7.service) are none
 *   container   the first 12 digits of its id of 64: "docker-0123456789ab....scope"; in a pod of Kubernetes behind the first 8 digits of
 *               the pod's id: "pod01234567-0123456789ab"
 */
enum cgroup_owner cgroup_owner_find(const char *path, char *name);

#endif
