/* SPDX-License-Identifier: MIT */
/* Who is at the other end of a Unix socket: the kernel says so. */
#ifndef RPC_SERVER_UNIX_PEER_H
#define RPC_SERVER_UNIX_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* users and groups that a server can name */
#define UNIX_PEERS_MOST 16

/**
 * struct unix_peers - who may connect besides this user and root
 * @users: their ids
 * @user_count: number of them
 * @groups: every member may connect
 * @group_count: number of them
 */
struct unix_peers {
	uid_t users[UNIX_PEERS_MOST];
	unsigned int user_count;
	gid_t groups[UNIX_PEERS_MOST];
	unsigned int group_count;
};

/** unix_peers_add_user - add a user by name or number; 0; -TENON_E_VALUE */
int unix_peers_add_user(struct unix_peers *p, const char *name);

/** unix_peers_add_group - the same for a group */
int unix_peers_add_group(struct unix_peers *p, const char *name);

/** unix_peer_allowed - test whether the peer of a Unix socket may connect; true for other sockets */
bool unix_peer_allowed(const struct unix_peers *p, int fd);

#endif /* RPC_SERVER_UNIX_PEER_H */
