/* SPDX-License-Identifier: MIT */
/* Open the driver's node, and make its calls. */
#include "devices/torq/torq_node.h"

#include <fcntl.h>
#include <stdio.h>
#include <tenon/error.h>

#include "devices/torq/torq_uapi.h"

#define PATH_MOST 512

int torq_node_open(const struct system_calls *calls, const char *root, struct torq_node *out)
{
	struct torq_uapi_hardware h = { 0 };
	char path[PATH_MOST];
	int err;

	out->calls = system_calls_or_kernel(calls);
	out->root = root;
	snprintf(path, sizeof(path), "%s" TORQ_NODE, root);
	out->fd = system_open(out->calls, path, O_RDWR);
	if (out->fd < 0)
		return out->fd;
	err = torq_call(out, TORQ_UAPI_HARDWARE, &h);
	if (err) {
		err = system_error(-err, TORQ_NODE, "ask which NPU it is");
		torq_node_close(out);
	}
	out->hardware = h.hardware;
	return err;
}

void torq_node_close(struct torq_node *n)
{
	system_close(n->calls, &n->fd);
}

int torq_call(const struct torq_node *n, unsigned long request, void *argument)
{
	return system_ioctl(n->calls, n->fd, request, argument);
}
