/* SPDX-License-Identifier: MIT */
/* Reset and start the NPU by its registers, and wait for its interrupt. */
#include "devices/ethosu/ethosu_uio.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>

#include "devices/ethosu/ethosu_registers.h"
#include "lib/brief_errors.h"
#include "lib/clock.h"

/* a reset takes microseconds; it is looked at a thousand times, a millisecond apart */
#define PAUSE_NS 1000000
#define PAUSES	 1000

/* longest wait for an interrupt before the status register is read and a call to give up the device is noticed */
#define SLICE_NS UINT64_C(20000000)

/* 32 reads and 16 writes under way, each below their number by one; bursts of 64 bytes, which both products allow */
#define AXI_LIMIT 0x0f1f0000

/* all regions with the limits 0, which are port 0; or 2, which are port 1 */
#define PORTS_U55 0x0000
#define PORTS_U65 0xaaaa

static uint32_t get(const struct ethosu_uio *u, unsigned int offset)
{
	return ethosu_register_read(u->registers, offset);
}

static void put(const struct ethosu_uio *u, unsigned int offset, uint32_t value)
{
	ethosu_register_write(u->registers, offset, value);
}

static void nap(const struct ethosu_uio *u)
{
	const struct timespec t = { 0, PAUSE_NS };
	struct pollfd none = { .fd = -1 };

	(void)u->uio.calls->ppoll(&none, 1, &t);
}

static int lost(const struct ethosu_uio *u)
{
	return tenon_error(-TENON_E_LOST, "%s: the device does not answer any more", u->uio.path);
}

/* ---- reset */

static int await_reset(const struct ethosu_uio *u)
{
	uint32_t status;
	unsigned int i;

	for (i = 0; i < PAUSES; i++) {
		nap(u);
		status = get(u, ETHOSU_REG_STATUS);
		if (status == UINT32_MAX)
			return lost(u);
		if (!(status & ETHOSU_STATUS_RESETS))
			return 0;
	}
	return tenon_error(-TENON_E_DEVICE,
			   "%s: the reset does not end (STATUS 0x%x): is its clock on, and its "
			   "power",
			   u->uio.path, status);
}

static void set_ports(const struct ethosu_uio *u)
{
	unsigned int i;

	put(u, ETHOSU_REG_QCONFIG, u->ports & 3);
	put(u, ETHOSU_REG_REGIONCFG, u->ports);
	for (i = 0; i < ETHOSU_AXI_LIMITS; i++)
		put(u, ETHOSU_REG_AXI_LIMIT + 4 * i, AXI_LIMIT);
}

static int reset(struct ethosu_uio *u)
{
	int err;

	u->is_stuck = true;
	put(u, ETHOSU_REG_RESET, ETHOSU_NOT_SECURE);
	err = await_reset(u);
	if (err)
		return err;
	if (!(get(u, ETHOSU_REG_PROT) & ETHOSU_NOT_SECURE))
		return tenon_error(-TENON_E_DEVICE,
				   "%s: it stays in the secure state (PROT 0x%x), which firmware "
				   "must let it leave",
				   u->uio.path, get(u, ETHOSU_REG_PROT));
	set_ports(u);
	u->is_stuck = false;
	return 0;
}

static bool is_given_up(const struct ethosu_uio *u)
{
	return __atomic_load_n(&u->is_given_up, __ATOMIC_SEQ_CST);
}

/* ---- the gate */

int ethosu_uio_enter(struct ethosu_uio *u)
{
	int err = 0;

	pthread_mutex_lock(&u->gate);
	if (is_given_up(u))
		err = lost(u);
	else if (u->is_stuck)
		err = reset(u);
	if (err)
		ethosu_uio_leave(u);
	return err;
}

void ethosu_uio_leave(struct ethosu_uio *u)
{
	pthread_mutex_unlock(&u->gate);
}

int ethosu_uio_give_up(struct ethosu_uio *u)
{
	int err = 0;

	pthread_mutex_lock(&u->gate);
	/* reset only once: after the first reset another process may own the device */
	if (!is_given_up(u)) {
		__atomic_store_n(&u->is_given_up, true, __ATOMIC_SEQ_CST);
		err = reset(u);
		(void)system_lock(u->uio.calls, u->uio.fd, false);
	}
	ethosu_uio_leave(u);
	return err;
}

/* ---- jobs */

static void start(const struct ethosu_uio *u, const struct ethosu_uio_job *job)
{
	unsigned int i;

	ethosu_register_write_address(u->registers, ETHOSU_REG_QBASE, job->stream);
	put(u, ETHOSU_REG_QSIZE, job->size);
	for (i = 0; i < ETHOSU_REGIONS; i++)
		ethosu_register_write_address(u->registers, ETHOSU_REG_BASEP + 8 * i,
					      job->bases[i]);
	/* write everything that the device reads before it starts */
	__sync_synchronize();
	put(u, ETHOSU_REG_CMD, ETHOSU_CMD_RUN);
}

/* One look at a device without an interrupt. */
static int poll_once(const struct ethosu_uio *u, uint64_t deadline)
{
	if (clock_now() >= deadline)
		return tenon_error(-TENON_E_TIMEOUT, "%s: not before the deadline", u->uio.path);
	nap(u);
	return 0;
}

static uint64_t slices_before(uint64_t deadline)
{
	const uint64_t now = clock_now();

	return deadline > now ? (deadline - now) / SLICE_NS : 0;
}

static int wait_slice(struct ethosu_uio *u, uint64_t deadline)
{
	const uint64_t end = clock_now() + SLICE_NS;
	uint32_t count;

	return uio_wait_interrupt(&u->uio, end < deadline ? end : deadline, &count);
}

/*
 * Wait until the device says that it stopped. Linux masks an interrupt that it has counted, and others may share
 * the line. An interrupt may be lost, so the device is looked at behind each slice, too.
 */
static int await_end(struct ethosu_uio *u, uint64_t deadline, uint32_t *status)
{
	uint64_t slices = u->polls ? 0 : slices_before(deadline);
	int err = 0, late;

	for (;;) {
		late = u->polls ? poll_once(u, deadline) : wait_slice(u, deadline);
		*status = get(u, ETHOSU_REG_STATUS);
		if (*status == UINT32_MAX || is_given_up(u))
			return lost(u);
		if (*status & ETHOSU_STATUS_INTERRUPT) {
			tenon_error_clear();
			return 0;
		}
		if (late == -TENON_E_TIMEOUT && slices) {
			slices--;
			continue;
		}
		if (!late && !u->polls)
			err = uio_enable_interrupt(&u->uio);
		if (late || err)
			return late ? late : err;
		/* devices on the same line may interrupt endlessly */
		if (!u->polls && clock_now() >= deadline)
			return tenon_error(-TENON_E_TIMEOUT, "%s: not before the deadline",
					   u->uio.path);
	}
}

/*
 * Reset the device after a job that failed or timed out, and keep the first error. Caller holds the
 * gate.
 */
static int fail(struct ethosu_uio *u, int status)
{
	char words[512];

	snprintf(words, sizeof(words), "%s", tenon_error_message());
	if (reset(u))
		return tenon_error(status, "%s; and then: %s", words, tenon_error_message());
	return tenon_error(status, "%s; it was reset", words);
}

static int end(struct ethosu_uio *u, uint32_t status)
{
	char words[ETHOSU_FAULT_TEXT];

	put(u, ETHOSU_REG_CMD, ETHOSU_CMD_CLEAR);
	/* read the results only after the device has finished */
	__sync_synchronize();
	if (!(status & ETHOSU_STATUS_FAULTS) && status & ETHOSU_STATUS_END)
		return 0;
	ethosu_fault_text(status, words);
	return fail(u, tenon_error(-TENON_E_DEVICE, "%s: %s (STATUS 0x%08x, at 0x%x of the stream)",
				   u->uio.path, words, status, get(u, ETHOSU_REG_QREAD)));
}

static int late(struct ethosu_uio *u, int err, uint32_t status)
{
	if (err == -TENON_E_TIMEOUT)
		err = tenon_error(err,
				  "%s: the job has not ended (STATUS 0x%08x, at 0x%x of the "
				  "stream)",
				  u->uio.path, status, get(u, ETHOSU_REG_QREAD));
	return fail(u, err);
}

static int begin(struct ethosu_uio *u, const struct ethosu_uio_job *job)
{
	int err = ethosu_uio_enter(u);

	if (err)
		return err;
	if (!u->polls)
		err = uio_enable_interrupt(&u->uio);
	if (!err)
		start(u, job);
	ethosu_uio_leave(u);
	return err;
}

/* Do not hold the gate while a job runs, so that another thread can give up the device. */
int ethosu_uio_run(struct ethosu_uio *u, const struct ethosu_uio_job *job, uint64_t deadline)
{
	uint32_t status = 0;
	int err = begin(u, job), ended;

	if (err)
		return err;
	ended = await_end(u, deadline, &status);
	err = ethosu_uio_enter(u);
	if (err)
		return err;
	err = ended ? late(u, ended, status) : end(u, status);
	ethosu_uio_leave(u);
	return err;
}

/* ---- opening */

static int lock(const struct ethosu_uio *u)
{
	if (!system_lock(u->uio.calls, u->uio.fd, true))
		return 0;
	if (errno == EWOULDBLOCK)
		return tenon_error(-TENON_E_DEVICE,
				   "%s: another program uses it, or another device of this one",
				   u->uio.path);
	return system_error(errno, u->uio.path, "lock it");
}

static int map_registers(struct ethosu_uio *u)
{
	unsigned int i, index = 0;
	int err;

	for (i = 0; i < u->uio.map_count; i++)
		if (!strcmp(u->uio.map[i].name, "registers"))
			index = i;
	err = uio_map(&u->uio, index);
	if (err)
		return err;
	u->registers = u->uio.map[index].base;
	u->registers_map = &u->uio.map[index];
	if (u->uio.map[index].size >= ETHOSU_REG_END)
		return 0;
	return tenon_error(-TENON_E_TRUNCATED,
			   "%s: map %u has %" PRIu64 " bytes, and the registers have %u",
			   u->uio.path, index, u->uio.map[index].size, ETHOSU_REG_END);
}

/*
 * Refuse a window that overlaps the registers: results written there would start unchecked
 * commands.
 */
static int check_apart(const struct ethosu_uio *u)
{
	const struct uio_map *r = u->registers_map;
	const struct ethosu_window *w = &u->window;
	const uint64_t first = r->address + r->offset;

	if (w->base != r->base && (first >= w->address ? first - w->address >= w->memory.size
						       : w->address - first >= r->size))
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s: its registers are in it; name other memory: ?memory=N for map N, "
			   "or an u-dma-buf, as in ?memory=udmabuf0",
			   w->name);
}

static int identify(struct ethosu_uio *u)
{
	int err;

	u->target.id = get(u, ETHOSU_REG_ID);
	u->target.config = get(u, ETHOSU_REG_CONFIG);
	/* a device in reset reads as 0 */
	if (!u->target.id || u->target.id == UINT32_MAX)
		return tenon_error(-TENON_E_DEVICE,
				   "%s: its registers read as 0x%x: it has no clock or power, is "
				   "held in reset, or is not there",
				   u->uio.path, u->target.id);
	err = ethosu_target_check(&u->target);
	if (err || ethosu_product_of(&u->target) != ETHOSU_PRODUCT_U85)
		return err;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s: it is a U85, whose ports are set up in another way: U55 and U65 "
			   "are known",
			   u->uio.path);
}

/* The node of a device without an interrupt fails when it is read. */
static bool has_interrupt(struct uio *uio)
{
	uint32_t count;
	int err = uio_enable_interrupt(uio);

	if (!err)
		err = uio_wait_interrupt(uio, 0, &count);
	tenon_error_clear();
	return !err || err == -TENON_E_TIMEOUT;
}

static int set_up(struct ethosu_uio *u, const struct ethosu_uio_place *place)
{
	int err = lock(u);
	bool is_u55;

	if (!err)
		err = map_registers(u);
	if (!err)
		err = identify(u);
	if (err)
		return err;
	is_u55 = ethosu_product_of(&u->target) == ETHOSU_PRODUCT_U55;
	u->ports = place->ports ? *place->ports : is_u55 ? PORTS_U55 : PORTS_U65;
	err = ethosu_window_open(&u->uio, place->root, place->memory, is_u55 ? 32 : 40, &u->window);
	if (err)
		return err;
	err = check_apart(u);
	if (!err) {
		u->polls = !has_interrupt(&u->uio);
		err = reset(u);
	}
	if (err)
		ethosu_window_close(&u->window);
	return err;
}

int ethosu_uio_open(const struct ethosu_uio_place *place, struct ethosu_uio *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = uio_open(place->calls, place->root, place->number, &out->uio);
	if (err)
		return err;
	err = set_up(out, place);
	if (err) {
		uio_close(&out->uio);
		return err;
	}
	pthread_mutex_init(&out->lock, NULL);
	pthread_mutex_init(&out->gate, NULL);
	return 0;
}

void ethosu_uio_close(struct ethosu_uio *u)
{
	if (u->is_stuck && !is_given_up(u)) {
		(void)reset(u);
		tenon_error_clear();
	}
	ethosu_window_close(&u->window);
	pthread_mutex_destroy(&u->gate);
	pthread_mutex_destroy(&u->lock);
	uio_close(&u->uio);
}
