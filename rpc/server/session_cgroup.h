/* SPDX-License-Identifier: MIT */
/* Bound the memory and processes of a session by cgroups of version 2. */
#ifndef RPC_SERVER_SESSION_CGROUP_H
#define RPC_SERVER_SESSION_CGROUP_H

/*
 * Where this process may manage cgroups of version 2 and has the memory controller, each session runs in a cgroup of its
 * own below that of the server. The kernel then bounds the memory of all processes of the session at each page, where the
 * server by itself sees it twice a second (peer_usage.c); it bounds their number, and kills all of them at once.
 *
 * A cgroup with processes cannot hand its controllers to cgroups below it, so the server first moves to one of its own,
 * "tenon-PID". Sessions are in "tenon-PID-NUMBER" beside it.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_REASON 400

/**
 * struct server_cgroup - the cgroup of the server
 * @path: the cgroup that the server was started in, which will contain those of sessions; "" without any
 * @moved: the server is in a cgroup of its own below @path
 * @pids: processes can be limited too
 * @leftover: a cgroup of a session that has ended could not be removed yet
 */
struct server_cgroup {
	char path[PATH_MAX];
	bool moved;
	bool pids;
	bool leftover;
};

/**
 * server_cgroup_find - find the folder of the cgroup of a process
 * @mounts: text of /proc/self/mountinfo
 * @own: text of /proc/self/cgroup
 * @path: receives the folder
 *
 * Return: false when no hierarchy of version 2 is mounted that shows it.
 */
bool server_cgroup_find(const char *mounts, const char *own, char path[PATH_MAX]);

/**
 * server_cgroup_open - prepare for cgroups of sessions, and try one
 * @g: receives the cgroup of the server; server_cgroup_close() releases it
 * @why: receives the reason why there can be none
 *
 * Context: a process without children, which is a subreaper (PR_SET_CHILD_SUBREAPER).
 * Return: false when there can be none. The process is then in the cgroup in which it was.
 */
bool server_cgroup_open(struct server_cgroup *g, char why[CGROUP_REASON]);

/** server_cgroup_close - remove the cgroups of sessions, and move the server back to where it was started */
void server_cgroup_close(struct server_cgroup *g);

/**
 * session_cgroup_make - make the cgroup of a session
 * @g: the cgroup of the server
 * @serial: number of the session
 * @memory: bytes for all processes of the session; 0 for no limit
 * @processes: number of processes and threads; 0 for no limit
 *
 * Return: its folder, a descriptor; -1 with errno.
 */
int session_cgroup_make(const struct server_cgroup *g, uint64_t serial, uint64_t memory,
			unsigned int processes);

/** cgroup_write - write text to a file in a folder, a descriptor or AT_FDCWD; false with errno */
bool cgroup_write(int folder, const char *file, const char *text);

/** session_cgroup_fork - fork(), with the child in a cgroup; the caller must be a subreaper */
pid_t session_cgroup_fork(int cgroup);

/** session_cgroup_kill - kill all processes in a cgroup; before Linux 5.14 none */
void session_cgroup_kill(int cgroup);

/** session_cgroup_ran_out - test whether the kernel killed a process of a cgroup for want of memory */
bool session_cgroup_ran_out(int cgroup);

/**
 * session_cgroup_remove - remove the cgroup of a session, and close its folder
 *
 * One in which a process has not ended yet stays, and @g->leftover is set; server_cgroup_clean() removes it later.
 */
void session_cgroup_remove(struct server_cgroup *g, uint64_t serial, int cgroup);

/** server_cgroup_clean - remove what session_cgroup_remove() could not, and what servers that were killed left */
void server_cgroup_clean(struct server_cgroup *g);

#endif /* RPC_SERVER_SESSION_CGROUP_H */
