/* SPDX-License-Identifier: MIT */
/* A tracker and two servers that run for the lines of command_test. */
#ifndef TESTS_NOMEM_COMMAND_SERVERS_H
#define TESTS_NOMEM_COMMAND_SERVERS_H

/* the address of a server that listens at a socket, and of a tracker, which offers another with the key "board" */
extern char command_server[], command_tracker[];

/**
 * command_servers_start - start them; they end with this process at the latest
 * @folder: their messages and sessions go there
 *
 * A build without them has none.
 *
 * Return: 0; else one did not start.
 */
int command_servers_start(const char *folder);

/** command_servers_stop - end them; 0, or else the folder of the socket stays */
int command_servers_stop(void);

#endif /* TESTS_NOMEM_COMMAND_SERVERS_H */
