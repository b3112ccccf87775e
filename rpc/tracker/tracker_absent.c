/* SPDX-License-Identifier: MIT */
/* Of a build without trackers: the functions of tenon/rpc.h for them, which refuse */
#include <string.h>
#include <tenon/rpc.h>

#include "lib/brief_errors.h"

static int refuse(void)
{
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "this build has no tracker and no proxy: CONFIG_REMOTE_TRACKER is off");
}

void tenon_rpc_tracker_options_init(struct tenon_rpc_tracker_options *options, size_t size)
{
	memset(options, 0, size);
	options->size = size;
}

int tenon_rpc_track(const struct tenon_rpc_tracker_options *options)
{
	(void)options;
	return refuse();
}

int tenon_rpc_ask_tracker(const char *address, const char *message, uint64_t timeout_ms,
			  struct tenon_buffer *reply)
{
	(void)address;
	(void)message;
	(void)timeout_ms;
	(void)reply;
	return refuse();
}

void tenon_rpc_proxy_options_init(struct tenon_rpc_proxy_options *options, size_t size)
{
	memset(options, 0, size);
	options->size = size;
}

int tenon_rpc_proxy(const struct tenon_rpc_proxy_options *options)
{
	(void)options;
	return refuse();
}
