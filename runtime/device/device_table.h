/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_DEVICE_DEVICE_TABLE_H
#define RUNTIME_DEVICE_DEVICE_TABLE_H

/* Which backends there are, and which devices are open. */

#include <stddef.h>
#include <tenon/backend/backend.h>

/* A slot of a backend that was added to the struct; NULL in one that was built before that. */
#define BACKEND_SLOT(backend, slot)                                                                \
	((backend)->size > offsetof(struct tenon_backend, slot) ? (backend)->slot : NULL)

/* An open device by its number, referenced; NULL when there is none. Opens nothing. */
struct tenon_device *device_find(DLDevice id);

/* most open devices, without lost ones that are still referenced */
#define DEVICES_MOST 64

/* devices/backends.c: backends that are built in or plug-ins of the library, ended by NULL */
extern const struct tenon_backend *const backend_table[];

/* backend_plugin.c: slots of backends that are plug-ins of the library */
struct plugin;
int backend_plugin_count(struct plugin *plugin, uint32_t *count);
int backend_plugin_describe(struct plugin *plugin, uint32_t index,
			    struct tenon_device_properties *properties);
int backend_plugin_device(struct plugin *plugin, const struct tenon_device_choice *choice,
			  struct tenon_device **out);
int backend_plugin_doctor(struct plugin *plugin, struct tenon_buffer *out);

/* plug-ins (device_plugin.c): open all once, and keep the reasons of failures as text */
void plugins_load(void);
int plugins_problems(struct tenon_buffer *out);

/*
 * Lock the first four slots of a backend, which are never called concurrently, and call count. Not
 * locked on failure. -TENON_E_DEVICE also when the parent process opened its driver.
 */
int backend_enter(const struct tenon_backend *backend, uint32_t *count);
void backend_leave(void);
/* Register the fork handlers that mark child processes. Called once. */
void device_watch_forks(void);
/* After fork(): threads that held these locks do not exist in the child, so reinitialise them. */
void backend_forked(void);

/**
 * struct device_uri - a URI taken apart
 * @driver: name of the backend
 * @path: decoded; "" for the first device
 * @query: as written, for comparing; "" for none
 * @options: decoded
 * @option_count: how many
 * @text: where the decoded pieces lie
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

/* Return: 0; -TENON_E_VALUE; -TENON_E_NOMEM. Ended with device_uri_fini(). */
int device_uri_read(const char *text, struct device_uri *uri);
void device_uri_fini(struct device_uri *uri);

/*
 * Which of the @count devices of a backend a path names. Called with the backends' lock held.
 * Return: 0; -TENON_E_DEVICE.
 */
int device_path_find(const struct tenon_backend *b, struct tenon_slice path, uint32_t count,
		     uint32_t *index);

#endif /* RUNTIME_DEVICE_DEVICE_TABLE_H */
