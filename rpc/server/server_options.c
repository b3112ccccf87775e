/* SPDX-License-Identifier: MIT */
/* What a server was asked for: defaults, what excludes each other, and the files and names that options refer to. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "rpc/server/sandbox.h"
#include "rpc/server/server_state.h"

#define MIB (UINT64_C(1) << 20)

static uint64_t half_of_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages / 2 * (uint64_t)size : 0;
}

void tenon_rpc_server_options_init(struct tenon_rpc_server_options *options, size_t size)
{
	const char *folder = getenv("TMPDIR");
	const struct tenon_rpc_server_options o = {
		.size = size,
		.key = "",
		.base = folder && *folder ? folder : "/tmp",
		.request_ms = 600 * 1000,
		.cache_most = 256 * MIB,
		.packet_most = 1024 * MIB,
		.folder_most = 1024 * MIB,
		.memory_most = half_of_memory(),
		.sessions_most = 4,
		.processes_most = 1024,
		.native_code = true,
		.sandbox = true,
	};

	memcpy(options, &o, size < sizeof(o) ? size : sizeof(o));
}

static int check_together(const struct tenon_rpc_server_options *o)
{
	if (!o->tls_certificate != !o->tls_key)
		return tenon_error(-TENON_E_USAGE,
				   "--tls-certificate and --tls-key belong together");
	if (!o->sandbox && (o->learn || (o->sockets && *o->sockets)))
		return tenon_error(-TENON_E_USAGE,
				   "--sandbox-learn and --allow-socket are for the sandbox: "
				   "without --no-sandbox");
	if (!o->sandbox && o->folder_in_memory)
		return tenon_error(-TENON_E_USAGE, "--folder-in-memory is for the sandbox: "
						   "without --no-sandbox");
	if (o->stdio && (*o->listen || o->tracker || o->proxy))
		return tenon_error(-TENON_E_USAGE,
				   "--stdio serves one client: no --listen, --tracker or --proxy");
	if (o->tracker && (!*o->key || strchr(o->key, ':')))
		return tenon_error(-TENON_E_USAGE,
				   "--tracker needs a --key without colons, which clients ask for");
	if ((o->health_check || o->advertise_host || o->advertise_port) && !o->tracker)
		return tenon_error(-TENON_E_USAGE,
				   "--health-check and --advertise are for --tracker");
	return 0;
}

/* Uploaded code runs as the same user: a file that it can reach is no secret. */
static int check_hidden(const struct tenon_rpc_server_options *o, const char *path)
{
	const struct sandbox_options sandbox = { .read = o->read, .write = o->write };

	if (!o->sandbox || !o->native_code || !sandbox_reads(&sandbox, path))
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s: uploaded code could read this file, as all of /usr, /opt and "
			   "--allow-read. Move it to a folder such as /var/lib/tenon",
			   path);
}

static int read_secrets(struct server *s)
{
	const struct tenon_rpc_server_options *o = &s->options;
	int err = 0;

	if (o->secret_file)
		err = check_hidden(o, o->secret_file);
	if (!err && o->secret_file)
		err = auth_secret_read(o->secret_file, &s->secret);
	if (!err && o->tls_key)
		err = check_hidden(o, o->tls_key);
	if (!err && o->tls_certificate)
		err = tls_server_open(o->tls_certificate, o->tls_key, &s->tls);
	return err;
}

static int find_users(struct server *s)
{
	const char *const *name;
	int err = 0;

	for (name = s->options.groups; !err && name && *name; name++)
		err = unix_peers_add_group(&s->allowed, *name);
	for (name = s->options.users; !err && name && *name; name++)
		err = unix_peers_add_user(&s->allowed, *name);
	return err ? -TENON_E_USAGE : 0;
}

int server_options_open(struct server *s, const struct tenon_rpc_server_options *given)
{
	static const char *const none[] = { NULL };
	struct tenon_rpc_server_options *o = &s->options;
	int err;

	tenon_rpc_server_options_init(o, sizeof(*o));
	memcpy(o, given, given->size < sizeof(*o) ? given->size : sizeof(*o));
	o->key = o->key ? o->key : "";
	o->listen = o->listen ? o->listen : none;
	err = check_together(o);
	if (!err)
		err = find_users(s);
	return err ? err : read_secrets(s);
}

void server_options_close(struct server *s)
{
	explicit_bzero(&s->secret, sizeof(s->secret));
	tls_server_close(s->tls);
	s->tls = NULL;
}
