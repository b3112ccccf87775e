/* SPDX-License-Identifier: MIT */
/*
 * Programs of the tree that run in the guest: the conformance suite of devices over the transports of mortise. The
 * firmware runs outside of the guest (tests/driver/ivshmem_peer.c), in memory that both machines share.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/syscall/syscall.h"
#include "tests/driver/guest/guest.h"

static const struct program {
	const char *name;   /* for the cases */
	const char *file;   /* in /programs */
	const char *device; /* to be bound to a driver */
	const char *driver;
	const char *arguments; /* with a space between */
	int status;	       /* exit status */
	const char *when;      /* a word of the kernel's command line; NULL: always */
} programs[] = {
	{ "cts over uio", "mortise_uio_backend", "0000:00:07.0", "uio_pci_generic", NULL, 0, NULL },
	{ "cts over vfio", "mortise_vfio_backend", "0000:00:08.0", "vfio-pci", NULL, 0, NULL },
	{ "prime", "prime_test", NULL, NULL, NULL, 0, NULL },
	{ "doctor finds the boards", "tenon", NULL, NULL,
	  "doctor --board mortise://uio/1 mortise://vfio/0000:00:08.0", 0, NULL },
	{ "doctor misses a board", "tenon", NULL, NULL, "doctor --board mortise://uio/7", 4, NULL },
	{ "figures of uio", "ring_bench", NULL, NULL, "uio/1", 0, "figures" },
	{ "figures of vfio", "ring_bench", NULL, NULL, "vfio/0000:00:08.0", 0, "figures" },
};

static bool is_wanted(const struct program *p)
{
	char line[2048] = "";

	if (!p->when)
		return true;
	return !system_read_text(&system_calls_of_kernel, "/proc/cmdline", line, sizeof(line)) &&
	       strstr(line, p->when);
}

static char **split(char *path, const char *arguments)
{
	static char *words[8], text[256];
	size_t count = 0;

	words[count++] = path;
	snprintf(text, sizeof(text), "%s", arguments ? arguments : "");
	for (char *word = strtok(text, " "); word && count < 7; word = strtok(NULL, " "))
		words[count++] = word;
	return words;
}

static pid_t start(const struct program *p, int *output)
{
	char path[128];
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		snprintf(path, sizeof(path), "/programs/%s", p->file);
		setenv("TENON_BUILD", "/programs", 1);
		setenv("TENON_GUEST", "1", 1);
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		alarm(400);
		setenv("LD_LIBRARY_PATH", "/programs", 1);
		execv(path, split(path, p->arguments));
		_exit(127);
	}
	close(ends[1]);
	*output = ends[0];
	return pid;
}

/* A line of cmocka is a case: "[       OK ] name". All else is a remark, or why the next is skipped. */
static unsigned int tell(const struct program *p, const char *line, unsigned int number)
{
	static const struct {
		const char *mark, *word, *behind;
	} marks[] = {
		{ "[       OK ] ", "ok", "" },
		{ "[  SKIPPED ] ", "ok", " # SKIP " },
		{ "[  FAILED  ] ", "not ok", "" },
	};
	static const char skip[] = "# skip: ";
	static char reason[256];

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		size_t n = strlen(marks[i].mark);

		if (strncmp(line, marks[i].mark, n) || strstr(line, "test(s)"))
			continue;
		guest_say("%s %u - %s: %s%s%s\n", marks[i].word, ++number, p->name, line + n,
			  marks[i].behind, *marks[i].behind ? reason : "");
		return number;
	}
	if (!strncmp(line, skip, sizeof(skip) - 1))
		snprintf(reason, sizeof(reason), "%s", line + sizeof(skip) - 1);
	else if (*line && strncmp(line, "[ ", 2) && strncmp(line, "[=", 2))
		guest_say("# %s\n", line);
	return number;
}

static unsigned int run(const struct program *p, unsigned int number)
{
	unsigned int before = number;
	int output = -1, status = 0;
	bool listing = false;
	char line[512];
	pid_t pid;
	FILE *f;

	pid = p->device && guest_bind(p->device, p->driver) ? -1 : start(p, &output);
	f = pid > 0 ? fdopen(output, "r") : NULL;
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		/* a summary names cases again */
		listing |= strstr(line, " test(s) run.") != NULL;
		if (!listing)
			number = tell(p, line, number);
	}
	if (f)
		fclose(f);
	if (pid > 0)
		waitpid(pid, &status, 0);
	/* a suite's cases have been told; the end of any other program is its case */
	if (pid < 0 || status != p->status << 8)
		guest_say("not ok %u - %s: the program ends well (status 0x%x, %s)\n", ++number,
			  p->name, (unsigned int)status, tenon_error_message());
	else if (number == before)
		guest_say("%s %u - %s\n", p->driver ? "not ok" : "ok", ++number, p->name);
	tenon_error_clear();
	return number;
}

unsigned int guest_run_programs(unsigned int number)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		char path[128];

		snprintf(path, sizeof(path), "/programs/%s", programs[i].file);
		if (!is_wanted(&programs[i]))
			continue;
		if (!access(path, X_OK))
			number = run(&programs[i], number);
		else
			guest_say("ok %u - %s # SKIP this build has no program %s for the guest\n",
				  ++number, programs[i].name, programs[i].file);
	}
	return number;
}
