/* SPDX-License-Identifier: MIT */
/* Who may connect to a server's Unix socket: users and groups that are named, this user, and root. */
#include "tests/unit/suite.h"

#include <grp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/server/unix_peer.h"

#define USER	4321
#define GROUP	4322
#define FURTHER 4323

static void users_and_groups_have_names_or_numbers(void **state)
{
	struct unix_peers p = { .user_count = 0 };

	(void)state;
	assert_int_equal(unix_peers_add_user(&p, "root"), 0);
	assert_int_equal(unix_peers_add_user(&p, "4321"), 0);
	assert_int_equal(unix_peers_add_group(&p, "root"), 0);
	assert_int_equal(unix_peers_add_group(&p, "4322"), 0);
	assert_int_equal(p.user_count, 2);
	assert_int_equal(p.users[0], 0);
	assert_int_equal(p.users[1], 4321);
	assert_int_equal(p.group_count, 2);
	assert_int_equal(p.groups[1], 4322);
}

/* One that is cut to 32 bits would let another user in. */
static void what_is_no_user_or_group_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",    "no-such-name", "-1",	     "+5",	   " 5",
		"12x", "0x10",	       "4294967295", "4294968296", "99999999999999999999",
	};
	struct unix_peers p = { .user_count = 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(unix_peers_add_user(&p, wrong[i]), -TENON_E_VALUE);
		assert_int_equal(unix_peers_add_group(&p, wrong[i]), -TENON_E_VALUE);
	}
	assert_error(
		"this machine has no group 99999999999999999999 (\"getent group\" lists them), "
		"and ids are numbers up to 4294967294");
	assert_int_equal(p.user_count, 0);
	assert_int_equal(p.group_count, 0);
	assert_int_equal(unix_peers_add_user(&p, "4294967294"), 0);
	assert_int_equal(p.users[0], UINT32_MAX - 1);
}

static void more_than_there_is_room_for_are_refused(void **state)
{
	struct unix_peers p = { .user_count = 0 };
	char number[12];

	(void)state;
	for (int i = 0; i < UNIX_PEERS_MOST; i++) {
		snprintf(number, sizeof(number), "%d", 70000 + i);
		assert_int_equal(unix_peers_add_user(&p, number), 0);
		assert_int_equal(unix_peers_add_group(&p, number), 0);
	}
	assert_int_equal(unix_peers_add_user(&p, "1"), -TENON_E_VALUE);
	assert_int_equal(unix_peers_add_group(&p, "1"), -TENON_E_VALUE);
	tenon_error_clear();
}

/* Is the peer allowed, of a socket that the present user and groups make? */
static bool allows(const struct unix_peers *p, uid_t user, gid_t group, gid_t further)
{
	int pair[2], made;
	bool allowed;

	assert_int_equal(setgroups(1, &further), 0);
	assert_int_equal(setegid(group), 0);
	assert_int_equal(seteuid(user), 0);
	made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(setegid(0), 0);
	assert_int_equal(made, 0);
	allowed = unix_peer_allowed(p, pair[0]);
	close(pair[0]);
	close(pair[1]);
	return allowed;
}

/* the groups of this process, besides its own one */
static struct {
	gid_t list[256];
	int count;
} groups;

/* Root of a namespace of its own may set no groups, and has no other users. */
static bool may_be_others(void)
{
	bool may;

	groups.count = getgroups(256, groups.list);
	may = groups.count >= 0 && !setgroups((size_t)groups.count, groups.list) &&
	      !setegid(GROUP) && !seteuid(USER);
	return !seteuid(getuid()) && !setegid(getgid()) && may;
}

static void only_those_that_are_named_are_allowed(void **state)
{
	const struct unix_peers none = { .user_count = 0 };
	const struct unix_peers user = { .users = { 1, USER }, .user_count = 2 };
	const struct unix_peers group = { .groups = { 1, GROUP }, .group_count = 2 };

	(void)state;
	if (!may_be_others()) {
		print_message("# only root makes sockets of other users\n");
		skip();
	}
	assert_true(allows(&none, 0, GROUP, FURTHER));
	assert_false(allows(&none, USER, GROUP, FURTHER));
	assert_true(allows(&user, USER, GROUP, FURTHER));
	assert_false(allows(&user, USER + 1, GROUP, FURTHER));
	assert_true(allows(&group, USER, GROUP, FURTHER));
	assert_true(allows(&group, USER, FURTHER, GROUP));
	assert_false(allows(&group, USER, FURTHER, FURTHER));
	assert_int_equal(setgroups((size_t)groups.count, groups.list), 0);
}

/* The kernel names no users of them: addresses and secrets decide. */
static void sockets_of_other_kinds_are_allowed(void **state)
{
	const struct unix_peers none = { .user_count = 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_true(unix_peer_allowed(&none, fd));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(users_and_groups_have_names_or_numbers),
		cmocka_unit_test(what_is_no_user_or_group_is_refused),
		cmocka_unit_test(more_than_there_is_room_for_are_refused),
		cmocka_unit_test(only_those_that_are_named_are_allowed),
		cmocka_unit_test(sockets_of_other_kinds_are_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
