/* SPDX-License-Identifier: MIT */
/* Link uploaded objects to modules, as TVM's server does for clients that tune kernels. */
#ifndef RPC_SERVER_SESSION_LINK_H
#define RPC_SERVER_SESSION_LINK_H

#include <limits.h>

#include "rpc/server/session_state.h"

/*
 * Clients that tune kernels upload what they compiled as objects: one, "x.o", or several in an
 * archive, "x.tar". The server links them with the machine's C compiler, as TVM's server does. The
 * compiler is a process of the session, and has its sandbox and limits.
 */

#ifdef CONFIG_DSO
/* Test for a name of objects, not of a module. */
bool session_is_linked(const char *name);

/**
 * session_link - link objects of a session to a shared object in its folder
 * @s: session
 * @name: the file, which session_check_path() accepted; receives the name of the shared object,
 *	@name with ".so". Room for PATH_MAX bytes.
 *
 * Return: 0; -TENON_E_UNSUPPORTED without a compiler, with the remedy, or in a server that runs no
 *	native code; -TENON_E_CALL with the compiler's last words; -TENON_E_IO; errors of
 *	archive_read().
 */
int session_link(struct session *s, char name[PATH_MAX]);
#else
static inline bool session_is_linked(const char *name)
{
	return false;
}

static inline int session_link(struct session *s, char name[PATH_MAX])
{
	return 0;
}
#endif

#endif /* RPC_SERVER_SESSION_LINK_H */
