/* SPDX-License-Identifier: MIT */
/* Options of tenon/rpc.h: their defaults, those of programs with a smaller struct, and what is refused; servers that end at once. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <tenon/rpc.h>

#include "tests/remote/failing_call.h"
#include "tests/unit/suite.h"

static void no_address_is_refused(void **state)
{
	static const char *const none[] = { NULL };
	struct tenon_rpc_server_options server;
	struct tenon_rpc_tracker_options tracker;
	struct tenon_rpc_proxy_options proxy;
	int i;

	(void)state;
	tenon_rpc_server_options_init(&server, sizeof(server));
	tenon_rpc_tracker_options_init(&tracker, sizeof(tracker));
	tenon_rpc_proxy_options_init(&proxy, sizeof(proxy));
	for (i = 0; i < 2; i++) {
		assert_int_equal(tenon_rpc_serve(&server), -TENON_E_USAGE);
		assert_int_equal(tenon_rpc_track(&tracker), -TENON_E_USAGE);
		assert_int_equal(tenon_rpc_proxy(&proxy), -TENON_E_USAGE);
		server.listen = tracker.listen = proxy.listen = none;
	}
}

static const char *const listen_anywhere[] = { "127.0.0.1:0", NULL };

/* what is wrong with the options of a case */
typedef void (*option_change)(struct tenon_rpc_server_options *o);

/* What tenon_rpc_serve() says to the defaults, with an address, after a change; it would listen if all were well. */
static int serve_with(option_change change)
{
	struct tenon_rpc_server_options o;

	tenon_rpc_server_options_init(&o, sizeof(o));
	o.listen = listen_anywhere;
	change(&o);
	return tenon_rpc_serve(&o);
}

#define CHANGE(name, ...)                                                                          \
	static void name(struct tenon_rpc_server_options *o)                                       \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static const char *const no_user[] = { "no-such-user", NULL };

CHANGE(certificate_without_key, o->tls_certificate = "tls.crt";)
CHANGE(key_without_certificate, o->tls_key = "tls.key";)
CHANGE(learning_without_sandbox, o->sandbox = false; o->learn = true;)
CHANGE(sockets_without_sandbox, o->sandbox = false; o->sockets = listen_anywhere;)
CHANGE(memory_without_sandbox, o->sandbox = false; o->folder_in_memory = true;)
CHANGE(one_client_and_an_address, o->stdio = true;)
CHANGE(one_client_and_a_tracker, o->stdio = true; o->listen = NULL; o->key = "k";
       o->tracker = "127.0.0.1:1";)
CHANGE(one_client_and_a_proxy, o->stdio = true; o->listen = NULL; o->proxy = "127.0.0.1:1";)
CHANGE(tracker_without_key, o->tracker = "127.0.0.1:9190";)
CHANGE(tracker_with_colon, o->tracker = "127.0.0.1:9190"; o->key = "a:b";)
CHANGE(check_without_tracker, o->health_check = "true";)
CHANGE(host_without_tracker, o->advertise_host = "board";)
CHANGE(port_without_tracker, o->advertise_port = 9090;)
CHANGE(a_user_that_is_none, o->users = no_user;)
CHANGE(a_group_that_is_none, o->groups = no_user;)

static void options_that_exclude_each_other_are_refused(void **state)
{
	static const struct {
		option_change change;
		const char *text;
	} wrong[] = {
		{ certificate_without_key, "--tls-certificate and --tls-key belong together" },
		{ key_without_certificate, "--tls-certificate and --tls-key belong together" },
		{ learning_without_sandbox, "--sandbox-learn and --allow-socket are for" },
		{ sockets_without_sandbox, "--sandbox-learn and --allow-socket are for" },
		{ memory_without_sandbox, "--folder-in-memory is for the sandbox" },
		{ one_client_and_an_address, "--stdio serves one client" },
		{ one_client_and_a_tracker, "--stdio serves one client" },
		{ one_client_and_a_proxy, "--stdio serves one client" },
		{ tracker_without_key, "--tracker needs a --key without colons" },
		{ tracker_with_colon, "--tracker needs a --key without colons" },
		{ check_without_tracker, "--health-check and --advertise are for --tracker" },
		{ host_without_tracker, "--health-check and --advertise are for --tracker" },
		{ port_without_tracker, "--health-check and --advertise are for --tracker" },
		{ a_user_that_is_none, "has no user no-such-user" },
		{ a_group_that_is_none, "has no group no-such-user" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(serve_with(wrong[i].change), -TENON_E_USAGE);
		assert_error_has(wrong[i].text);
	}
}

CHANGE(a_secret_that_code_can_read, o->secret_file = "/usr/bin/env";)
CHANGE(a_key_that_code_can_read, o->tls_certificate = "tls.crt"; o->tls_key = "/usr/bin/env";)

static void secrets_that_uploaded_code_can_read_are_refused(void **state)
{
	(void)state;
	assert_int_equal(serve_with(a_secret_that_code_can_read), -TENON_E_VALUE);
	assert_error_has("/usr/bin/env: uploaded code could read this file");
	assert_int_equal(serve_with(a_key_that_code_can_read), -TENON_E_VALUE);
	assert_error_has("/usr/bin/env: uploaded code could read this file");
}

/* of a program that was built with an older header */
static void nothing_is_written_behind_a_smaller_struct(void **state)
{
	const size_t size = offsetof(struct tenon_rpc_proxy_options, advertise_host);
	struct tenon_rpc_proxy_options o;

	(void)state;
	memset(&o, 0x5a, sizeof(o));
	tenon_rpc_proxy_options_init(&o, size);
	assert_int_equal(o.size, size);
	assert_true(o.connections_most > 0);
	assert_int_equal(((const unsigned char *)&o)[size], 0x5a);
	/* what lies behind it is no address of a tracker */
	assert_int_equal(tenon_rpc_proxy(&o), -TENON_E_USAGE);
}

/* Block SIGTERM or none, whatever an earlier case left. */
static void block_signals(bool stop)
{
	sigset_t set;

	sigemptyset(&set);
	if (stop)
		sigaddset(&set, SIGTERM);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &set, NULL), 0);
}

static bool is_blocked(int signal)
{
	sigset_t now;

	assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
	return sigismember(&now, signal);
}

static void a_server_that_cannot_start_leaves_no_signal_blocked(void **state)
{
	struct tenon_rpc_server_options o;

	(void)state;
	block_signals(false);
	tenon_rpc_server_options_init(&o, sizeof(o));
	o.listen = listen_anywhere;
	o.base = "/nonexistent/folder";
	assert_int_equal(tenon_rpc_serve(&o), -TENON_E_IO);
	assert_error_has("/nonexistent/folder");
	assert_false(is_blocked(SIGINT));
	assert_false(is_blocked(SIGTERM));
	assert_false(is_blocked(SIGCHLD));
}

static void a_tracker_and_a_proxy_that_cannot_start_leave_no_signal_blocked(void **state)
{
	struct tenon_rpc_tracker_options t;
	struct tenon_rpc_proxy_options p;

	(void)state;
	block_signals(false);
	tenon_rpc_tracker_options_init(&t, sizeof(t));
	assert_int_equal(tenon_rpc_track(&t), -TENON_E_USAGE);
	assert_false(is_blocked(SIGINT) || is_blocked(SIGTERM));
	tenon_rpc_proxy_options_init(&p, sizeof(p));
	assert_int_equal(tenon_rpc_proxy(&p), -TENON_E_USAGE);
	assert_false(is_blocked(SIGINT) || is_blocked(SIGTERM));
}

/* What a server says that was stopped before it started; SIGTERM stays blocked for it. */
static int serve_when_stopped(bool sandbox)
{
	struct tenon_rpc_server_options o;
	int err;

	block_signals(true);
	raise(SIGTERM);
	tenon_rpc_server_options_init(&o, sizeof(o));
	o.listen = listen_anywhere;
	o.sandbox = sandbox;
	err = tenon_rpc_serve(&o);
	assert_true(is_blocked(SIGTERM));
	assert_false(is_blocked(SIGINT));
	assert_false(is_blocked(SIGCHLD));
	/* one that the server had left would end the test here */
	block_signals(false);
	return err;
}

static void a_server_that_ends_takes_its_signal_and_restores_the_mask(void **state)
{
	(void)state;
	assert_int_equal(serve_when_stopped(false), 0);
}

static bool children_die;

static void die(void)
{
	if (children_die)
		raise(SIGKILL);
}

static void a_sandbox_that_cannot_be_tried_is_an_error_that_says_why(void **state)
{
	(void)state;
	fail_calls("fork", EAGAIN, 1);
	assert_int_equal(serve_when_stopped(true), -TENON_E_IO);
	assert_error("cannot start a process that tries the sandbox: fork: "
		     "Resource temporarily unavailable");

	fail_calls("waitpid", ECHILD, 1);
	assert_int_equal(serve_when_stopped(true), -TENON_E_IO);
	assert_error_has(
		"no result of the process that tried the sandbox: waitpid: No child process");
	assert_true(waitpid(-1, NULL, 0) > 0);

	assert_int_equal(pthread_atfork(NULL, NULL, die), 0);
	children_die = true;
	assert_int_equal(serve_when_stopped(true), -TENON_E_IO);
	children_die = false;
	assert_error("the process that tried the sandbox was killed by signal 9 (Killed)");
}

static void a_signal_while_the_sandbox_is_tried_is_no_failure(void **state)
{
	(void)state;
	fail_calls("waitpid", EINTR, 1);
	assert_int_equal(serve_when_stopped(true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_address_is_refused),
		cmocka_unit_test(options_that_exclude_each_other_are_refused),
		cmocka_unit_test(secrets_that_uploaded_code_can_read_are_refused),
		cmocka_unit_test(nothing_is_written_behind_a_smaller_struct),
		cmocka_unit_test(a_server_that_cannot_start_leaves_no_signal_blocked),
		cmocka_unit_test(a_tracker_and_a_proxy_that_cannot_start_leave_no_signal_blocked),
		cmocka_unit_test(a_server_that_ends_takes_its_signal_and_restores_the_mask),
		cmocka_unit_test(a_sandbox_that_cannot_be_tried_is_an_error_that_says_why),
		cmocka_unit_test(a_signal_while_the_sandbox_is_tried_is_no_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
