/* SPDX-License-Identifier: MIT */
/* Compare the user and groups of a peer with those that are allowed. */
#include "rpc/server/unix_peer.h"

#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

/* groups of a peer that are looked at */
#define GROUPS_MOST 1024

/* (uid_t)-1 and (gid_t)-1 are no ids: system calls take them for "unchanged" */
#define ID_MOST (UINT32_MAX - 1)

static bool read_id(const char *text, uint32_t *out)
{
	char *end;
	const unsigned long long number = strtoull(text, &end, 10);

	*out = (uint32_t)number;
	/* strtoull() takes blanks and signs, too */
	return *text >= '0' && *text <= '9' && !*end && number <= ID_MOST;
}

/* Add the id @known of a name, or the number that the name is. @what: "user" or "group" */
static int add_id(uint32_t *ids, unsigned int *count, const char *name, const uint32_t *known,
		  const char *what)
{
	uint32_t id;

	if (*count == UNIX_PEERS_MOST)
		return tenon_error(-TENON_E_VALUE, "more than %d %ss", UNIX_PEERS_MOST, what);
	if (!known && !read_id(name, &id))
		return tenon_error(-TENON_E_VALUE,
				   "this machine has no %s %s (\"getent %s\" lists them), "
				   "and ids are numbers up to %" PRIu32,
				   what, name, strcmp(what, "user") ? "group" : "passwd", ID_MOST);
	ids[(*count)++] = known ? *known : id;
	return 0;
}

int unix_peers_add_user(struct unix_peers *p, const char *name)
{
	const struct passwd *user = getpwnam(name);

	return add_id(p->users, &p->user_count, name, user ? &user->pw_uid : NULL, "user");
}

int unix_peers_add_group(struct unix_peers *p, const char *name)
{
	const struct group *group = getgrnam(name);

	return add_id(p->groups, &p->group_count, name, group ? &group->gr_gid : NULL, "group");
}

static bool names_group(const struct unix_peers *p, gid_t group)
{
	unsigned int i;

	for (i = 0; i < p->group_count; i++)
		if (p->groups[i] == group)
			return true;
	return false;
}

static bool names_any_group(const struct unix_peers *p, int fd)
{
	gid_t groups[GROUPS_MOST];
	socklen_t size = sizeof(groups);
	size_t i;

	/* Linux 4.13 */
	if (!p->group_count || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
		return false;
	for (i = 0; i < size / sizeof(gid_t); i++)
		if (names_group(p, groups[i]))
			return true;
	return false;
}

bool unix_peer_allowed(const struct unix_peers *p, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int family;
	socklen_t family_size = sizeof(family);
	unsigned int i;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &family_size) || family != AF_UNIX)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return false;
	if (!peer.uid || peer.uid == geteuid())
		return true;
	for (i = 0; i < p->user_count; i++)
		if (p->users[i] == peer.uid)
			return true;
	return names_group(p, peer.gid) || names_any_group(p, fd);
}
