/* SPDX-License-Identifier: MIT */
/* Parse --remote, connect with progress, import the server's module. */
#include "tools/remote_option/remote.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cli/progress.h"

static void show_progress(void *context, const char *file, uint64_t done, uint64_t total)
{
	progress_say("sending %s, %llu of %llu KiB", file, (unsigned long long)(done >> 10),
		     (unsigned long long)(total >> 10));
}

static int read_ms(const char *text, uint32_t *out)
{
	char *end;
	unsigned long ms = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || ms > INT32_MAX)
		return tenon_error(-TENON_E_VALUE, "\"%s\" is no number of milliseconds", text);
	*out = ms ? (uint32_t)ms : UINT32_MAX;
	return 0;
}

/* Read "key=KEY&secret=FILE&silence=MS&wait=MS". */
static int read_address_options(char *text, struct tenon_remote_options *o)
{
	char *rest, *word;
	int err = 0;

	for (word = strtok_r(text, "&", &rest); word && !err; word = strtok_r(NULL, "&", &rest)) {
		if (!strncmp(word, "key=", 4))
			o->key = word + 4;
		else if (!strncmp(word, "secret=", 7))
			o->secret_file = word + 7;
		else if (!strncmp(word, "silence=", 8))
			err = read_ms(word + 8, &o->silence_ms);
		else if (!strncmp(word, "wait=", 5))
			err = read_ms(word + 5, &o->connect_ms);
		else
			return tenon_error(
				-TENON_E_VALUE,
				"an address has no option \"%s\": it has key=KEY, "
				"secret=FILE, silence=MILLISECONDS and wait=MILLISECONDS",
				word);
	}
	return err;
}

/* Cut "/KEY" and "?key=KEY&secret=FILE" off an address. The path of a Unix socket has slashes of its own. */
static int cut_options(char *address, struct tenon_remote_options *o)
{
	char *options = strchr(address, '?'), *key = NULL;

	if (options)
		*options++ = '\0';
	if (strncmp(address, "unix:", 5) != 0 && !strstr(address, "://"))
		key = strchr(address, '/');
	if (key)
		*key++ = '\0';
	o->key = key ? key : "";
	return options ? read_address_options(options, o) : 0;
}

int remote_connect(struct cli *cli, const char *text, double silence, struct tenon_remote **out)
{
	struct tenon_remote_options o = {
		.size = sizeof(o),
		.progress = show_progress,
		.silence_ms =
			silence > 0 && silence < INT32_MAX / 1000 ? (uint32_t)(silence * 1000) : 0,
	};
	const char *plain = getenv("TENON_REMOTE_PLAIN");
	char *address = strdup(text);
	int err;

	*out = NULL;
	if (!address) {
		tenon_error(-TENON_E_NOMEM, "no memory for an address");
		return cli_error(cli, CLI_FAILED);
	}
	err = cut_options(address, &o);
	o.wait_each = plain && *plain;
	if (!err) {
		if (!strncmp(address, "rpc+tracker://", 14))
			progress_say("waiting for a server with key %s of the tracker %s", o.key,
				     address + 14);
		else
			progress_say("connecting to %s", address);
		err = tenon_remote_connect(address, &o, out);
	}
	free(address);
	if (!err)
		return 0;
	tenon_error_in(err, "--remote %s", text);
	return cli_error(cli, err == -TENON_E_VALUE ? CLI_USAGE : CLI_UNAVAILABLE);
}

int remote_import(struct tenon_remote *remote, struct tenon_module *module,
		  struct tenon_module *other)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *import;
	int err = tenon_remote_function(remote, "tvm.rpc.server.ImportModule", &import);

	if (!err && !import)
		err = tenon_error(-TENON_E_UNSUPPORTED, "the server cannot import modules");
	if (!err)
		err = tenon_call(import, &ret, tenon_arg_object(module), tenon_arg_object(other));
	tenon_object_unref(import);
	return err;
}
