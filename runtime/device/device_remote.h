/* SPDX-License-Identifier: MIT */
/* The tables by which the RPC client, a backend and often a plug-in, implements tenon/remote.h. */
#ifndef RUNTIME_DEVICE_DEVICE_REMOTE_H
#define RUNTIME_DEVICE_DEVICE_REMOTE_H

#include <tenon/object.h>
#include <tenon/remote.h>

/* name of the extension of the backend "rpc" (tenon_backend.extension), which is this table */
#define REMOTE_EXTENSION "tenon.remote.1"

/** struct remote_extension - functions of tenon/remote.h that begin without a session */
struct remote_extension {
	int (*connect)(const char *address, const struct tenon_remote_options *options,
		       struct tenon_remote **out);
	struct tenon_remote *(*of_device)(struct tenon_device *device, DLDevice *there);
};

/** struct remote_ops - functions of a session: those of tenon/remote.h without their beginning tenon_remote_ */
struct remote_ops {
	void (*close)(struct tenon_remote *remote);
	void (*facts)(struct tenon_remote *remote, struct tenon_remote_facts *out);
	int (*ping)(struct tenon_remote *remote);
	int (*send_file)(struct tenon_remote *remote, const char *path, const char *name,
			 bool *sent);
	int (*upload)(struct tenon_remote *remote, const char *name, struct tenon_slice bytes);
	int (*download)(struct tenon_remote *remote, const char *name, struct tenon_buffer *out);
	int (*remove)(struct tenon_remote *remote, const char *name);
	int (*list_files)(struct tenon_remote *remote, const char *folder,
			  struct tenon_buffer *out);
	int (*function)(struct tenon_remote *remote, const char *name, struct tenon_function **out);
	int (*list_functions)(struct tenon_remote *remote, struct tenon_buffer *out);
	int (*load)(struct tenon_remote *remote, const char *name, struct tenon_module **out);
	int (*open)(struct tenon_remote *remote, const char *path, struct tenon_module **out);
	int (*device)(struct tenon_remote *remote, DLDevice there, struct tenon_device **out);
	int (*attribute)(struct tenon_remote *remote, DLDevice there, int attribute,
			 struct tenon_value *out);
	int (*time)(struct tenon_remote *remote, struct tenon_module *module, const char *name,
		    DLDevice there, const struct tenon_remote_timing *timing,
		    const struct tenon_value *args, int32_t count, struct tenon_buffer *seconds);
	int (*post)(struct tenon_remote *remote, struct tenon_function *function,
		    const struct tenon_value *args, int32_t count);
	int (*wait)(struct tenon_remote *remote);
	int (*sync)(struct tenon_remote *remote, DLDevice there);
	int (*open_model)(struct tenon_remote *remote, struct tenon_module *module,
			  const struct tenon_model_options *options, struct tenon_model **out);
	int (*time_model)(struct tenon_remote *remote, struct tenon_model *model,
			  const struct tenon_remote_timing *timing, struct tenon_buffer *seconds);
};

/** struct tenon_remote - begins the session of the client */
struct tenon_remote {
	struct tenon_object object;
	const struct remote_ops *ops;
};

#endif /* RUNTIME_DEVICE_DEVICE_REMOTE_H */
