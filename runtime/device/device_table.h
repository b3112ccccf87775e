/* SPDX-License-Identifier: MIT */
/* The table of backends and the table of open devices. */
#ifndef RUNTIME_DEVICE_DEVICE_TABLE_H
#define RUNTIME_DEVICE_DEVICE_TABLE_H

#include <stddef.h>
#include <tenon/backend/backend.h>

#include "lib/plugin_api.h"

/* A slot that was added to struct tenon_backend later; NULL if the backend's struct is shorter. */
#define BACKEND_SLOT(backend, slot)                                                                \
	((backend)->size > offsetof(struct tenon_backend, slot) ? (backend)->slot : NULL)

/* Find and reference an open device; NULL when there is none. Does not open it. */
struct tenon_device *device_find(DLDevice id);

/* limit of open devices; lost ones that were replaced do not count */
#define DEVICES_MOST 64

/*
 * The table of plug-ins has backends without slots. Open the plug-in of one; what is built in, and those that were
 * registered, are open. Return: 0; -TENON_E_DEVICE.
 */
int backend_open_plugin(const struct tenon_backend *backend);

/* The backend with its slots, once it is open. */
const struct tenon_backend *backend_opened(const struct tenon_backend *backend)
	TO_PLUGINS(backend_opened);

/* device_plugin.c: open all foreign plug-ins once, and record the failures as text */
void plugins_load(void);
int plugins_problems(struct tenon_buffer *out);

/*
 * Take the lock for count, describe, open and doctor, which are never called concurrently, and call
 * count. Opens its plug-in. Not locked on failure. -TENON_E_DEVICE also when the parent process opened the driver.
 */
int backend_enter(const struct tenon_backend *backend, uint32_t *count);
void backend_leave(void);
/* Register the handler that marks open devices as lost in a child process. Called once. */
void device_add_fork_handler(void);
/* After fork(): threads that held these locks do not exist in the child, so reinitialise them. */
void backend_forked(void);

/**
 * struct device_uri - a parsed URI
 * @driver: name of the backend
 * @path: decoded; "" for the first device
 * @query: not decoded, for comparison; "" for none
 * @options: decoded
 * @option_count: number of options
 * @text: buffer of the decoded parts
 */
#define URI_OPTIONS_MOST 16
struct device_uri {
	struct tenon_slice driver;
	struct tenon_slice path;
	struct tenon_slice query;
	struct tenon_device_option options[URI_OPTIONS_MOST];
	size_t option_count;
	char *text;
};

/* Return: 0; -TENON_E_VALUE; -TENON_E_NOMEM. Call device_uri_fini() in any case. */
int device_uri_read(const char *text, struct device_uri *uri);
void device_uri_fini(struct device_uri *uri);

/*
 * Find the device of a path among the @count devices of a backend. Called between backend_enter()
 * and backend_leave(). Return: 0; -TENON_E_DEVICE.
 */
int device_path_find(const struct tenon_backend *b, struct tenon_slice path, uint32_t count,
		     uint32_t *index);

#endif /* RUNTIME_DEVICE_DEVICE_TABLE_H */
