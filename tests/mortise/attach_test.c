/* SPDX-License-Identifier: MIT */
/*
 * Boards that run before they are opened: here a simulator over a file, and an emulator that the test starts as a user does.
 * Hosts come and go, are killed, and find old or damaged files; the board goes on, and a later host finds it well.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tenon/uapi/mortise_order.h>
#include <unistd.h>

#include "firmware/sim/sim.h"
#include "lib/clock.h"
#include "tests/fuzz/random.h"
#include "tests/mortise/mortise_rig.h"

#define WINDOW	(4U << 20)
#define HEAP	0x100000U
#define LOOK_NS 1000000U
/* as long as anything may take on a machine under load */
#define BOUND_NS (40 * SECOND)

extern char **environ;

/* ---- the board: a file, and a simulator that runs on it */

static char file[300];
static uint8_t *window;
static struct sim *sim;

static struct mortise_control *control(void)
{
	return (struct mortise_control *)(void *)(window + MORTISE_CONTROL_OFFSET);
}

static void map_file(size_t size)
{
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	window = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(window != MAP_FAILED);
	close(fd);
}

static void boot(void)
{
	ok(sim_start(window, WINDOW, LOOK_NS, &sim));
}

static void power_off(void)
{
	if (sim)
		ok(sim_stop(sim));
	sim = NULL;
}

static int begin(void **unused)
{
	const char *folder = getenv("TMPDIR");

	(void)unused;
	snprintf(file, sizeof(file), "%s/board.XXXXXX", folder ? folder : "/tmp");
	if (strlen(file) > sizeof(file) - 8 || close(mkstemp(file)))
		return -1;
	map_file(WINDOW);
	boot();
	return bench_register();
}

static int finish(void **unused)
{
	(void)unused;
	tenon_device_close_all();
	power_off();
	munmap(window, WINDOW);
	unlink(file);
	return 0;
}

static const char *uri_of(const char *keys)
{
	static char uri[400];

	snprintf(uri, sizeof(uri), "mortise://shm%s%s", file, keys);
	return uri;
}

static void refuses(const char *keys, int status, const char *why)
{
	uint64_t began = clock_now();
	struct tenon_device *d;
	int err = tenon_device_open(uri_of(keys), &d);

	if (err != status)
		print_error("%d: %s\n", err, tenon_error_message());
	assert_int_equal(err, status);
	assert_error_has(why);
	assert_true(clock_now() - began < BOUND_NS);
}

/* Devices that are open stay open until all are closed. */
static void drop(struct bench *b)
{
	end(b);
	tenon_device_close_all();
}

/* ---- cases */

static void hosts_come_and_go(void **unused)
{
	struct bench b;
	uint32_t i;

	(void)unused;
	for (i = 0; i < 3; i++) {
		start(&b, uri_of(""));
		works(&b, i);
		drop(&b);
		assert_true(sim_is_running(sim));
	}
}

static void one_host_at_a_time(void **unused)
{
	struct bench b, c;

	(void)unused;
	start(&b, uri_of(""));
	refuses("?watchdog=5", -TENON_E_DEVICE, "another process uses this device memory");
	works(&b, 1);
	reset(&b);
	refuses("?watchdog=5", -TENON_E_DEVICE, "another process uses this device memory");
	/* a lost device does not keep others out */
	tenon_device_lose(b.device, tenon_error(-TENON_E_LOST, "given up"));
	tenon_error_clear();
	drop(&b);
	start(&c, uri_of("?watchdog=5000"));
	works(&c, 2);
	drop(&c);
}

static void an_old_file_is_noticed(void **unused)
{
	struct bench b;

	(void)unused;
	power_off();
	refuses("?wait=300", -TENON_E_TIMEOUT, "the firmware does not answer");
	boot();
	start(&b, uri_of(""));
	works(&b, 3);
	drop(&b);
}

static void damaged_files_are_told_apart(void **unused)
{
	struct mortise_identity saved;
	struct bench b;

	(void)unused;
	power_off();
	saved = control()->identity;
	control()->identity.magic = 0;
	refuses("?wait=50", -TENON_E_TIMEOUT, "no firmware runs on this memory");
	control()->identity = saved;
	control()->identity.window_size = 2 * (uint64_t)WINDOW;
	refuses("?wait=50", -TENON_E_TRUNCATED, "the file has");
	control()->identity.window_size = UINT64_MAX - 100;
	refuses("?wait=50", -TENON_E_DEVICE, "not the memory of a board");
	control()->identity.window_size = 64;
	refuses("?wait=50", -TENON_E_DEVICE, "not the memory of a board");
	control()->identity = saved;
	assert_int_equal(truncate(file, WINDOW / 2), 0);
	refuses("?wait=50", -TENON_E_TRUNCATED, "the file has");
	assert_int_equal(truncate(file, 100), 0);
	refuses("?wait=50", -TENON_E_TRUNCATED, "the file has");
	assert_int_equal(truncate(file, WINDOW), 0);
	refuses("?wait=50", -TENON_E_TIMEOUT, "no firmware runs on this memory");
	boot();
	start(&b, uri_of(""));
	works(&b, 4);
	drop(&b);
	mortise_put(&control()->identity.tick_hz, 1);
	start(&b, uri_of(""));
	assert_int_equal(tenon_device_properties(b.device)->timestamp_period, UINT32_MAX);
	drop(&b);
	mortise_put(&control()->identity.tick_hz, saved.tick_hz);
	refuses("?nonsense=1", -TENON_E_VALUE, "no key");
	refuses("?doorbell=/nonexistent", -TENON_E_DEVICE, "cannot connect");
}

static void a_restart_loses_the_context(void **unused)
{
	struct bench b;

	(void)unused;
	start(&b, uri_of("?silence=30000"));
	works(&b, 5);
	power_off();
	boot();
	is_lost(&b, "context lost");
	reopen(&b);
	drop(&b);
}

static void an_end_loses_the_device(void **unused)
{
	struct tenon_device *fresh;
	struct bench b;

	(void)unused;
	start(&b, uri_of("?silence=500&wait=300"));
	works(&b, 6);
	power_off();
	is_lost(&b, "device lost");
	assert_int_equal(tenon_device_reopen(b.device, &fresh), -TENON_E_TIMEOUT);
	tenon_error_clear();
	assert_int_equal(tenon_device_reset(b.device, &fresh), -TENON_E_TIMEOUT);
	tenon_error_clear();
	drop(&b);
	boot();
	start(&b, uri_of(""));
	works(&b, 7);
	drop(&b);
}

/* A child of fork() loses the device; the parent's work completes. */
static void fork_between_submit_and_wait(void **unused)
{
	struct bench b;
	int status;
	pid_t pid;

	(void)unused;
	start(&b, uri_of(""));
	ok(tenon_queue_fill(b.queue, b.memory, 0, 4096, 8, 4, NULL));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		status = tenon_queue_sync(b.queue, tenon_deadline(SECOND));
		tenon_object_unref(b.memory);
		tenon_object_unref(b.queue);
		tenon_object_unref(b.device);
		_exit(status != -TENON_E_LOST);
	}
	ok(tenon_queue_sync(b.queue, tenon_deadline(60 * SECOND)));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	works(&b, 8);
	drop(&b);
}

/* ---- the campaign: hosts in processes of their own, which need no device layer */

struct host {
	struct board *board;
	struct ring *ring;
	uint64_t heap;
};

static int open_host(struct host *h, bool patient)
{
	const struct board_place place = { .path = file, .deadline = clock_now() + 60 * SECOND };
	struct ring_setup setup = {
		.name = "host",
		.ring_offset = MORTISE_SHARED_OFFSET,
		.ring_words = MORTISE_RING_LEAST,
		.watchdog_ms = patient ? 0 : 300,
		.silence_ms = patient ? 30000 : 400,
		.region_count = 1,
	};
	int err;

	err = board_attach(board_kind_find("shm"), &place, &h->board);
	if (err)
		return err;
	setup.window = board_memory(h->board)->base;
	setup.window_size = board_memory(h->board)->size;
	setup.window_address = board_address(h->board);
	h->heap = setup.window_address + HEAP;
	setup.regions[0] = (struct mortise_region){ h->heap, setup.window_size - HEAP,
						    MORTISE_READ | MORTISE_WRITE, 0 };
	err = ring_open(board_port(h->board), &setup, place.deadline, &h->ring);
	if (err)
		board_close(h->board);
	return err;
}

static void close_host(struct host *h)
{
	ring_close(h->ring);
	board_close(h->board);
}

/* A few fills, or in front of them a packet that waits for ever. */
static int submit(struct host *h, struct random *r, bool stuck, uint64_t *sequence)
{
	struct mortise_fill p = { { MORTISE_OP_FILL, 0, 0, 0 }, h->heap, 0, random_next(r), 8, 0 };
	struct mortise_semaphore w = { { MORTISE_OP_WAIT, 0, 0, 0 }, h->heap + 0x200000, 1, 0 };
	uint64_t n = 1 + random_below(r, 20);
	int err = 0;

	if (stuck) {
		*(uint32_t *)(void *)(board_memory(h->board)->base + HEAP + 0x200000) = 0;
		err = ring_emit(h->ring, &w, sizeof(w), RING_NOW, sequence);
	}
	while (n-- && !err) {
		p.size = 8 * random_below(r, 2000);
		err = ring_emit(h->ring, &p, sizeof(p), RING_NOW, sequence);
	}
	return err;
}

/* A job whose result is known, on a session of its own. */
static void the_board_is_well(uint64_t seed)
{
	struct host h;
	const uint64_t *found;
	uint64_t sequence;
	size_t i;
	struct mortise_fill p = { { MORTISE_OP_FILL, 0, 0, 0 }, 0, 4096, seed, 8, 0 };

	ok(open_host(&h, true));
	p.to = h.heap;
	found = (const uint64_t *)(void *)(board_memory(h.board)->base + HEAP);
	ok(ring_emit(h.ring, &p, sizeof(p), RING_NOW, &sequence));
	ok(ring_wait(h.ring, sequence, clock_now() + 30 * SECOND));
	for (i = 0; i < 512; i++)
		assert_int_equal(found[i], seed);
	close_host(&h);
}

static unsigned int bit_of(int err)
{
	return 1U << -err;
}

#define FINE (1U << 0)
#define JOB  (1U << TENON_E_DEVICE)
#define LOST (1U << TENON_E_LOST)

/* A host in another process, which is killed with its jobs in the ring. */
static unsigned int killed_host(struct random *r)
{
	bool stuck = random_one_in(r, 2);
	struct host h;
	uint64_t sequence;
	int pipe_to[2], status;
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(pipe_to), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (open_host(&h, true) || submit(&h, r, stuck, &sequence))
			_exit(1);
		if (write(pipe_to[1], "!", 1) == 1)
			for (;;)
				pause();
		_exit(2);
	}
	close(pipe_to[1]);
	assert_int_equal(read(pipe_to[0], &byte, 1), 1);
	close(pipe_to[0]);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	return 0;
}

/* A session with a fault in it: how it ended, if that fits the fault; else 0. */
static unsigned int work(struct random *r, unsigned int (*fault)(struct random *r, struct host *h))
{
	uint64_t sequence;
	struct host h;
	unsigned int fits, found;
	int err;

	ok(open_host(&h, false));
	fits = fault(r, &h);
	err = submit(&h, r, false, &sequence);
	if (!err)
		err = ring_wait(h.ring, sequence, clock_now() + 60 * SECOND);
	found = bit_of(err);
	if (!(found & fits))
		print_error("%d: %s\n", err, tenon_error_message());
	tenon_error_clear();
	close_host(&h);
	return found & fits;
}

static unsigned int restart(struct random *r, struct host *h)
{
	(void)r, (void)h;
	power_off();
	boot();
	return LOST;
}

static unsigned int end_of_the_firmware(struct random *r, struct host *h)
{
	(void)r, (void)h;
	power_off();
	return LOST;
}

static unsigned int freeze(struct random *r, struct host *h)
{
	(void)r, (void)h;
	sim_freeze(sim, true);
	return LOST;
}

/* A race on purpose, which ThreadSanitizer does not see. */
__attribute__((no_sanitize("thread"))) static void scribble(uint32_t *word, struct random *r)
{
	*(volatile uint32_t *)word = (uint32_t)random_next(r);
}

/* What the device writes, or the ring that it only reads. */
static unsigned int garbage_of_the_device(struct random *r, struct host *h)
{
	size_t first = offsetof(struct mortise_control, device) / 4;
	size_t count = (offsetof(struct mortise_control, host) / 4) - first;
	uint32_t *words = (uint32_t *)(void *)control();

	(void)h;
	scribble(&words[first + random_below(r, count)], r);
	return FINE | LOST | JOB;
}

static unsigned int garbage_in_the_ring(struct random *r, struct host *h)
{
	uint32_t *words = (uint32_t *)(void *)(window + MORTISE_SHARED_OFFSET);
	uint64_t sequence;
	int n;

	submit(h, r, false, &sequence);
	tenon_error_clear();
	for (n = 0; n < 64; n++)
		scribble(&words[random_below(r, 256)], r);
	return FINE | LOST | JOB;
}

static unsigned int garbage_of_the_host(struct random *r, struct host *h)
{
	uint64_t junk[16], sequence;
	size_t i;

	for (i = 0; i < 16; i++)
		junk[i] = random_next(r);
	ring_emit(h->ring, junk, 8 + random_below(r, 120), RING_NOW, &sequence);
	tenon_error_clear();
	return FINE | LOST | JOB;
}

static unsigned int foreign_session(struct random *r, struct host *h)
{
	(void)h;
	mortise_release(&control()->host.session, (uint32_t)random_below(r, 3));
	/* a firmware that looked just before may complete the work */
	return FINE | LOST | JOB;
}

static unsigned int (*const faults[])(struct random *r, struct host *h) = {
	restart,
	end_of_the_firmware,
	freeze,
	garbage_of_the_device,
	garbage_in_the_ring,
	garbage_of_the_host,
	foreign_session,
	garbage_of_the_device,
	garbage_in_the_ring,
	garbage_of_the_host,
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

/* Files that no session may begin on. */
static void bad_file(struct random *r)
{
	const struct board_place place = { .path = file, .deadline = clock_now() + 1000000 };
	struct mortise_identity saved = control()->identity;
	struct board *board = NULL;
	bool cut = random_one_in(r, 2);
	int err;

	if (cut)
		assert_int_equal(truncate(file, (off_t)random_below(r, WINDOW)), 0);
	else
		control()->identity.window_size = random_next(r) | (uint64_t)WINDOW << 1;
	err = board_attach(board_kind_find("shm"), &place, &board);
	if (!err)
		fail_msg("a file with %s is accepted", cut ? "too few bytes" : "a wrong size");
	tenon_error_clear();
	if (cut)
		assert_int_equal(truncate(file, WINDOW), 0);
	control()->identity = saved;
}

/* The board as after power-on. */
static void mend(void)
{
	if (sim)
		sim_freeze(sim, false);
	power_off();
	memset(window, 0, MORTISE_SHARED_OFFSET);
	boot();
}

static void inject_one(uint64_t seed)
{
	struct random r = { seed };
	size_t which = random_below(&r, FAULTS + 3);
	uint64_t began = clock_now();

	if (which < 2) {
		killed_host(&r);
	} else if (which == 2) {
		power_off();
		bad_file(&r);
		mend();
	} else {
		if (!work(&r, faults[which - 3]))
			fail_msg("seed %llu: fault %zu is not told as it should",
				 (unsigned long long)seed, which - 3);
		mend();
	}
	assert_true(clock_now() - began < BOUND_NS);
	the_board_is_well(seed);
}

static void faults_at_random_end_in_time_and_harm_nothing_later(void **unused)
{
	const char *hil = getenv("HIL"), *full = getenv("FULL"), *text = getenv("SEED");
	uint64_t first = text && *text ? strtoull(text, NULL, 0) : 1, i;
	uint64_t count = (hil && *hil) || (full && *full) ? 200 : 40;

	(void)unused;
	for (i = 0; i < count; i++)
		inject_one(first + i);
	print_message("# %llu faults, from SEED=%llu on\n", (unsigned long long)count,
		      (unsigned long long)first);
}

/* ---- an emulator, as a user starts it */

static pid_t spawn_emulator(const char *uart)
{
	char object[512], image[512], chardev[512];
	const char *words[] = {
		"qemu-system-riscv64",
		"-M",
		"virt,memory-backend=ram",
		"-accel",
		"tcg",
		"-object",
		object,
		"-m",
		"16M",
		"-nodefaults",
		"-display",
		"none",
		"-monitor",
		"none",
		"-bios",
		"none",
		"-chardev",
		chardev,
		"-serial",
		"chardev:uart",
		"-kernel",
		image,
		NULL,
	};
	pid_t pid;

	snprintf(object, sizeof(object), "memory-backend-file,id=ram,share=on,mem-path=%s,size=16M",
		 file);
	snprintf(image, sizeof(image), "%s/mortise-rv64.elf", getenv("TENON_FIRMWARE_PATH"));
	snprintf(chardev, sizeof(chardev),
		 uart ? "socket,id=uart,path=%s,server=on,wait=off" : "null,id=uart", uart);
	assert_int_equal(
		posix_spawnp(&pid, words[0], NULL, NULL, (char *const *)(uintptr_t)words, environ),
		0);
	return pid;
}

static void try_emulator(const char *uart, const char *keys)
{
	struct tenon_device *fresh;
	struct bench b;
	int status;
	pid_t pid;

	/* an old file shows the firmware of before */
	memset(window, 0, MORTISE_SHARED_OFFSET);
	pid = spawn_emulator(uart);
	while (uart && access(uart, F_OK) && !waitpid(pid, &status, WNOHANG))
		;
	start(&b, uri_of(keys));
	works(&b, 9);
	tenon_device_lose(b.device, tenon_error(-TENON_E_LOST, "given up"));
	tenon_error_clear();
	/* closed, and opened again: the emulator goes on */
	drop(&b);
	start(&b, uri_of(keys));
	works(&b, 10);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	is_lost(&b, uart ? "remote crashed" : "device lost");
	if (uart)
		assert_int_equal(tenon_device_reopen(b.device, &fresh), -TENON_E_DEVICE);
	tenon_error_clear();
	drop(&b);
}

static void a_users_emulator_is_used_and_left_alone(void **unused)
{
	const char *why = board_is_left_out("rv64");
	char socket[sizeof(file) + 8], keys[400];

	(void)unused;
	if (why) {
		print_message("# rv64 is left out: %s\n", why);
		tenon_error_clear();
		skip();
	}
	power_off();
	munmap(window, WINDOW);
	map_file(16 << 20);
	snprintf(socket, sizeof(socket), "%s.uart", file);
	snprintf(keys, sizeof(keys), "?wait=30000&silence=2000&doorbell=%s", socket);
	try_emulator(NULL, "?wait=30000&silence=2000");
	/* the name of a socket is short */
	if (strlen(socket) < 100)
		try_emulator(socket, keys);
	unlink(socket);
	munmap(window, 16 << 20);
	map_file(WINDOW);
	boot();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		/* in front of those that open devices: hosts there are children of fork() */
		cmocka_unit_test(faults_at_random_end_in_time_and_harm_nothing_later),
		cmocka_unit_test(hosts_come_and_go),
		cmocka_unit_test(one_host_at_a_time),
		cmocka_unit_test(an_old_file_is_noticed),
		cmocka_unit_test(damaged_files_are_told_apart),
		cmocka_unit_test(a_restart_loses_the_context),
		cmocka_unit_test(an_end_loses_the_device),
		cmocka_unit_test(fork_between_submit_and_wait),
		cmocka_unit_test(a_users_emulator_is_used_and_left_alone),
	};

	return cmocka_run_group_tests(tests, begin, finish);
}
