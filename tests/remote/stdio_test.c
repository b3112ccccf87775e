/* SPDX-License-Identifier: MIT */
/* A server without a port: its session is on standard input and output, as ssh and inetd start it. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rpc/wire/connection.h"
#include "tests/remote/emulated.h"
#include "tests/remote/farm_process.h"

static void standard_input_and_output_carry_a_session(void **state)
{
	int in[2], out[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execl(getenv("TENON_COMMAND"), "tenon", "rpc", "serve", "--stdio", "--key", "p",
		      (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	{
		static const char bytes[] = "\x71\xf2\x0f\0\x08\0\0\0"
					    "client:p"
					    "\x15\0\0\0\0\0\0\0\x02\0\0\0\x05\0\0\0\0\0\0\0"
					    "0.8.0\0\0\0\0"
					    "\x04\0\0\0\0\0\0\0\x01\0\0\0";
		static const char want[] = "\x71\xf2\x0f\0\x08\0\0\0"
					   "server:p"
					   "\x08\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0";
		char got[sizeof(want)];
		size_t n = 0;
		ssize_t more;

		assert_int_equal(write(in[1], bytes, sizeof(bytes) - 1), sizeof(bytes) - 1);
		/* nothing but the protocol is on standard output, and it ends */
		while (n < sizeof(got) && (more = read(out[0], got + n, sizeof(got) - n)) > 0)
			n += (size_t)more;
		assert_int_equal(n, sizeof(want) - 1);
		assert_memory_equal(got, want, sizeof(want) - 1);
	}
	close(in[1]);
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A stand-in for ssh: it runs the last word of its command line here. */
static void the_server_is_started_by_ssh(void **state)
{
	static const char init[] = "\x71\xf2\x0f\0\x07\0\0\0"
				   "client:"
				   "\x15\0\0\0\0\0\0\0\x02\0\0\0\x05\0\0\0\0\0\0\0"
				   "0.8.0\0\0\0\0";
	static const char want[] = "\x71\xf2\x0f\0\x07\0\0\0"
				   "server:"
				   "\x08\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0";
	struct iovec bytes = { (void *)(uintptr_t)init, sizeof(init) - 1 };
	const char *base = getenv("TMPDIR");
	struct connection *c;
	char script[3000], got[sizeof(want) - 1];
	FILE *f;

	(void)state;
	snprintf(script, sizeof(script), "%s/ssh-stand-in", base ? base : "/tmp");
	f = fopen(script, "w");
	assert_non_null(f);
	fputs("#!/bin/sh\nfor word; do before=$last last=$word; done\n"
	      "[ \"$before\" = user@board ] && [ \"$last\" = 'tenon rpc serve --stdio' ] &&\n"
	      "\texec \"$TENON_COMMAND\" rpc serve --stdio\n",
	      f);
	fchmod(fileno(f), 0700);
	fclose(f);
	setenv("TENON_RPC_SSH", script, 1);
	assert_int_equal(connection_open("rpc+ssh://user@board:22/opencl:0", 0, &c), 0);
	c->deadline = connection_deadline(PATIENCE_S * 1000);
	assert_int_equal(connection_write(c, &bytes, 1), 0);
	assert_int_equal(connection_read(c, got, sizeof(got)), 0);
	assert_memory_equal(got, want, sizeof(got));
	connection_close(c);
	assert_int_equal(connection_open("rpc+ssh://-oProxyCommand=x/", 0, &c), -TENON_E_VALUE);
	tenon_error_clear();
	unsetenv("TENON_RPC_SSH");
	unlink(script);
}

/* as inetd does it: the connection is standard input, output and error */
static void serve_connection(void)
{
	int pair[2], status;
	pid_t pid;
	char rest;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(pair[1], 0);
		dup2(pair[1], 1);
		dup2(pair[1], 2);
		close(pair[0]);
		execl(getenv("TENON_COMMAND"), "tenon", "rpc", "serve", "--stdio", (char *)NULL);
		_exit(127);
	}
	close(pair[1]);
	farm_send_key(pair[0], "client:");
	farm_expect_key(pair[0], "server:");
	farm_use_session(pair[0]);
	shutdown(pair[0], SHUT_WR);
	assert_int_equal(recv(pair[0], &rest, 1, 0), 0);
	close(pair[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_connection_as_standard_input_is_served(void **state)
{
	(void)state;
	serve_connection();
}

static void no_warning_goes_to_a_connection(void **state)
{
	(void)state;
	setenv("TENON_BACKENDS", "cpu,nosuch", 1);
	serve_connection();
	unsetenv("TENON_BACKENDS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(standard_input_and_output_carry_a_session),
		cmocka_unit_test(the_server_is_started_by_ssh),
		cmocka_unit_test(a_connection_as_standard_input_is_served),
		cmocka_unit_test(no_warning_goes_to_a_connection),
	};

	if (server_is_emulated())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
