/* SPDX-License-Identifier: MIT */
/* The path by which the dynamic linker opens a descriptor. */
#ifndef RUNTIME_LIBRARY_LOAD_FD_H
#define RUNTIME_LIBRARY_LOAD_FD_H

/* room for a path of a descriptor */
#define FD_PATH 128

/**
 * fd_path - write a path of a descriptor, as no other call writes it
 *
 * The dynamic linker takes a name that it has seen for the same library, and the numbers of descriptors come
 * again; so each bit of a serial number is "/" or "/." in the path.
 */
void fd_path(int fd, char path[FD_PATH]);

#endif /* RUNTIME_LIBRARY_LOAD_FD_H */
