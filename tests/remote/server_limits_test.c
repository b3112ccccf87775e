/* SPDX-License-Identifier: MIT */
/* Uploaded code that takes processes, time, memory and files, and its sandbox. */
#include "tests/remote/server_process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

static void a_session_has_a_limit_of_processes_and_threads(void **state)
{
	int64_t processes, threads;

	(void)state;
	if (kernel_lacks("notifications"))
		skip();
	processes = call_hostile("starts_processes");
	nothing_is_left();
	threads = call_hostile("starts_threads");
	nothing_is_left();
	print_message("# %d processes, %d threads\n", (int)processes, (int)threads);
	assert_in_range(processes, 32, atoi(PROCESSES));
	assert_in_range(threads, 32, atoi(PROCESSES));
}

/* While the session of a client with @key runs @name, others are served. */
static void others_are_served_beside(const char *key, const char *name, const char *reason)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct wire_value none = wire_int(0);
	double begin, longest = 0;
	struct client c;
	uint64_t f;
	int i;

	open_client(&c, key);
	f = hostile_function(&c, name);
	tenon_buffer_u32(&b, PACKET_CALL);
	tenon_buffer_u64(&b, f);
	wire_write_sequence(&b, WIRE_FFI, &none, 1);
	client_send(&c, b.data, b.size);
	tenon_buffer_fini(&b);
	for (i = 0; i < 20; i++) {
		begin = now();
		the_next_client_is_served();
		longest = now() - begin > longest ? now() - begin : longest;
		pause_ms(50);
	}
	print_message("# %s: others waited %.3f s at most\n", name, longest);
	assert_true(client_receive(&c));
	assert_exception(&c, reason);
	assert_false(client_receive(&c));
	server_client_close(&c);
	nothing_is_left();
	the_next_client_is_served();
}

static void others_are_served_beside_code_that_forks_without_end(void **state)
{
	(void)state;
	if (kernel_lacks("notifications"))
		skip();
	others_are_served_beside("client:fixture -timeout=3", "forks_without_end", "session");
}

static void memory_is_counted_over_all_processes_of_a_session(void **state)
{
	(void)state;
	others_are_served_beside("client:fixture", "shares_memory",
				 "used more than 1024 MiB of memory");
}

/* Over a socket of either kind, a call of @name ends the session for @reason. */
static void ends_for(const char *name, const char *reason)
{
	struct client c;
	uint64_t f;
	int i;

	for (i = 0; i < 2; i++) {
		over_tcp = i;
		open_client(&c, "client:fixture");
		f = hostile_function(&c, name);
		/* of TCP the kernel says only by its ticks which of two came later: the last reply, or the request */
		pause_ms(50);
		CALL(&c, f, wire_int(0));
		assert_exception(&c, reason);
		assert_false(client_receive(&c));
		server_client_close(&c);
		over_tcp = false;
		nothing_is_left();
	}
}

static void the_time_of_a_request_does_not_depend_on_what_the_session_says(void **state)
{
	(void)state;
	ends_for("hangs_and_claims_to_be_idle", "took longer than 8 s");
	ends_for("hangs_in_a_read", "took longer than 8 s");
}

/* Requests that come one after the other, each shorter than the limit, take longer than it together. */
static void a_session_that_is_never_idle_for_long_is_not_ended(void **state)
{
	struct client c;
	uint64_t f;
	double end;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		over_tcp = i;
		open_client(&c, "client:fixture");
		f = hostile_function(&c, "sleeps_for_ms");
		end = now() + 10;
		while (now() < end) {
			CALL(&c, f, wire_int(700));
			assert_int_equal(c.code, PACKET_RETURN);
		}
		server_client_close(&c);
		over_tcp = false;
		nothing_is_left();
	}
}

static void a_session_that_waits_for_its_client_is_not_ended(void **state)
{
	struct client before, after;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		over_tcp = i;
		begin_client(&before, "client:fixture");
		open_client(&after, "client:fixture");
		pause_ms(10000);
		client_init(&before);
		assert_int_equal(before.code, PACKET_RETURN);
		CALL(&after, hostile_function(&after, "add_one"), wire_int(41));
		assert_int_equal(after.code, PACKET_RETURN);
		server_client_close(&before);
		server_client_close(&after);
		over_tcp = false;
		nothing_is_left();
	}
}

static void memory_is_looked_at_while_a_session_works(void **state)
{
	(void)state;
	ends_for("holds_memory", "used more than 1024 MiB of memory");
}

static void files_are_counted_together(void **state)
{
	(void)state;
	ends_for("fills_its_folder", "used more than 128 MiB of disk space");
	ends_for("fills_removed_files", "used more than 128 MiB of disk space");
	ends_for("fills_files_in_memory", "used more than 1024 MiB of memory");
	ends_for("makes_deep_folders", "cannot be counted");
}

/* Root can mount in a namespace of its own, other users where they can make user namespaces. */
static bool mounts_are_possible(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
		      mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) ||
		      mount("tmpfs", "/tmp", "tmpfs", 0, "size=4096"));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return !status;
}

static void a_folder_in_memory_never_takes_more_than_its_size(void **state)
{
	int status, i;

	(void)state;
	if (!mounts_are_possible()) {
		print_message("# no process can mount here\n");
		skip();
	}
	kill(server.pid, SIGTERM);
	waitpid(server.pid, &status, 0);
	start_server_with("--folder-in-memory");
	for (i = 0; i < 2; i++) {
		assert_in_range(call_hostile("fills_its_folder_at_once"), 64, 127);
		nothing_is_left();
	}
	/* what a folder may have beside */
	ends_for("fills_files_in_memory", "used more than 1024 MiB of memory");
	the_next_client_is_served();
}

/* ---- the sandbox */

static void uploaded_code_stays_in_its_sandbox(void **state)
{
	char path[4096];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/secret", scratch());
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_true(fd >= 0);
	close(fd);
	if (!kernel_lacks("seccomp (")) {
		assert_int_equal(call_hostile("opens_network"), EPERM);
		assert_int_equal(call_hostile("kills_parent"), EPERM);
		assert_int_equal(call_hostile("watches_the_cache"), EPERM);
		assert_int_equal(call_hostile("makes_a_namespace"), EPERM);
	} else {
		print_message("# this kernel lacks seccomp\n");
	}
	if (!kernel_lacks("Landlock")) {
		assert_int_equal(call_hostile("reads_outside"), EACCES);
		assert_int_equal(call_hostile("writes_outside"), EACCES);
		assert_int_equal(call_hostile("lists_the_cache"), EACCES);
	} else {
		print_message("# this kernel lacks Landlock\n");
	}
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_int_equal(call_hostile("takes_memory"), ENOMEM);
#endif
	nothing_is_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_has_a_limit_of_processes_and_threads),
		cmocka_unit_test(others_are_served_beside_code_that_forks_without_end),
		cmocka_unit_test(the_time_of_a_request_does_not_depend_on_what_the_session_says),
		cmocka_unit_test(a_session_that_is_never_idle_for_long_is_not_ended),
		cmocka_unit_test(a_session_that_waits_for_its_client_is_not_ended),
		cmocka_unit_test(memory_is_looked_at_while_a_session_works),
		cmocka_unit_test(files_are_counted_together),
		cmocka_unit_test(memory_is_counted_over_all_processes_of_a_session),
		cmocka_unit_test(uploaded_code_stays_in_its_sandbox),
		/* the last: with another server */
		cmocka_unit_test(a_folder_in_memory_never_takes_more_than_its_size),
	};

	return run_with_server(tests);
}
