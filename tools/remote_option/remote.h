/* SPDX-License-Identifier: MIT */
/* The server of --remote. */
#ifndef TOOLS_REMOTE_OPTION_REMOTE_H
#define TOOLS_REMOTE_OPTION_REMOTE_H

#include <tenon/remote.h>

#include "tools/cli/cli.h"

/* what --remote takes, for the help of commands */
#define REMOTE_HELP "HOST:PORT[/KEY] or unix:PATH[?key=KEY&secret=FILE]"

/**
 * remote_connect - open a session with the server of --remote
 * @cli: for messages; files that are sent are shown as progress
 * @text: address and key: "HOST:PORT/KEY", or "?key=KEY&secret=FILE" behind any address
 * @silence: longest silence of the server while it has a request, in seconds; 0 for the library's limit. The address
 *	may have another one
 * @out: receives the session
 *
 * Return: 0, or an exit code, its message printed: 2 for text that is no address, 4 for a server that
 *	does not answer.
 */
int remote_connect(struct cli *cli, const char *text, double silence, struct tenon_remote **out);

/** remote_import - let a module of the server import another; 0 or negative */
int remote_import(struct tenon_remote *remote, struct tenon_module *module,
		  struct tenon_module *other);

#endif /* TOOLS_REMOTE_OPTION_REMOTE_H */
