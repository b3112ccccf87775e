/* SPDX-License-Identifier: MIT */
/*
 * Uploaded code tries every way out of its session that is known (escapes.h), on the kernel as it is and on older ones:
 * with Landlock 1 and 5, without Landlock, without seccomp; as root and as a user without rights.
 */
#include "tests/unit/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tests/remote/escapes.h"
#include "tests/remote/server_client.h"

#define NOBODY 65534

/* a file and a terminal that the server has open from before */
#define FILE_FROM_BEFORE     100
#define TERMINAL_FROM_BEFORE 5

enum part { SESSION = 1, FILES = 2, CALLS = 4 };

#define NAME(name, part) #name,
#define PART(name, part) part,
static const char *const names[] = { ESCAPES(NAME) };
static const enum part parts[] = { ESCAPES(PART) };
#define ESCAPE_COUNT (sizeof(parts) / sizeof(*parts))

/* a server, and what is around it */
static struct {
	pid_t pid;
	int terminal; /* the master of its terminal */
	int slave;
	int listener;	  /* a service of the same user */
	bool folder_made; /* by a case that needs its name before the server starts */
	char folder[64];
	char base[80];
	char outside[80];
	char socket[80];
	char log[80];
} server;

static void in_folder(char path[80], const char *name)
{
	snprintf(path, 80, "%s/%s", server.folder, name);
}

static void make_terminal(void)
{
	struct termios t;

	server.terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(server.terminal >= 0);
	assert_int_equal(grantpt(server.terminal), 0);
	assert_int_equal(unlockpt(server.terminal), 0);
	server.slave = open(ptsname(server.terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(server.slave >= 0);
	assert_int_equal(tcgetattr(server.slave, &t), 0);
	cfmakeraw(&t);
	assert_int_equal(tcsetattr(server.slave, TCSANOW, &t), 0);
}

/* A service of this user, which sessions must not reach. */
static void make_listener(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/outside.sock", server.folder);
	server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(server.listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(server.listener, 8), 0);
	chmod(at.sun_path, 0666);
}

static void own(const char *path, uid_t user)
{
	if (user && chown(path, user, user))
		fail_msg("chown %s: %s", path, strerror(errno));
}

/* a short path for sockets, which another user may reach */
static void make_folder(void)
{
	strcpy(server.folder, "/tmp/tenon-test-XXXXXX");
	assert_non_null(mkdtemp(server.folder));
	server.folder_made = true;
}

static void make_surroundings(uid_t user)
{
	int fd;

	if (!server.folder_made)
		make_folder();
	server.folder_made = false;
	in_folder(server.base, "base");
	in_folder(server.outside, "outside");
	in_folder(server.socket, "socket");
	in_folder(server.log, "log");
	assert_int_equal(mkdir(server.base, 0700), 0);
	fd = open(server.outside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "secret", 6), 6);
	close(fd);
	make_terminal();
	make_listener();
	own(server.folder, user);
	own(server.base, user);
	own(server.outside, user);
}

static void set_kernel(const char *landlock, const char *seccomp)
{
	const char *build = getenv("TENON_BUILD");
	char path[4096], preload[4096];

	if (!landlock && !seccomp)
		return;
	snprintf(path, sizeof(path), "%s/tests/remote/old_kernel.so", build ? build : "build");
	if (!realpath(path, preload))
		_exit(126);
	setenv("LD_PRELOAD", preload, 1);
	if (landlock)
		setenv("TENON_TEST_LANDLOCK", landlock, 1);
	/* which is older than Landlock */
	if (landlock && !atoi(landlock))
		setenv("TENON_TEST_CLOSE_RANGE", "0", 1);
	if (seccomp)
		setenv("TENON_TEST_SECCOMP", seccomp, 1);
}

static void run_server(uid_t user, const char *landlock, const char *seccomp, const char *option,
		       const char *value)
{
	const char *command = getenv("TENON_COMMAND");
	char address[120];
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(address, sizeof(address), "unix:%s", server.socket);
	setsid();
	ioctl(server.slave, TIOCSCTTY, 0);
	dup2(server.slave, 0);
	dup2(server.slave, 1);
	dup2(server.slave, TERMINAL_FROM_BEFORE);
	dup2(open(server.outside, O_RDWR), FILE_FROM_BEFORE);
	fd = open(server.log, O_WRONLY | O_CREAT | O_APPEND, 0666);
	dup2(fd, 2);
	setenv("ESCAPE_TOKEN", "secret", 1);
	set_kernel(landlock, seccomp);
	if (user && (setgid(user) || setuid(user)))
		_exit(126);
	execl(command ? command : "build/tenon", "tenon", "rpc", "serve", "--listen", address,
	      "--key", "fixture", "--folder", server.base, option, value, (char *)NULL);
	_exit(127);
}

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
}

/* False when the other user cannot run the command. */
static bool start_server(uid_t user, const char *landlock, const char *seccomp, const char *option,
			 const char *value)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;
	int fd, status;

	make_surroundings(user);
	server.pid = fork();
	assert_true(server.pid >= 0);
	if (!server.pid)
		run_server(user, landlock, seccomp, option, value);
	while ((fd = server_connect(server.socket)) < 0) {
		if (waitpid(server.pid, &status, WNOHANG) == server.pid) {
			server.pid = 0;
			return false;
		}
		assert_true(clock_ms() < end);
		pause_briefly();
	}
	close(fd);
	return true;
}

static const char *log_text(void)
{
	static char text[1 << 20];
	int fd = open(server.log, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static bool log_has(const char *text)
{
	return strstr(log_text(), text) != NULL;
}

/* The server says in one line what the kernel lacks. */
static bool kernel_lacks(const char *part)
{
	return log_has("kernel lacks") && log_has(part);
}

static void stop_server(void)
{
	char command[200];
	int status;

	if (server.pid) {
		kill(server.pid, SIGTERM);
		assert_int_equal(waitpid(server.pid, &status, 0), server.pid);
		server.pid = 0;
	}
	close(server.terminal);
	close(server.slave);
	close(server.listener);
	snprintf(command, sizeof(command), "rm -rf '%s'", server.folder);
	assert_int_equal(system(command), 0);
}

static int64_t escape(size_t number)
{
	struct client c;
	int64_t answer;

	server_client_begin(&c, server.socket, "client:fixture");
	client_init(&c);
	CALL(&c, server_client_function(&c, "escapes", "escape"), wire_int((int64_t)number));
	assert_int_equal(c.code, PACKET_RETURN);
	answer = c.values.values[1].as.integer;
	server_client_close(&c);
	return answer;
}

/* Nothing outside has changed, the service was not called, nothing was typed, and the server runs. */
static void nothing_has_changed(void)
{
	char content[16] = "";
	struct stat st;
	int fd = open(server.outside, O_RDONLY | O_CLOEXEC), typed = -1;

	assert_true(fd >= 0);
	assert_int_equal(read(fd, content, sizeof(content)), 6);
	assert_string_equal(content, "secret");
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	close(fd);
	assert_true(accept4(server.listener, NULL, NULL, SOCK_CLOEXEC) < 0);
	assert_int_equal(ioctl(server.slave, FIONREAD, &typed), 0);
	assert_int_equal(typed, 0);
	assert_int_equal(kill(server.pid, 0), 0);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)server.pid), getpriority(PRIO_PROCESS, 0));
}

static unsigned int parts_there(void)
{
	return SESSION | (kernel_lacks("Landlock") ? 0 : FILES) |
	       (kernel_lacks("seccomp (") ? 0 : CALLS);
}

static void try_all(unsigned int there)
{
	unsigned int tried = 0, out = 0;
	int64_t answer;
	size_t i;

	for (i = 0; i < ESCAPE_COUNT; i++) {
		if (!(parts[i] & there))
			continue;
		tried++;
		answer = escape(i);
		if (!answer) {
			out++;
			print_error("it %s\n", names[i]);
		}
	}
	print_message("# %u ways tried, %u are open\n", tried, out);
	assert_int_equal(out, 0);
	nothing_has_changed();
}

static void none_leads_out(uid_t user, const char *landlock, const char *seccomp)
{
	unsigned int there;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	if (landlock || seccomp)
		skip();
#endif
	if (!start_server(user, landlock, seccomp, NULL, NULL)) {
		print_message("# this user cannot run the command\n");
		stop_server();
		skip();
	}
	there = parts_there();
	if (landlock && !atoi(landlock))
		assert_false(there & FILES);
	if (seccomp)
		assert_false(there & CALLS);
	try_all(there);
	stop_server();
}

static void no_way_leads_out(void **state)
{
	(void)state;
	none_leads_out(0, NULL, NULL);
}

static void no_way_leads_out_as_a_user_without_rights(void **state)
{
	(void)state;
	if (getuid())
		skip();
	none_leads_out(NOBODY, NULL, NULL);
}

static void no_way_leads_out_with_the_first_landlock(void **state)
{
	(void)state;
	none_leads_out(0, "1", NULL);
}

static void no_way_leads_out_with_landlock_of_linux_6_10(void **state)
{
	(void)state;
	none_leads_out(getuid() ? 0 : NOBODY, "5", NULL);
}

static void seccomp_alone_stops_what_it_can(void **state)
{
	(void)state;
	none_leads_out(0, "0", NULL);
}

static void landlock_alone_stops_what_it_can(void **state)
{
	(void)state;
	none_leads_out(0, NULL, "0");
}

/* ---- what a session can do */

static int64_t call_hostile(const char *name)
{
	struct client c;
	int64_t answer;

	server_client_begin(&c, server.socket, "client:fixture");
	client_init(&c);
	CALL(&c, server_client_function(&c, "hostile", name), wire_int(0));
	assert_int_equal(c.code, PACKET_RETURN);
	answer = c.values.values[1].as.integer;
	server_client_close(&c);
	return answer;
}

static void wait_for_log(const char *text)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;

	while (!log_has(text)) {
		if (clock_ms() > end)
			fail_msg("no \"%s\" in: %s", text, log_text());
		pause_briefly();
	}
}

static void a_session_names_and_pins_its_threads(void **state)
{
	(void)state;
	assert_true(start_server(0, NULL, NULL, NULL, NULL));
	/* libcuda does not start where this is refused */
	assert_int_equal(call_hostile("names_a_thread"), 0);
	if (!kernel_lacks("notifications"))
		assert_int_equal(call_hostile("pins_a_thread"), 0);
	stop_server();
}

static void a_session_reads_the_configuration_of_drivers(void **state)
{
	(void)state;
	assert_true(start_server(0, NULL, NULL, NULL, NULL));
	assert_int_equal(call_hostile("reads_configuration"), 0);
	stop_server();
}

static void what_a_session_prints_is_reported_as_its_own(void **state)
{
	(void)state;
	assert_true(start_server(0, NULL, NULL, NULL, NULL));
	assert_int_equal(call_hostile("prints"), 0);
	wait_for_log(": without an end\n");
	assert_true(log_has(": said by uploaded code\n"));
	/* under the number of its session, and with its control characters as text */
	assert_true(log_has(": tenon: a line that is "));
	assert_false(log_has("\ntenon: a line"));
	assert_false(log_has("\033"));
	stop_server();
}

static void a_session_that_prints_without_end_does_not_fill_the_log(void **state)
{
	(void)state;
	assert_true(start_server(0, NULL, NULL, NULL, NULL));
	assert_int_equal(call_hostile("prints_much"), 0);
	wait_for_log("are left out");
	print_message("# 4 MiB printed, %zu bytes reported\n", strlen(log_text()));
	assert_true(strlen(log_text()) < 1 << 20);
	stop_server();
}

static void a_session_connects_to_an_allowed_socket_alone(void **state)
{
	char allowed[100], text[8] = "";
	int fd, i;

	(void)state;
	make_folder();
	snprintf(allowed, sizeof(allowed), "%s/outside.sock", server.folder);
	assert_true(start_server(0, NULL, NULL, "--allow-socket", allowed));
	if (kernel_lacks("notifications")) {
		stop_server();
		skip();
	}
	assert_int_equal(call_hostile("talks_to_the_allowed_socket"), 0);
	fd = accept4(server.listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fd >= 0);
	for (i = 0; i < 1000 && recv(fd, text, 5, MSG_DONTWAIT) < 0; i++)
		pause_briefly();
	assert_string_equal(text, "hello");
	close(fd);
	assert_int_equal(call_hostile("talks_to_the_servers_socket"), EPERM);
	assert_int_equal(call_hostile("changes_an_address_meanwhile"), 0);
	stop_server();
}

#ifdef CONFIG_DSO
static void learning_names_the_calls_that_the_list_lacks(void **state)
{
	size_t i;

	(void)state;
	assert_true(start_server(0, NULL, NULL, "--sandbox-learn", NULL));
	if (kernel_lacks("notifications")) {
		stop_server();
		skip();
	}
	for (i = 0; i < ESCAPE_COUNT && strcmp(names[i], "changes_a_mode"); i++)
		;
	assert_int_equal(escape(i), 0);
	wait_for_log("chmod");
	stop_server();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_way_leads_out),
		cmocka_unit_test(no_way_leads_out_as_a_user_without_rights),
		cmocka_unit_test(no_way_leads_out_with_the_first_landlock),
		cmocka_unit_test(no_way_leads_out_with_landlock_of_linux_6_10),
		cmocka_unit_test(seccomp_alone_stops_what_it_can),
		cmocka_unit_test(landlock_alone_stops_what_it_can),
		cmocka_unit_test(a_session_names_and_pins_its_threads),
		cmocka_unit_test(a_session_reads_the_configuration_of_drivers),
		cmocka_unit_test(what_a_session_prints_is_reported_as_its_own),
		cmocka_unit_test(a_session_that_prints_without_end_does_not_fill_the_log),
		cmocka_unit_test(a_session_connects_to_an_allowed_socket_alone),
#ifdef CONFIG_DSO
		cmocka_unit_test(learning_names_the_calls_that_the_list_lacks),
#endif
	};

	if (getenv("EMULATOR") && *getenv("EMULATOR")) {
		puts("1..0 # SKIP the kernel under an emulator knows nothing of its calls");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
