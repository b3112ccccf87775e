/* SPDX-License-Identifier: MIT */
/* Options of tenon/rpc.h: their defaults, those of programs with a smaller struct, and what is refused */
#include <stddef.h>
#include <string.h>
#include <tenon/rpc.h>

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

static void options_that_exclude_each_other_are_refused(void **state)
{
	static const char *const listen[] = { "127.0.0.1:0", NULL };
	struct tenon_rpc_server_options o;

	(void)state;
	tenon_rpc_server_options_init(&o, sizeof(o));
	o.listen = listen;
	o.tls_certificate = "tls.crt";
	assert_int_equal(tenon_rpc_serve(&o), -TENON_E_USAGE);
	o.tls_certificate = NULL;
	o.tracker = "127.0.0.1:9190";
	assert_int_equal(tenon_rpc_serve(&o), -TENON_E_USAGE);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_address_is_refused),
		cmocka_unit_test(options_that_exclude_each_other_are_refused),
		cmocka_unit_test(nothing_is_written_behind_a_smaller_struct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
