/* SPDX-License-Identifier: MIT */
/* Folders for the files of sessions, removed with them. */
#ifndef RPC_SERVER_FOLDER_H
#define RPC_SERVER_FOLDER_H

/*
 * A server has one folder in the base folder and holds a lock on it; each session has a folder in that.
 * A server that was killed leaves its folder without a lock, and the next server removes it.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct server_folder - the folder of a server
 * @path: its path
 * @fd: the folder, locked
 */
struct server_folder {
	char path[PATH_MAX];
	int fd;
};

/**
 * server_folder_create - create a server's folder, and remove those of killed servers
 * @base: folder to create it in
 * @f: receives it
 *
 * Return: 0; -TENON_E_IO.
 */
int server_folder_create(const char *base, struct server_folder *f);

/** server_folder_remove - remove it and all that is in it */
void server_folder_remove(struct server_folder *f);

/** session_folder_create - create the folder of a session; 0, or -TENON_E_IO */
int session_folder_create(const struct server_folder *f, char path[PATH_MAX]);

/** what a folder may have: for one on a disk, it is counted while uploaded code changes it */
#define FOLDER_ENTRIES_MOST 65536
#define FOLDER_DEPTH_MOST   256

/**
 * session_folder_mount - mount memory of @bytes over a session's folder, for this process and its children alone
 *
 * By a mount namespace, and without CAP_SYS_ADMIN by a user namespace too.
 *
 * Context: a process with one thread.
 * Return: the folder, a descriptor that keeps the files when the processes have ended; -1 with errno set, and
 *	the process may be in other namespaces then.
 */
int session_folder_mount(const char *path, uint64_t bytes);

/**
 * folder_size - add the disk space of all files in a folder to @bytes; a file takes at least its block
 *
 * Links are not followed. Of a file with several names in it, each counts.
 *
 * Return: false when it has too many files or folders to be counted, too deep ones, or one that cannot be opened.
 */
bool folder_size(const char *path, uint64_t *bytes);

/**
 * folder_remove - remove a folder with everything in it
 * @path: the folder; no process may change it any more
 *
 * Uploaded code made what is in it: links are not followed, and no depth of folders is too large.
 */
void folder_remove(const char *path);

#endif /* RPC_SERVER_FOLDER_H */
