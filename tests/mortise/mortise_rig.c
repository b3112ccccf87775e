/* SPDX-License-Identifier: MIT */
/* Open a device of mortise with a queue, and bring it back after it was lost. */
#include "tests/mortise/mortise_rig.h"

#include <stdlib.h>

#include "lib/clock.h"

int bench_register(void)
{
	if (tenon_backend_find(tenon_slice_of("mortise")))
		return 0;
	return tenon_backend_register(&mortise_backend);
}

static void attach(struct bench *b)
{
	struct tenon_memory_request request = { sizeof(request), 4096, TENON_MEMORY_DEFAULT, -1,
						NULL };

	b->mortise = mortise_device_of(b->device);
	ok(tenon_queue_create(b->device, &b->queue));
	ok(tenon_memory_alloc(b->device, &request, &b->memory));
	ok(tenon_device_set_current(b->device));
}

void start(struct bench *b, const char *uri)
{
	ok(tenon_device_open(uri, &b->device));
	attach(b);
}

static void detach(struct bench *b)
{
	tenon_object_unref(b->memory);
	tenon_object_unref(b->queue);
}

void end(struct bench *b)
{
	detach(b);
	tenon_object_unref(b->device);
}

void works(struct bench *b, uint32_t pattern)
{
	uint32_t back[1024] = { 0 };

	ok(tenon_queue_fill(b->queue, b->memory, 0, 4096, pattern, 4, NULL));
	ok(tenon_queue_read(b->queue, back, b->memory, 0, 4096, NULL));
	ok(tenon_queue_sync(b->queue, tenon_deadline(60 * SECOND)));
	assert_int_equal(back[0], pattern);
	assert_int_equal(back[1023], pattern);
}

void is_lost(struct bench *b, const char *why)
{
	uint64_t began = clock_now();
	int err = tenon_queue_fill(b->queue, b->memory, 0, 4096, 7, 4, NULL);

	if (!err)
		err = tenon_queue_sync(b->queue, tenon_deadline(60 * SECOND));
	if (err != -TENON_E_LOST || !message_has(why))
		print_error("wanted: %s\nfound %d: %s\n", why, err, tenon_error_message());
	assert_int_equal(err, -TENON_E_LOST);
	assert_error_has(why);
	assert_true(clock_now() - began < 120 * SECOND);
}

static void replace(struct bench *b, int (*by)(struct tenon_device *, struct tenon_device **))
{
	struct tenon_device *fresh;

	detach(b);
	ok(by(b->device, &fresh));
	assert_ptr_not_equal(fresh, b->device);
	tenon_object_unref(b->device);
	b->device = fresh;
	attach(b);
	works(b, 0x5a5a0001);
}

void reopen(struct bench *b)
{
	replace(b, tenon_device_reopen);
}

void reset(struct bench *b)
{
	replace(b, tenon_device_reset);
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

const char *board_is_left_out(const char *name)
{
	const struct board_kind *kind = board_kind_find(name);

	if (!kind)
		return "this build does not have the board";
	if (kind->firmware && is_set("EMULATOR"))
		return "this program is emulated itself";
	if (kind->firmware && strcmp(name, "rv64") && !is_set("FULL") && !is_set("HIL"))
		return "\"make check-hil\" and FULL=1 run this board";
	return kind->ready(kind) ? tenon_error_message() : NULL;
}
