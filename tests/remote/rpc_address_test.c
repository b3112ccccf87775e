/* SPDX-License-Identifier: MIT */
/* Devices of a server by their address. */
#include "tests/remote/rpc_session.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char address[200];

static void *open_by_address(void *device)
{
	struct tenon_device *d = NULL;
	char uri[300];

	snprintf(uri, sizeof(uri), "rpc://%s/%s%skey=board", address, (const char *)device,
		 strchr(device, '?') ? "&" : "?");
	return tenon_device_open(uri, &d) ? NULL : d;
}

static int listen_on_a_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	snprintf(address, sizeof(address), "127.0.0.1:%d", ntohs(at.sin_port));
	return fd;
}

/* A named pipe without a writer is refused at once. */
static void a_secret_is_not_waited_for(void)
{
	char name[250];
	const size_t size = sizeof("cpu:0?secret=") - 1;

	assert_in_range(snprintf(name, sizeof(name), "cpu:0?secret=%s/pipe", session.folder), size,
			sizeof(name) - 1);
	assert_int_equal(mkfifo(name + size, 0600), 0);
	assert_null(open_by_address(name));
#ifdef CONFIG_MBEDTLS
	assert_error_has("the secret is read from a file, and this is none");
#endif
}

static void threads_that_open_a_device_share_a_connection(void **state)
{
	const struct timespec moment = { .tv_nsec = 100000000 };
	pthread_t threads[3], server;
	void *found[3];
	int i, fd = listen_on_a_port();

	(void)state;
	make_folder();
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_by_address, "cpu:0"), 0);
	session.fd = accept(fd, NULL, NULL);
	assert_true(session.fd >= 0);
	/* the server takes a while to answer: none may connect meanwhile */
	nanosleep(&moment, NULL);
	assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(threads[i], &found[i]), 0);
		assert_non_null(found[i]);
		assert_ptr_equal(found[i], found[0]);
	}
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(accept(fd, NULL, NULL), -1);
	/* nor does one that wants a proof of the server get a session without it */
	assert_null(open_by_address("cpu:0?secret=/no/such/secret"));
	a_secret_is_not_waited_for();
	close(fd);
	for (i = 0; i < 3; i++)
		tenon_object_unref(found[i]);
	tenon_device_close_all();
	pthread_join(server, NULL);
	assert_int_equal(remove_folder(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_open_a_device_share_a_connection),
	};

	return cmocka_run_group_tests(tests, register_functions, NULL);
}
