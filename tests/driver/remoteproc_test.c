/* SPDX-License-Identifier: MIT */
/* remoteproc on a named fake: files stand for its attributes, and a write to "state" does what the kernel's does. */
#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "driver/remoteproc/remoteproc.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/unit/suite.h"

#define CORE	"/sys/class/remoteproc/remoteproc0"
#define NODE	"/dev/remoteproc0"
#define REQUEST _IOW(0xb7, 1, int32_t)

static int start_error;		 /* errno of a start */
static const char *after_start;	 /* the state behind it */
static bool stops_with_the_node; /* what the ioctl set */
static bool keeps_crashed;	 /* newer kernels stop no core that crashed */
static bool recovered;

static bool is(int fd, const char *name)
{
	const char *path = path_of(fd);

	return *path && !strcmp(path + strlen(tree), name);
}

static ssize_t fake_write(int fd, const void *bytes, size_t size)
{
	if (is(fd, CORE "/firmware") && strcmp(tree_read(CORE "/state"), "offline\n")) {
		errno = EBUSY;
		return -1;
	}
	if (is(fd, CORE "/recovery") && size == 7 && !memcmp(bytes, "recover", 7)) {
		tree_text(CORE "/state", after_start);
		recovered = true;
	}
	if (!is(fd, CORE "/state"))
		return write(fd, bytes, size);
	if (size == 5 && !memcmp(bytes, "start", 5)) {
		errno = start_error;
		if (start_error)
			return -1;
		tree_text(CORE "/state", after_start);
		return (ssize_t)size;
	}
	assert_int_equal(size, 4);
	assert_memory_equal(bytes, "stop", 4);
	if (keeps_crashed && !strcmp(tree_read(CORE "/state"), "crashed\n")) {
		errno = EINVAL;
		return -1;
	}
	tree_text(CORE "/state", "offline\n");
	return (ssize_t)size;
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
	assert_true(is(fd, NODE));
	assert_int_equal(request, REQUEST);
	stops_with_the_node = *(int32_t *)argument;
	return 0;
}

static struct system_calls fake;

static int setup(void **state)
{
	int err = tree_setup(state);

	fake = system_calls_of_kernel;
	fake.write = fake_write;
	fake.ioctl = fake_ioctl;
	faults_over(&fake);
	start_error = 0;
	after_start = "running\n";
	stops_with_the_node = keeps_crashed = recovered = false;
	tree_text(CORE "/name", "7e000000.dsp\n");
	tree_text(CORE "/state", "offline\n");
	tree_text(CORE "/firmware", "old.elf\n");
	tree_text(CORE "/recovery", "disabled\n");
	tree_zeroes(NODE, 0);
	return err;
}

static void open_it(struct remoteproc *r)
{
	assert_int_equal(remoteproc_open(&faulty_calls, tree, 0, r), 0);
}

static void close_it(struct remoteproc *r)
{
	remoteproc_close(r);
	remoteproc_close(r);
	assert_nothing_open();
}

static void states_have_names(void **state)
{
	static const char *const words[] = { "offline", "suspended", "running",
					     "crashed", "attached",  "detached" };
	enum remoteproc_state found;
	struct remoteproc r;

	(void)state;
	open_it(&r);
	assert_string_equal(r.name, "7e000000.dsp");
	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++) {
		tree_text(CORE "/state", words[i]);
		assert_int_equal(remoteproc_get_state(&r, &found), 0);
		assert_int_equal(found, i);
		assert_string_equal(remoteproc_state_name(found), words[i]);
	}
	tree_text(CORE "/state", "dreaming\n");
	assert_int_equal(remoteproc_get_state(&r, &found), 0);
	assert_int_equal(found, REMOTEPROC_UNKNOWN);
	close_it(&r);
	assert_int_equal(remoteproc_open(&faulty_calls, tree, 1, &r), -TENON_E_NOT_FOUND);
	tenon_error_clear();
}

static void a_core_starts_and_stops(void **state)
{
	struct remoteproc r;
	char firmware[32];

	(void)state;
	open_it(&r);
	assert_int_equal(remoteproc_check(&r), -TENON_E_DEVICE);
	assert_error_has("7e000000.dsp): the core is offline");
	assert_int_equal(remoteproc_set_firmware(&r, "tenon/mortise.elf"), 0);
	assert_int_equal(remoteproc_start(&r), 0);
	assert_int_equal(remoteproc_start(&r), 0);
	assert_int_equal(remoteproc_check(&r), 0);
	assert_int_equal(remoteproc_set_firmware(&r, "other.elf"), -TENON_E_DEVICE);
	tenon_error_clear();
	assert_int_equal(remoteproc_get_firmware(&r, firmware, sizeof(firmware)), 0);
	assert_string_equal(firmware, "tenon/mortise.elf");
	assert_int_equal(remoteproc_stop(&r), 0);
	assert_int_equal(remoteproc_stop(&r), 0);
	close_it(&r);
}

static void firmware_stays_in_its_folder(void **state)
{
	static const char *const names[] = { "", "/etc/shadow", "../../etc/shadow", "a\nb" };
	struct remoteproc r;

	(void)state;
	open_it(&r);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(remoteproc_set_firmware(&r, names[i]), -TENON_E_VALUE);
		assert_error_has("is not a path below /lib/firmware");
	}
	assert_string_equal(tree_read(CORE "/firmware"), "old.elf\n");
	close_it(&r);
}

static void a_start_that_fails_says_why(void **state)
{
	struct remoteproc r;

	(void)state;
	open_it(&r);
	start_error = ENOENT;
	assert_int_equal(remoteproc_start(&r), -TENON_E_NOT_FOUND);
	assert_error_has("did not find the firmware /lib/firmware/old.elf");
	start_error = EINVAL;
	assert_int_equal(remoteproc_start(&r), -TENON_E_VALUE);
	tenon_error_clear();
	start_error = 0;
	after_start = "crashed\n";
	assert_int_equal(remoteproc_start(&r), -TENON_E_LOST);
	assert_error_has("the core is crashed");
	close_it(&r);
}

static void a_core_that_crashed_is_stopped(void **state)
{
	enum remoteproc_state found;
	struct remoteproc r;

	(void)state;
	open_it(&r);
	for (int newer = 0; newer < 2; newer++) {
		keeps_crashed = newer;
		tree_text(CORE "/state", "crashed\n");
		assert_int_equal(remoteproc_stop(&r), 0);
		assert_int_equal(remoteproc_get_state(&r, &found), 0);
		assert_int_equal(found, REMOTEPROC_OFFLINE);
		assert_int_equal(recovered, newer);
	}
	/* a recovery that fails leaves it crashed */
	after_start = "crashed\n";
	tree_text(CORE "/state", "crashed\n");
	assert_int_equal(remoteproc_stop(&r), -TENON_E_VALUE);
	tenon_error_clear();
	close_it(&r);
}

static void a_core_can_stop_with_the_program(void **state)
{
	struct remoteproc r;

	(void)state;
	open_it(&r);
	assert_int_equal(remoteproc_stop_on_exit(&r), 0);
	assert_int_equal(remoteproc_stop_on_exit(&r), 0);
	assert_true(stops_with_the_node);
	close_it(&r);
	tree_drop(NODE);
	open_it(&r);
	assert_int_equal(remoteproc_stop_on_exit(&r), -TENON_E_NOT_FOUND);
	tenon_error_clear();
	close_it(&r);
}

static int use(const struct system_calls *calls)
{
	struct remoteproc r;
	char firmware[64];
	int err;

	tree_text(CORE "/state", "offline\n");
	tree_text(CORE "/firmware", "");
	err = remoteproc_open(calls, tree, 0, &r);
	if (!err)
		err = remoteproc_set_firmware(&r, "mortise.elf");
	if (!err)
		err = remoteproc_get_firmware(&r, firmware, sizeof(firmware));
	if (!err)
		err = remoteproc_start(&r);
	if (!err)
		err = remoteproc_check(&r);
	if (!err)
		err = remoteproc_stop_on_exit(&r);
	if (!err)
		err = remoteproc_stop(&r);
	remoteproc_close(&r);
	return err;
}

/* a text that the kernel cuts is read on */
static int expected(const struct fault *f)
{
	return f->call == CALL_READ && f->error == SHORT ? 0 : 2;
}

static void every_call_that_fails_is_reported_and_leaves_nothing(void **state)
{
	static const int errors[] = { EINTR, EINVAL, EFAULT, ENOTTY, EPERM, 0 };
	static const struct sweep sweep = {
		.under = &fake,
		.scenario = use,
		.ioctl_errors = errors,
		.expected = expected,
	};

	(void)state;
	assert_true(sweep_faults(&sweep) > 100);
}

int main(void)
{
#define on(test) cmocka_unit_test_setup_teardown(test, setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		on(states_have_names),
		on(a_core_starts_and_stops),
		on(firmware_stays_in_its_folder),
		on(a_start_that_fails_says_why),
		on(a_core_that_crashed_is_stopped),
		on(a_core_can_stop_with_the_program),
		on(every_call_that_fails_is_reported_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
