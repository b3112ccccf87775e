/* SPDX-License-Identifier: MIT */
/* Open a board, divide its window, start its ring, and end all of it after a loss. */
#include "devices/mortise/mortise_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/string.h>
#include <tenon/timeline.h>
#include <unistd.h>

/* words of the ring, for some ten thousand packets */
#define RING_WORDS 65536U
#define RING_SIZE  ((uint64_t)RING_WORDS * MORTISE_WORD)

/* part of the window that is for code */
#define CODE_SHARE 8

/* a function that runs longer is ended, where the board has a timer */
#define WATCHDOG_MS 10000

/* an emulated board boots within this, also on a busy machine; one that runs answers sooner */
#define BOOT_MS	  30000
#define ATTACH_MS 10000

bool mortise_is_ours(const struct mortise_device *d)
{
	return d->owner == getpid();
}

/* What a launch may ask for; logic without a core runs command streams alone, which have one group of one thread. */
static void describe_launches(bool runs_code, struct tenon_device_properties *p)
{
	int i;

	p->max_threads = runs_code ? 65536 : 1;
	for (i = 0; i < 3; i++) {
		p->max_block[i] = runs_code ? 65536 : 1;
		p->max_grid[i] = runs_code ? INT32_MAX : 1;
	}
	p->max_shared = runs_code ? MORTISE_GROUP_MEMORY : 0;
	p->max_arguments = MORTISE_ARGUMENT_COUNT - 1;
}

static void describe_board(const struct board_kind *kind, uint64_t window,
			   struct tenon_device_properties *p)
{
	uint64_t heap;

	heap = (window - MORTISE_SHARED_OFFSET - RING_SIZE) / CODE_SHARE * (CODE_SHARE - 1);
	snprintf(p->name, sizeof(p->name), "%s", kind->name);
	snprintf(p->vendor, sizeof(p->vendor), "Tenon");
	snprintf(p->driver, sizeof(p->driver), "mortise %d.%d (%s)", MORTISE_ABI_MAJOR,
		 MORTISE_ABI_MINOR, kind->via);
	p->device_class = TENON_CLASS_ACCELERATOR;
	p->warp_size = 1;
	describe_launches(board_runs_code(kind), p);
	p->processors = 1;
	p->total_memory = heap;
	p->max_allocation = heap;
	/* the widest word that a core may refuse to load from elsewhere */
	p->alignment = 16;
	/* of the memory that the board shares alone */
	p->imports = 1U << TENON_HANDLE_HOST_POINTER;
	p->exports = kind->place ? 0 : mortise_exports(NULL);
	p->queues = 1;
	p->heap_count = 1;
	p->heaps[0].size = heap;
	p->heaps[0].flags = TENON_HEAP_DEVICE_LOCAL | TENON_HEAP_HOST_VISIBLE |
			    TENON_HEAP_HOST_COHERENT | TENON_HEAP_HOST_CACHED;
}

int mortise_describe(uint32_t index, struct tenon_device_properties *p)
{
	const struct board_kind *kind = mortise_board_kind(index);

	if (!kind)
		return tenon_error(-TENON_E_DEVICE, "there is no board %u", index);
	describe_board(kind, kind->window_size, p);
	return 0;
}

/* ---- what a name says */

/**
 * struct wanted - the board of a choice, and how to use it
 * @kind: of board
 * @path: where a board is that runs already, as in struct board_place; to be freed
 * @keys: what the name says besides, by enum board_key; to be freed
 * @watchdog_ms: limit of a packet
 * @silence_ms: how long the heartbeat may stand still while there is work; 0: struct ring_setup says
 * @wait_ms: until the firmware has to answer
 */
struct wanted {
	const struct board_kind *kind;
	char *path;
	char *keys[BOARD_KEYS];
	uint64_t watchdog_ms;
	uint64_t silence_ms;
	uint64_t wait_ms;
};

static void forget_wanted(struct wanted *w)
{
	size_t i;

	free(w->path);
	for (i = 0; i < BOARD_KEYS; i++)
		free(w->keys[i]);
}

static int copy(struct tenon_slice text, char **out)
{
	free(*out);
	*out = strndup(text.data, text.size);
	return *out ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a name");
}

static int read_ms(const struct tenon_device_option *o, uint64_t *out)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0;
	     i < o->value.size && i < 9 && o->value.data[i] >= '0' && o->value.data[i] <= '9'; i++)
		value = value * 10 + (uint64_t)(o->value.data[i] - '0');
	if (!i || i < o->value.size)
		return tenon_error(
			-TENON_E_VALUE, "mortise: %.*s=%.*s is no number of milliseconds",
			(int)o->key.size, o->key.data, (int)o->value.size, o->value.data);
	*out = value;
	return 0;
}

/* The names of the keys that a kind of board takes besides: ", doorbell, window". */
static const char *list_keys(const struct board_kind *kind, char *text, size_t room)
{
	size_t used = 0, i;

	*text = 0;
	for (i = 0; i < BOARD_KEYS; i++)
		if (kind->keys >> i & 1 && used < room)
			used += (size_t)snprintf(text + used, room - used, ", %s",
						 board_key_name((enum board_key)i));
	return text;
}

static int read_board_key(const struct tenon_device_option *o, struct wanted *w)
{
	char names[128];
	size_t i;

	for (i = 0; i < BOARD_KEYS; i++)
		if (w->kind->keys >> i & 1 &&
		    tenon_slice_equal(o->key, tenon_slice_of(board_key_name((enum board_key)i))))
			return copy(o->value, &w->keys[i]);
	return tenon_error(-TENON_E_VALUE,
			   "mortise://%s has no key \"%.*s\"; it knows watchdog, silence and wait, "
			   "each of them =MILLISECONDS%s",
			   w->kind->name, (int)o->key.size, o->key.data,
			   list_keys(w->kind, names, sizeof(names)));
}

static int read_option(const struct tenon_device_option *o, struct wanted *w)
{
	if (tenon_slice_equal(o->key, tenon_slice_of("watchdog")))
		return read_ms(o, &w->watchdog_ms);
	if (tenon_slice_equal(o->key, tenon_slice_of("silence")))
		return read_ms(o, &w->silence_ms);
	if (tenon_slice_equal(o->key, tenon_slice_of("wait")))
		return read_ms(o, &w->wait_ms);
	return read_board_key(o, w);
}

/* "shm/run/board", "uio/0": a kind of board, and the path of its memory or the name of a device. */
static int read_place(struct tenon_slice place, struct wanted *w)
{
	const char *slash = memchr(place.data, '/', place.size);
	size_t size = slash ? (size_t)(slash - place.data) : place.size;
	const struct board_kind *kind;

	for (kind = board_kinds; kind->name; kind++)
		if (tenon_slice_equal(tenon_slice_of(kind->name),
				      (struct tenon_slice){ place.data, size }))
			break;
	if (kind->name && !board_is_attached(kind) && !(kind->place && slash))
		return kind->ready(kind)
			       ? -TENON_E_DEVICE
			       : tenon_error(-TENON_E_DEVICE, "%s takes no path", kind->name);
	if (kind->name && !slash)
		return kind->ready(kind);
	if (!kind->name)
		return tenon_error(
			-TENON_E_DEVICE,
			"no such board in this build, \"%.*s\"; one that runs already is "
			"mortise://shm/PATH, uio/N, vfio/ADDRESS or remoteproc/N",
			(int)size, place.data);
	w->kind = kind;
	return copy((struct tenon_slice){ slash, place.size - size }, &w->path);
}

static int read_choice(const struct tenon_device_choice *choice, struct wanted *w)
{
	size_t i;
	int err = 0;

	*w = (struct wanted){ .watchdog_ms = WATCHDOG_MS };
	if (choice->place.size)
		err = read_place(choice->place, w);
	else
		w->kind = mortise_board_kind(choice->index);
	if (err)
		return err;
	if (!w->kind)
		return tenon_error(-TENON_E_DEVICE, "there is no board %u", choice->index);
	w->wait_ms = w->path && board_is_attached(w->kind) ? ATTACH_MS : BOOT_MS;
	for (i = 0; i < choice->option_count && !err; i++)
		err = read_option(&choice->options[i], w);
	return err;
}

/* The window: ring, code, tensors. */
static int divide_window(struct mortise_device *d, uint64_t size)
{
	uint64_t ring_end = MORTISE_SHARED_OFFSET + RING_SIZE;
	uint64_t code = (size - ring_end) / CODE_SHARE & ~(uint64_t)4095;
	uint64_t code_offset = (ring_end + 4095) & ~(uint64_t)4095;

	mortise_heap_init(&d->code, code_offset, code);
	mortise_heap_init(&d->heap, code_offset + code, size - code_offset - code);
	return mortise_heap_take(&d->heap, MORTISE_GROUP_MEMORY, 16, &d->group_memory);
}

static int open_ring(struct mortise_device *d, const struct wanted *w, uint64_t deadline)
{
	const struct shm *memory = board_memory(d->board);
	struct ring_setup setup = {
		.name = board_name(d->board),
		.window = memory->base,
		.window_size = memory->size,
		.window_address = d->address,
		.ring_offset = MORTISE_SHARED_OFFSET,
		.ring_words = RING_WORDS,
		.watchdog_ms = (uint32_t)w->watchdog_ms,
		.silence_ms = (uint32_t)w->silence_ms,
		.region_count = 2,
	};
	struct ring_report report;
	int err;

	setup.regions[0] = (struct mortise_region){ d->address + d->heap.memory.begin,
						    memory->size - d->heap.memory.begin,
						    MORTISE_READ | MORTISE_WRITE, 0 };
	setup.regions[1] =
		(struct mortise_region){ d->address + d->code.memory.begin, d->code.memory.size,
					 MORTISE_WRITE | MORTISE_EXECUTE, 0 };
	err = ring_open(board_port(d->board), &setup, deadline, &d->ring);
	if (err)
		return err;
	ring_report(d->ring, &report);
	d->machine = report.identity.machine;
	d->address_bits = report.identity.address_bits;
	d->runs_code = report.identity.features & MORTISE_FEATURE_CALL;
	d->tick_hz =
		report.identity.features & MORTISE_FEATURE_TIMESTAMP ? report.identity.tick_hz : 0;
	return 0;
}

/* ---- boards that this process attached to */

static pthread_mutex_t attached_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mortise_device *attached;

static void add_attached(struct mortise_device *d)
{
	pthread_mutex_lock(&attached_lock);
	d->next_attached = attached;
	attached = d;
	pthread_mutex_unlock(&attached_lock);
}

static void remove_attached(struct mortise_device *d)
{
	struct mortise_device **at = &attached;

	pthread_mutex_lock(&attached_lock);
	while (*at && *at != d)
		at = &(*at)->next_attached;
	if (*at)
		*at = d->next_attached;
	pthread_mutex_unlock(&attached_lock);
}

/* Close the board of each device that the program declared lost, so that it can be opened again. */
static void leave_lost_boards(void)
{
	struct mortise_device *d;

	pthread_mutex_lock(&attached_lock);
	for (d = attached; d; d = d->next_attached)
		if (__atomic_load_n(&d->base.lost, __ATOMIC_ACQUIRE))
			board_leave(d->board);
	pthread_mutex_unlock(&attached_lock);
}

static void close_board(struct mortise_device *d)
{
	/* the parent's session goes on: a child must not write to it */
	if (mortise_is_ours(d))
		ring_close(d->ring);
	board_close(d->board);
	mortise_heap_fini(&d->heap);
	mortise_heap_fini(&d->code);
	pthread_mutex_destroy(&d->lock);
}

static void mortise_close(struct tenon_device *device)
{
	struct mortise_device *d = mortise_device_of(device);

	if (mortise_is_ours(d))
		remove_attached(d);
	close_board(d);
	free(d);
}

static int mortise_available(struct tenon_device *device, uint64_t *bytes)
{
	*bytes = mortise_heap_left(&mortise_device_of(device)->heap);
	return 0;
}

static int mortise_reset(struct tenon_device *device)
{
	struct mortise_device *d = mortise_device_of(device);

	ring_end(d->ring);
	board_halt(d->board);
	return 0;
}

static const struct tenon_device_ops mortise_device_ops = {
	.size = sizeof(mortise_device_ops),
	.close = mortise_close,
	.available_memory = mortise_available,
	.memory = &mortise_memory_ops,
	.queue = &mortise_queue_ops,
	.executable = &mortise_executable_ops,
	.reset = mortise_reset,
};

static int open_board(struct mortise_device *d, const struct wanted *w, uint64_t deadline)
{
	struct board_place place = { .path = w->path, .deadline = deadline };
	size_t i;

	for (i = 0; i < BOARD_KEYS; i++)
		place.keys[i] = w->keys[i];
	return w->path ? board_attach(w->kind, &place, &d->board) : board_open(w->kind, &d->board);
}

static int start(struct mortise_device *d, const struct wanted *w)
{
	uint64_t deadline = tenon_deadline(w->wait_ms * 1000000);
	int err = open_board(d, w, deadline);

	if (err)
		return err;
	d->window = board_memory(d->board)->base;
	d->address = board_address(d->board);
	err = divide_window(d, board_memory(d->board)->size);
	return err ? err : open_ring(d, w, deadline);
}

/* In picoseconds; that of a clock slower than 233 Hz does not fit. */
static uint32_t period_of(uint32_t hz)
{
	uint64_t period = UINT64_C(1000000000000) / hz;

	return period < UINT32_MAX ? (uint32_t)period : UINT32_MAX;
}

static void fill_properties(struct mortise_device *d, const struct wanted *w)
{
	struct tenon_device_properties *p = d->base.properties;
	struct ring_report report;
	uint32_t v;

	describe_board(w->kind, board_memory(d->board)->size, p);
	p->exports = mortise_exports(board_memory(d->board));
	if (w->path)
		snprintf(p->name, sizeof(p->name), "%s", board_name(d->board));
	ring_report(d->ring, &report);
	v = report.identity.version;
	p->driver_version = (int32_t)v;
	snprintf(p->compute_version, sizeof(p->compute_version), "%u.%u.%u", v >> 16 & 0xff,
		 v >> 8 & 0xff, v & 0xff);
	p->total_memory = p->max_allocation = p->heaps[0].size = mortise_heap_left(&d->heap);
	if (d->tick_hz)
		p->timestamp_period = period_of(d->tick_hz);
}

static int open_wanted(const struct tenon_device_choice *choice, const struct wanted *w,
		       struct mortise_device **out)
{
	struct mortise_device *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	d->owner = getpid();
	if (w->path)
		leave_lost_boards();
	pthread_mutex_init(&d->lock, NULL);
	err = start(d, w);
	if (!err)
		err = tenon_device_init(&d->base, &mortise_device_ops, &mortise_backend,
					choice->index);
	if (err) {
		close_board(d);
		free(d);
		return err;
	}
	fill_properties(d, w);
	if (w->path)
		add_attached(d);
	*out = d;
	return 0;
}

int mortise_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct mortise_device *d = NULL;
	struct wanted w;
	int err = read_choice(choice, &w);

	if (!err)
		err = open_wanted(choice, &w, &d);
	forget_wanted(&w);
	if (!err)
		*out = &d->base;
	return err;
}
