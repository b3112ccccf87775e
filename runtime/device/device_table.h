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

/* most devices open at once, lost ones that somebody still holds not counted */
#define DEVICES_MOST 64

/* devices/backends.c: what is built in or a plug-in of the library's own, ended by NULL */
extern const struct tenon_backend *const backend_table[];

/* backend_plugin.c: slots of its rows whose backend is a plug-in of the library's own */
struct plugin;
int backend_plugin_count(struct plugin *plugin, uint32_t *count);
int backend_plugin_describe(struct plugin *plugin, uint32_t index,
			    struct tenon_device_properties *properties);
int backend_plugin_device(struct plugin *plugin, const struct tenon_device_choice *choice,
			  struct tenon_device **out);
int backend_plugin_doctor(struct plugin *plugin, struct tenon_buffer *out);

/* plug-ins (device_plugin.c): open those that are there, once; what went wrong is kept as text */
void plugins_load(void);
int plugins_problems(struct tenon_buffer *out);

/*
 * Lock the four slots of a backend that are never called at the same time, and ask the first of them.
 * Failing: not locked. -TENON_E_DEVICE too when its driver was opened in a parent process.
 */
int backend_enter(const struct tenon_backend *backend, uint32_t *count);
void backend_leave(void);
/* From now on children of this process know that they are. Called once. */
void device_watch_forks(void);
/* In a child process: whoever held the locks is not here any more. */
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
