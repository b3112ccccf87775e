/* SPDX-License-Identifier: MIT */
/* The table of system calls: attributes as text and numbers, mapped ranges, and waits with a deadline. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "driver/syscall/syscall.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

static char path[600];

static const char *in_tree(const char *name)
{
	snprintf(path, sizeof(path), "%s%s", tree, name);
	return path;
}

static void texts_lose_the_white_space_at_their_end(void **state)
{
	char text[8];

	(void)state;
	faults_over(&system_calls_of_kernel);
	tree_text("/name", "npu \n");
	assert_int_equal(system_read_text(&faulty_calls, in_tree("/name"), text, sizeof(text)), 0);
	assert_string_equal(text, "npu");
	tree_text("/name", "longer than the room");
	assert_int_equal(system_read_text(&faulty_calls, in_tree("/name"), text, sizeof(text)), 0);
	assert_string_equal(text, "longer");
	tree_text("/name", "\n");
	assert_int_equal(system_read_text(&faulty_calls, in_tree("/name"), text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_nothing_open();
}

static void numbers_are_numbers_and_nothing_else(void **state)
{
	static const struct {
		const char *text;
		int status;
		uint64_t number;
	} rows[] = {
		{ "4096\n", 0, 4096 },
		{ "0xfebf1000\n", 0, 0xfebf1000 },
		{ "0xffffffffffffffff", 0, UINT64_MAX },
		{ "0x1ffffffffffffffff", -TENON_E_FORMAT, 0 },
		{ "", -TENON_E_FORMAT, 0 },
		{ "-1", -TENON_E_FORMAT, 0 },
		{ "12 apples", -TENON_E_FORMAT, 0 },
	};
	uint64_t number;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		tree_text("/size", rows[i].text);
		number = 7;
		assert_int_equal(
			system_read_number(&system_calls_of_kernel, in_tree("/size"), &number),
			rows[i].status);
		assert_int_equal(number, rows[i].number);
	}
	assert_error_has("expected a number, found \"12 apples\"");
}

static void a_missing_file_is_not_found(void **state)
{
	char text[8];

	(void)state;
	assert_int_equal(
		system_read_text(&system_calls_of_kernel, in_tree("/none"), text, sizeof(text)),
		-TENON_E_NOT_FOUND);
	assert_error_has("/none: cannot open it");
	assert_int_equal(system_write_text(&system_calls_of_kernel, in_tree("/none"), "1"),
			 -TENON_E_NOT_FOUND);
	tenon_error_clear();
}

static void a_range_that_does_not_fit_is_not_mapped(void **state)
{
	void *base;
	int fd;

	(void)state;
	tree_zeroes("/bar", 8192);
	fd = system_open(&system_calls_of_kernel, in_tree("/bar"), O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(system_map(&system_calls_of_kernel, fd, "bar", 0, 0, &base),
			 -TENON_E_OVERFLOW);
	assert_int_equal(system_map(&system_calls_of_kernel, fd, "bar", UINT64_MAX, 4096, &base),
			 -TENON_E_OVERFLOW);
	assert_int_equal(system_map(&system_calls_of_kernel, fd, "bar", 0, UINT64_MAX, &base),
			 -TENON_E_OVERFLOW);
	assert_null(base);
	assert_int_equal(system_map(&system_calls_of_kernel, fd, "bar", 0, 8192, &base), 0);
	((volatile char *)base)[8191] = 1;
	system_unmap(&system_calls_of_kernel, &base, 8192);
	assert_null(base);
	system_unmap(&system_calls_of_kernel, &base, 8192);
	system_close(&system_calls_of_kernel, &fd);
	assert_int_equal(fd, -1);
	system_close(&system_calls_of_kernel, &fd);
	tenon_error_clear();
}

static void a_wait_ends_at_its_deadline(void **state)
{
	int fd = system_calls_of_kernel.eventfd(0, 0);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(system_wait(&system_calls_of_kernel, fd, "event", POLLIN, 0), 0);
	assert_int_equal(system_wait(&system_calls_of_kernel, fd, "event", POLLIN, 1), 0);
	assert_int_equal(system_wait(&system_calls_of_kernel, fd, "event", POLLOUT, UINT64_MAX), 1);
	system_close(&system_calls_of_kernel, &fd);
}

static unsigned int days; /* that a wait lasted */

/* Nothing is ready for three days. */
static int slow_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout)
{
	(void)polled;
	(void)count;
	assert_in_range(timeout->tv_sec, 1, 86400);
	return ++days > 3;
}

static void a_wait_of_years_fits_into_32_bits(void **state)
{
	struct system_calls calls = system_calls_of_kernel;

	(void)state;
	calls.ppoll = slow_ppoll;
	days = 0;
	assert_int_equal(system_wait(&calls, 0, "event", POLLIN, UINT64_MAX - 1), 1);
	assert_int_equal(days, 4);
}

static int read_and_write(const struct system_calls *calls)
{
	char bytes[4] = "abc", text[16];
	void *base = NULL;
	uint64_t number;
	int err, fd;

	err = system_read_text(calls, in_tree("/name"), text, sizeof(text));
	if (err)
		return err;
	err = system_read_number(calls, in_tree("/size"), &number);
	if (err)
		return err;
	err = system_write_text(calls, in_tree("/state"), "start");
	if (err)
		return err;
	fd = system_open(calls, in_tree("/bar"), O_RDWR);
	if (fd < 0)
		return fd;
	err = system_write_whole(calls, fd, "bar", 4, bytes, sizeof(bytes));
	if (!err)
		err = system_read_whole(calls, fd, "bar", 4, bytes, sizeof(bytes));
	if (!err)
		err = system_map(calls, fd, "bar", 0, 4096, &base);
	if (!err && system_wait(calls, fd, "bar", POLLIN, UINT64_MAX) < 0)
		err = tenon_error_status();
	system_unmap(calls, &base, 4096);
	system_close(calls, &fd);
	return err;
}

/* A program that is set-user-ID has another real user than an effective one. */
static void a_file_is_found_by_the_user_that_would_open_it(void **state)
{
	(void)state;
	tree_text("/node", "");
	in_tree("/node");
	if (geteuid() || setresuid(65534, 0, 0))
		skip();
	assert_int_equal(access(path, R_OK), -1);
	assert_int_equal(system_find(&system_calls_of_kernel, path), 0);
	assert_int_equal(setresuid(0, 0, 0), 0);
}

/* a text that the kernel cuts is read on */
static int cut_texts_are_read_on(const struct fault *f)
{
	return f->call == CALL_READ && f->error == SHORT ? 0 : 2;
}

static void every_call_that_fails_says_why(void **state)
{
	static const int none[] = { 0 };
	static const struct sweep sweep = {
		.under = &system_calls_of_kernel,
		.scenario = read_and_write,
		.ioctl_errors = none,
		.expected = cut_texts_are_read_on,
	};

	(void)state;
	tree_text("/name", "npu");
	tree_text("/size", "12");
	tree_text("/state", "");
	tree_zeroes("/bar", 4096);
	assert_true(sweep_faults(&sweep) > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_lose_the_white_space_at_their_end),
		cmocka_unit_test(numbers_are_numbers_and_nothing_else),
		cmocka_unit_test(a_missing_file_is_not_found),
		cmocka_unit_test(a_file_is_found_by_the_user_that_would_open_it),
		cmocka_unit_test(a_range_that_does_not_fit_is_not_mapped),
		cmocka_unit_test(a_wait_ends_at_its_deadline),
		cmocka_unit_test(a_wait_of_years_fits_into_32_bits),
		cmocka_unit_test(every_call_that_fails_says_why),
	};

	return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}
