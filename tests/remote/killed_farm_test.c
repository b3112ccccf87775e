/* SPDX-License-Identifier: MIT */
/*
 * SIGKILL of a tracker, and of servers and sessions that it offers: the next client in the queue is served, and nothing is left.
 * TENON_SEED chooses the moments; it is printed.
 */
#include "tests/unit/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tests/remote/emulated.h"
#include "tests/remote/killed.h"

static void wait_for_descriptors(pid_t pid, int want)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;

	while (killed_count_descriptors(pid) != want) {
		if (clock_ms() > end)
			fail_msg("%d descriptors, expected %d", killed_count_descriptors(pid),
				 want);
		killed_pause(5000);
	}
}

static struct farm_process tracker;
static char tracker_address[40] = "127.0.0.1:0";

static void start_tracker(void)
{
	farm_start(&tracker, (const char *const[]){ "tracker", "--listen", tracker_address, NULL });
	if (!strcmp(tracker_address, "127.0.0.1:0"))
		snprintf(tracker_address, sizeof(tracker_address), "127.0.0.1:%d", tracker.port);
	farm_wait_log(&tracker, "listening on");
	tracker.port = atoi(strrchr(tracker_address, ':') + 1);
}

static void start_listed_server(void)
{
	farm_start(&killed_server, (const char *const[]){ "serve", "--listen", "127.0.0.1:0",
							  "--key", "k", "--folder", killed_base,
							  "--tracker", tracker_address, NULL });
}

/* A match key from the tracker; false at the end of the connection. */
static bool read_match(int fd, char key[64])
{
	const char *reply = tracker_receive(fd), *at = strstr(reply, "\"k:");
	const char *stop = at ? strchr(at + 1, '"') : NULL;

	if (!stop || stop - at > 60)
		return false;
	snprintf(key, 64, "%.*s", (int)(stop - at - 1), at + 1);
	return true;
}

static int ask(void)
{
	int fd = tracker_connect(tracker.port);

	tracker_send(fd, "[4, \"k\", \"\", 1]");
	return fd;
}

static void open_matched(struct exchange *x, const char *key)
{
	exchange_open(x);
	exchange_hello(x, key);
	client_init(&x->c);
}

static void wait_for_summary(const char *text)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;
	int fd = tracker_connect(tracker.port);

	while (!strstr(tracker_exchange(fd, "[6]"), text)) {
		assert_true(clock_ms() < end);
		killed_pause(2000);
	}
	close(fd);
}

/* what a client waits for */
enum listed {
	PUT,	   /* nothing: the server is offered */
	WAITING,   /* a server, which another client has */
	MATCHED,   /* it has a match key, and has not used it */
	CONNECTED, /* its session runs */
	LISTED,
};

static const char *const listed_names[LISTED] = { "put", "waiting", "matched", "connected" };

enum victim {
	TRACKER,
	SERVER,
	SESSION,
	VICTIMS,
};

struct farm_client {
	int fd;
	int waiting;
	bool connected;
	struct exchange x;
};

static void reach(struct farm_client *f, enum listed state)
{
	char key[64];

	memset(f, 0, sizeof(*f));
	f->fd = f->waiting = -1;
	wait_for_summary("\"k\": {\"free\": 1");
	if (state == PUT)
		return;
	f->fd = ask();
	assert_true(read_match(f->fd, key));
	if (state == MATCHED)
		return;
	open_matched(&f->x, key);
	f->connected = true;
	if (state == WAITING) {
		f->waiting = ask();
		wait_for_summary("\"pending\": 1");
	}
}

static void leave(struct farm_client *f)
{
	if (f->connected)
		exchange_close(&f->x);
	if (f->fd >= 0)
		close(f->fd);
	if (f->waiting >= 0)
		close(f->waiting);
}

static void replace(enum victim victim, pid_t session)
{
	int status;

	killed_pause((long)killed_random(3000));
	kill(victim == TRACKER	? tracker.pid
	     : victim == SERVER ? killed_server.pid
				: session,
	     SIGKILL);
	if (victim == TRACKER) {
		waitpid(tracker.pid, &status, 0);
		unlink(tracker.log);
		start_tracker();
	} else if (victim == SERVER) {
		killed_end_server(session);
		start_listed_server();
	}
}

/* The client that waits has the next turn, unless the tracker that knew it is gone. */
static void the_next_in_the_queue_is_served(struct farm_client *f, enum victim victim)
{
	const bool waits = f->waiting >= 0 && victim != TRACKER;
	const uint64_t start = clock_ms();
	int fd = waits ? f->waiting : -1;
	struct exchange x;
	char key[64];

	/* a session that lives keeps the board until its client leaves */
	if (f->waiting >= 0 && victim == TRACKER)
		assert_true(farm_closes(f->waiting));
	if (f->connected)
		exchange_close(&f->x);
	f->connected = false;
	if (!waits)
		fd = ask();
	assert_true(read_match(fd, key));
	open_matched(&x, key);
	assert_int_equal(client_function(&x.c, "tvm.rpc.server.upload") != 0, 1);
	if (clock_ms() - start > killed_longest)
		killed_longest = clock_ms() - start;
	exchange_close(&x);
	if (!waits)
		close(fd);
}

static void each_state_of_a_farm_survives_a_kill(void **state)
{
	int descriptors, listed, victim, n = 0;
	struct farm_client f;
	pid_t session;

	(void)state;
	killed_longest = 0;
	start_tracker();
	/* with the connection of the server */
	descriptors = killed_count_descriptors(tracker.pid) + 1;
	start_listed_server();
	for (listed = 0; listed < LISTED; listed++) {
		for (victim = 0; victim < VICTIMS; victim++) {
			reach(&f, listed);
			session = killed_session_of(killed_server.pid);
			if (victim == SESSION && !session) {
				leave(&f);
				continue;
			}
			replace(victim, session);
			the_next_in_the_queue_is_served(&f, victim);
			leave(&f);
			wait_for_summary("\"k\": {\"free\": 1, \"pending\": 0");
			killed_nothing_is_left(session, killed_count_descriptors(killed_server.pid),
					       listed_names[listed]);
			wait_for_descriptors(tracker.pid, descriptors);
			n++;
		}
	}
	print_message("# %d kills; the next client had its result after %d ms at most\n", n,
		      (int)killed_longest);
	assert_int_equal(farm_stop(&killed_server), 0);
	assert_int_equal(farm_stop(&tracker), 0);
	assert_int_equal(killed_count_entries(killed_base, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_state_of_a_farm_survives_a_kill),
	};

	if (server_is_emulated())
		return 0;
	return cmocka_run_group_tests(tests, killed_setup, NULL);
}
