/* SPDX-License-Identifier: MIT */
/* Open devices by name, share open ones, and replace lost ones. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_queue_thread.h"
#include "runtime/device/device_table.h"
#include "runtime/device/device_thread.h"
#include "runtime/device/kernel_call.h"

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tenon_device *open_devices[DEVICES_MOST]; /* each with a reference */

static void forked(void)
{
	size_t i;

	pthread_mutex_init(&table_lock, NULL);
	backend_forked();
	queue_threads_forked();
	kernel_sets_forked();
	__atomic_fetch_add(&device_forks, 1, __ATOMIC_RELAXED);
	for (i = 0; i < DEVICES_MOST; i++)
		if (open_devices[i])
			__atomic_store_n(&open_devices[i]->lost, DEVICE_FORKED, __ATOMIC_RELEASE);
	memset(open_devices, 0, sizeof(open_devices));
}

void device_add_fork_handler(void)
{
	pthread_atfork(NULL, NULL, forked);
}

static const char *query_of(const struct tenon_device *d)
{
	return d->core->query ? d->core->query : "";
}

static struct tenon_slice place_of(const struct tenon_device *d)
{
	return tenon_slice_of(d->core->place ? d->core->place : "");
}

static bool is_chosen(const struct tenon_device *d, const struct tenon_backend *b,
		      const struct tenon_device_choice *choice, struct tenon_slice query)
{
	return d->backend == b && d->index == choice->index &&
	       tenon_slice_equal(place_of(d), choice->place) &&
	       tenon_slice_equal(tenon_slice_of(query_of(d)), query);
}

static struct tenon_device *find_open(const struct tenon_backend *b,
				      const struct tenon_device_choice *choice,
				      struct tenon_slice query)
{
	size_t i;

	for (i = 0; i < DEVICES_MOST; i++)
		if (open_devices[i] && is_chosen(open_devices[i], b, choice, query))
			return open_devices[i];
	return NULL;
}

/* Slot of an open device; DEVICES_MOST when there is none. */
static size_t slot_of(DLDevice id)
{
	size_t i;

	for (i = 0; i < DEVICES_MOST; i++)
		if (open_devices[i] && open_devices[i]->id.device_type == id.device_type &&
		    open_devices[i]->id.device_id == id.device_id)
			break;
	return i;
}

static struct tenon_device *find_id(DLDevice id)
{
	size_t slot = slot_of(id);

	return slot < DEVICES_MOST ? open_devices[slot] : NULL;
}

static int free_slot(size_t *slot)
{
	for (*slot = 0; *slot < DEVICES_MOST; (*slot)++)
		if (!open_devices[*slot])
			return 0;
	return tenon_error(-TENON_E_DEVICE, "%d devices are open; no more can be", DEVICES_MOST);
}

struct tenon_device *device_find(DLDevice id)
{
	struct tenon_device *d;

	pthread_mutex_lock(&table_lock);
	d = find_id(id);
	tenon_object_ref(d);
	pthread_mutex_unlock(&table_lock);
	return d;
}

static int keep(struct tenon_slice text, char **out)
{
	if (!text.size)
		return 0;
	*out = strndup(text.data, text.size);
	return *out ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a device's name");
}

static int keep_names(struct tenon_device *d, const struct tenon_device_choice *choice,
		      struct tenon_slice query)
{
	int err = keep(query, &d->core->query);

	return err ? err : keep(choice->place, &d->core->place);
}

/*
 * Call the backend, and keep what names the device. Caller holds table_lock and has entered the
 * backend, which this function leaves. The lock is released while a backend opens concurrently.
 */
static int open_device(const struct tenon_backend *b, const struct tenon_device_choice *choice,
		       struct tenon_slice query, struct tenon_device **out)
{
	const bool concurrent = b->flags & TENON_BACKEND_CONCURRENT_OPEN;
	struct tenon_device *d;
	int err;

	if (concurrent) {
		backend_leave();
		pthread_mutex_unlock(&table_lock);
	}
	err = backend_opened(b)->open(choice, &d);
	if (!err) {
		d->backend = b; /* as the table knows it, without slots */
		err = keep_names(d, choice, query);
		if (err)
			tenon_object_unref(d);
	}
	if (concurrent)
		pthread_mutex_lock(&table_lock);
	else
		backend_leave();
	if (!err)
		*out = d;
	return err;
}

/* Close a device that is not in the table: closing it may wait. Caller holds table_lock. */
static void close_unlocked(struct tenon_device *d)
{
	pthread_mutex_unlock(&table_lock);
	tenon_object_unref(d);
	pthread_mutex_lock(&table_lock);
}

/*
 * Put a device into the table, numbered behind the @count listed ones if it is none of these, unless its backend chose
 * the number.
 */
static int add_device(struct tenon_device *d, uint32_t count)
{
	DLDevice id = d->id;
	size_t slot;
	int err = free_slot(&slot);

	if (err)
		return err;
	if ((d->core->query || d->core->place) && !d->core->has_number)
		for (id.device_id = (int32_t)count; find_id(id); id.device_id++)
			;
	d->id = id;
	d->slot = (uint32_t)slot;
	open_devices[slot] = d;
	return 0;
}

/* Open a device and add it to the table. Caller holds table_lock; as open_device(). */
static int open_new(const struct tenon_backend *b, const struct tenon_device_choice *choice,
		    struct tenon_slice query, uint32_t count, struct tenon_device **out)
{
	struct tenon_device *d;
	int err;

	err = open_device(b, choice, query, &d);
	if (err && choice->place.size)
		return tenon_error_in(err, "%s://%.*s", b->name, (int)choice->place.size,
				      choice->place.data);
	if (err)
		return tenon_error_in(err, "%s:%u", b->name, choice->index);
	/* another thread may have opened the same device meanwhile */
	*out = find_open(b, choice, query);
	if (!*out) {
		err = add_device(d, count);
		*out = err ? NULL : d;
	}
	tenon_object_ref(*out);
	if (*out != d)
		close_unlocked(d);
	return err;
}

/* Find the device of a path among those that were counted, or else leave the path to the backend. */
static int choose(const struct tenon_backend *b, struct tenon_slice path, uint32_t count,
		  struct tenon_device_choice *choice)
{
	int err = device_path_find(b, path, count, &choice->index);

	if (err != -TENON_E_DEVICE || !(b->flags & TENON_BACKEND_PLACES) || !path.size ||
	    (!isalpha((unsigned char)path.data[0]) && !memchr(path.data, '/', path.size)))
		return err;
	tenon_error_clear();
	choice->index = UINT32_MAX;
	choice->place = path;
	return 0;
}

/* Find or open a device, and reference it. Caller holds table_lock; as open_device(). */
static int open_choice(const struct tenon_backend *b, struct tenon_slice path,
		       const struct device_uri *uri, struct tenon_device **out)
{
	struct tenon_device_choice choice = { .place = { "", 0 } };
	struct tenon_slice query = { "", 0 };
	uint32_t count = 0;
	size_t slot;
	int err;

	if (uri) {
		choice.options = uri->options;
		choice.option_count = uri->option_count;
		query = uri->query;
	}
	err = backend_enter(b, &count);
	if (err)
		return err;
	err = choose(b, path, count, &choice);
	if (!err)
		*out = find_open(b, &choice, query);
	if (!err && !*out)
		err = free_slot(&slot);
	if (!err && !*out)
		return open_new(b, &choice, query, count, out);
	tenon_object_ref(*out);
	backend_leave();
	return err;
}

static int list_name(void *context, const struct tenon_backend *b)
{
	struct tenon_buffer *names = context;

	return tenon_buffer_printf(names, "%s%s", names->size ? ", " : "", b->name);
}

static int raise_no_backend(struct tenon_slice name)
{
	struct tenon_buffer names = TENON_BUFFER_INIT;
	int err;

	tenon_backend_each(list_name, &names);
	err = tenon_error(-TENON_E_DEVICE,
			  "this build has no device \"%.*s\". Those it has: %s. Others need "
			  "their CONFIG_DEVICE_ option or their plug-in",
			  (int)name.size, name.data, names.data ? names.data : "none");
	tenon_buffer_fini(&names);
	return err;
}

int tenon_device_open(const char *text, struct tenon_device **out)
{
	const struct tenon_backend *b;
	struct device_uri uri;
	int err;

	*out = NULL;
	err = device_uri_read(text, &uri);
	if (err)
		goto fini;
	b = tenon_backend_find(uri.driver);
	if (!b) {
		err = raise_no_backend(uri.driver);
		goto fini;
	}
	pthread_mutex_lock(&table_lock);
	err = open_choice(b, uri.path, &uri, out);
	pthread_mutex_unlock(&table_lock);
fini:
	device_uri_fini(&uri);
	return err;
}

int tenon_device_get(DLDevice id, struct tenon_device **out)
{
	const struct tenon_backend *b;
	char number[16];
	int err = 0, n;

	*out = device_find(id);
	if (*out)
		return 0;
	b = tenon_backend_of_type(id.device_type);
	if (!b)
		return raise_no_backend(tenon_slice_of(tenon_device_name(id.device_type)));
	if (id.device_id < 0)
		return tenon_error(-TENON_E_DEVICE, "%s:%d: a device's number is 0 or more",
				   b->name, id.device_id);
	n = snprintf(number, sizeof(number), "%d", id.device_id);
	pthread_mutex_lock(&table_lock);
	*out = find_id(id);
	tenon_object_ref(*out);
	if (!*out)
		err = open_choice(b, (struct tenon_slice){ number, (size_t)n }, NULL, out);
	pthread_mutex_unlock(&table_lock);
	return err;
}

/* Drop idle queues: they and the device reference each other. */
static void drop_idle(struct tenon_device *device)
{
	struct tenon_queue *q;

	while (!device_is_parents(device)) {
		device_lock(device);
		q = device->core->idle;
		if (q)
			device->core->idle = q->core->next_idle;
		device_unlock(device);
		if (!q)
			return;
		tenon_object_unref(q);
	}
}

/* Read the options that a device was opened with. The caller calls device_uri_fini(). */
static int read_query(const struct tenon_device *d, struct device_uri *uri)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err;

	err = tenon_buffer_printf(&text, "%s://?%s", d->backend->name, query_of(d));
	if (!err)
		err = device_uri_read(text.data, uri);
	tenon_buffer_fini(&text);
	return err;
}

/*
 * Find the slot for a device that is or was in the table, and in @there the one that was opened in its stead; NULL
 * for none. Once all devices were closed, or in a child process, its number may be that of another device.
 */
static int slot_again(const struct tenon_device *old, const struct tenon_device_choice *choice,
		      size_t *slot, struct tenon_device **there)
{
	const struct tenon_slice query = tenon_slice_of(query_of(old));
	char label[DEVICE_LABEL];

	*there = NULL;
	*slot = slot_of(old->id);
	if (*slot == DEVICES_MOST) {
		*there = find_open(old->backend, choice, query);
		return *there ? 0 : free_slot(slot);
	}
	if (open_devices[*slot] == old)
		return 0;
	if (!is_chosen(open_devices[*slot], old->backend, choice, query))
		return tenon_error(-TENON_E_DEVICE,
				   "%s was closed, and is another device by now: open yours by the "
				   "name that it was opened by",
				   device_label(old, label));
	*there = open_devices[*slot];
	return 0;
}

/* Put @fresh into the slot of @old, unless another thread reopened @old meanwhile. */
static int replace_in_table(struct tenon_device *old, const struct tenon_device_choice *choice,
			    struct tenon_device *fresh, struct tenon_device **out)
{
	size_t slot;
	int err = slot_again(old, choice, &slot, out);

	if (err)
		return err;
	if (!*out) {
		tenon_object_unref(open_devices[slot]);
		fresh->id = old->id;
		fresh->slot = (uint32_t)slot;
		tenon_object_ref(fresh);
		open_devices[slot] = fresh;
		*out = fresh;
	}
	tenon_object_ref(*out);
	return 0;
}

/* Open a device again, and reference it. Caller holds table_lock; as open_device(). */
static int replace(struct tenon_device *old, const struct device_uri *uri,
		   struct tenon_device **out)
{
	const struct tenon_device_choice choice = { old->index, uri->options, uri->option_count,
						    place_of(old) };
	struct tenon_device *fresh;
	uint32_t count;
	size_t slot;
	int err;

	err = slot_again(old, &choice, &slot, out);
	if (err)
		return err;
	if (*out) { /* another thread reopened it */
		tenon_object_ref(*out);
		return 0;
	}
	err = backend_enter(old->backend, &count);
	if (!err)
		err = open_device(old->backend, &choice, tenon_slice_of(query_of(old)), &fresh);
	if (err)
		return err;
	err = replace_in_table(old, &choice, fresh, out);
	close_unlocked(fresh);
	return err;
}

int tenon_device_reopen(struct tenon_device *device, struct tenon_device **out)
{
	struct device_uri uri = { .text = NULL };
	int err;

	*out = NULL;
	err = read_query(device, &uri);
	if (!err) {
		pthread_mutex_lock(&table_lock);
		err = replace(device, &uri, out);
		pthread_mutex_unlock(&table_lock);
	}
	if (!err && *out != device)
		drop_idle(device);
	device_uri_fini(&uri);
	return err;
}

int tenon_device_reset(struct tenon_device *device, struct tenon_device **out)
{
	char label[DEVICE_LABEL];
	int err;

	*out = NULL;
	if (device_is_parents(device))
		return tenon_device_check(device);
	if (!device->ops->reset)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s cannot be reset: its backend has no way to do it",
				   device_label(device, label));
	tenon_device_lose(device, tenon_error(-TENON_E_LOST, "the program reset it"));
	tenon_error_clear();
	err = device->ops->reset(device);
	return err ? err : tenon_device_reopen(device, out);
}

void tenon_device_close_all(void)
{
	size_t i;

	device_thread_drop();
	for (i = 0; i < DEVICES_MOST; i++) {
		struct tenon_device *d;

		pthread_mutex_lock(&table_lock);
		d = open_devices[i];
		open_devices[i] = NULL;
		pthread_mutex_unlock(&table_lock);
		if (!d)
			continue;
		drop_idle(d);
		tenon_object_unref(d);
	}
	queue_threads_leave();
}
