/* SPDX-License-Identifier: MIT */
/* Start a server, and count its processes, descriptors and folders. */
#include "tests/remote/server_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool over_tcp;

struct server_process server;

const char *scratch(void)
{
	const char *folder = getenv("TMPDIR");

	return folder ? folder : "/tmp";
}

int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* processes whose parent is the server: sessions, and what they left behind */
int count_children(void)
{
	char path[300], text[4096], *at;
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int n = 0, fd;
	ssize_t size;

	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		fd = *entry->d_name >= '1' && *entry->d_name <= '9' ? open(path, O_RDONLY) : -1;
		if (fd < 0)
			continue;
		size = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[size > 0 ? size : 0] = '\0';
		/* "pid (name) state parent": the name may contain anything */
		at = strrchr(text, ')');
		n += at && atoi(at + 3) == server.pid;
	}
	closedir(dir);
	return n;
}

void find_child(void *context, const struct process *p)
{
	/* relays are in the server's group */
	if (p->parent == server.pid && p->group == p->pid)
		*(pid_t *)context = p->pid;
}

static void count_leader(void *context, const struct process *p)
{
	/* relays are in the server's group */
	*(int *)context += p->parent == server.pid && p->group == p->pid;
}

int count_sessions(void)
{
	int n = 0;

	process_list(count_leader, &n);
	return n;
}

static int count_descriptors(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)server.pid);
	return count_entries(path);
}

/* files in the server's folder: a folder for each session, beside the cache */
int count_folders(void)
{
	char path[4096];
	DIR *dir = opendir(server.base);
	struct dirent *entry;
	int n = 0;

	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", server.base, entry->d_name);
		n += count_entries(path) - 1;
	}
	closedir(dir);
	return n;
}

void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Wait until a number of the server is no more than it was; fails the test after a long time. */
void wait_for(int (*count)(void), int want, const char *what)
{
	double end = now() + PATIENCE_S;

	while (count() > want) {
		if (now() > end)
			fail_msg("%d %s, expected %d", count(), what, want);
		pause_ms(5);
	}
}

void nothing_is_left(void)
{
	wait_for(count_children, 0, "processes");
	wait_for(count_descriptors, server.descriptors, "descriptors");
	wait_for(count_folders, 0, "folders");
}

/* ---- clients */

static const char *address_of_server(void)
{
	static char text[40];

	snprintf(text, sizeof(text), "127.0.0.1:%u", server.port);
	return over_tcp ? text : server.socket;
}

int connect_server(void)
{
	return server_connect(address_of_server());
}

/* Connect, and read the server's key. */
void begin_client(struct client *c, const char *key)
{
	server_client_begin(c, address_of_server(), key);
}

void open_client(struct client *c, const char *key)
{
	begin_client(c, key);
	client_init(c);
}

/* Upload the module of hostile functions; its function. */
uint64_t hostile_function(struct client *c, const char *name)
{
	return server_client_function(c, "hostile", name);
}

int64_t call_hostile(const char *name)
{
	struct client c;
	int64_t result;

	open_client(&c, "client:fixture");
	CALL(&c, hostile_function(&c, name), wire_int(41));
	assert_int_equal(c.code, PACKET_RETURN);
	result = c.values.values[1].as.integer;
	server_client_close(&c);
	return result;
}

void the_next_client_is_served(void)
{
	assert_int_equal(call_hostile("add_one"), 42);
}

/* ---- the server */

/* the port of the last server that was started */
static void read_port(void)
{
	static const char text[] = "listening on 127.0.0.1:";
	FILE *f = fopen(server.log, "r");
	char line[600], *at;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, text);
		if (at)
			server.port = (uint16_t)atoi(at + strlen(text));
	}
	fclose(f);
	assert_true(server.port);
}

void launch_server(const char *option)
{
	const char *command = getenv("TENON_COMMAND");
	char address[120];
	int fd;

	snprintf(address, sizeof(address), "unix:%s", server.socket);
	server.pid = fork();
	assert_true(server.pid >= 0);
	if (!server.pid) {
		fd = open(server.log, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(fd, 2);
		close(fd);
		execl(command ? command : "build/tenon", "tenon", "rpc", "serve", "--listen",
		      address, "--listen", "127.0.0.1:0", "--key", "fixture", "--folder",
		      server.base, "--sessions", "8", "--request-timeout", "8", "--memory", "1024",
		      "--folder-size", "128", "--processes", PROCESSES, option, (char *)NULL);
		_exit(127);
	}
}

void start_server_with(const char *option)
{
	double end = now() + PATIENCE_S;
	int fd;

	launch_server(option);
	while ((fd = connect_server()) < 0) {
		assert_true(now() < end);
		pause_ms(5);
	}
	close(fd);
	wait_for(count_children, 0, "processes");
	/* until the connection above is closed there, too */
	the_next_client_is_served();
	/* it serves when it listens at all of its addresses */
	read_port();
	wait_for(count_children, 0, "processes");
	/* the server may still close what it had for that client */
	do {
		server.descriptors = count_descriptors();
		pause_ms(20);
	} while (count_descriptors() < server.descriptors);
}

void start_server(void)
{
	start_server_with(NULL);
}

int server_setup(void **state)
{
	static char folder[60];

	(void)state;
	/* a short path for the socket */
	strcpy(folder, "/tmp/tenon-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(server.socket, sizeof(server.socket), "%s/socket", folder);
	snprintf(server.base, sizeof(server.base), "%s/base", scratch());
	snprintf(server.log, sizeof(server.log), "%s/log", scratch());
	if (mkdir(server.base, 0700))
		return -1;
	start_server();
	return 0;
}

int server_teardown(void **state)
{
	int status;

	(void)state;
	/* 0, of a setup that failed, would be this process group */
	if (server.pid <= 0)
		return 0;
	kill(server.pid, SIGTERM);
	waitpid(server.pid, &status, 0);
	unlink(server.socket);
	*strrchr(server.socket, '/') = '\0';
	rmdir(server.socket);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static bool log_has(const char *text)
{
	static char log[1 << 20];
	FILE *f = fopen(server.log, "r");
	size_t size = f ? fread(log, 1, sizeof(log) - 1, f) : 0;

	if (f)
		fclose(f);
	log[size] = '\0';
	return strstr(log, text) != NULL;
}

/* The server says in one line what the kernel lacks. */
bool kernel_lacks(const char *part)
{
	return log_has("kernel lacks") && log_has(part);
}

bool server_is_emulated(void)
{
	if (!getenv("EMULATOR") || !*getenv("EMULATOR"))
		return false;
	puts("1..0 # SKIP the processes of an emulated server are the emulator's");
	return true;
}
