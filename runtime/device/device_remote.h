/* SPDX-License-Identifier: MIT */
/* The table by which the client of RPC offers more than a backend has. */
#ifndef RUNTIME_DEVICE_DEVICE_REMOTE_H
#define RUNTIME_DEVICE_DEVICE_REMOTE_H

#include <tenon/remote.h>

/* name of the extension of the backend "rpc" (tenon_backend.extension), which is this table */
#define REMOTE_EXTENSION "tenon.remote.1"

/** struct remote_extension - functions of tenon/remote.h that begin without a session */
struct remote_extension {
	int (*connect)(const char *address, const struct tenon_remote_options *options,
		       struct tenon_remote **out);
	struct tenon_remote *(*of_device)(struct tenon_device *device, DLDevice *there);
};

#endif /* RUNTIME_DEVICE_DEVICE_REMOTE_H */
