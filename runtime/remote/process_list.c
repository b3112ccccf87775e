/* SPDX-License-Identifier: MIT */
#include "runtime/remote/process_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read the beginning of a file of /proc as text. */
static bool read_text(const char *pid, const char *file, char *text, size_t size)
{
	char path[300];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

/* numbers behind the state: the first two, and the number of threads */
#define NUMBERS 17
#define PARENT	0
#define GROUP	1
#define THREADS 16

/* By strtol(): sscanf() would make a static server 8 KiB larger. */
static bool read_process(const char *name, struct process *p)
{
	long numbers[NUMBERS];
	char text[1024], *at;
	int i;

	if (*name < '1' || *name > '9' || !read_text(name, "stat", text, sizeof(text)))
		return false;
	/* "pid (name) state parent group ...": the name may contain anything */
	at = strrchr(text, ')');
	if (!at || strlen(at) < 4)
		return false;
	at += 3;
	for (i = 0; i < NUMBERS; i++) {
		char *end;

		numbers[i] = strtol(at, &end, 10);
		if (end == at)
			return false;
		at = end;
	}
	p->pid = atoi(name);
	p->parent = (pid_t)numbers[PARENT];
	p->group = (pid_t)numbers[GROUP];
	p->threads = numbers[THREADS] > 0 ? (unsigned int)numbers[THREADS] : 1;
	return true;
}

bool process_list(void (*each)(void *context, const struct process *p), void *context)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool found = false;
	struct process p;

	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (!read_process(entry->d_name, &p))
			continue;
		found = true;
		each(context, &p);
	}
	closedir(dir);
	return found;
}

static uint64_t kib_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

uint64_t process_memory(pid_t pid)
{
	char name[24], text[4096];

	snprintf(name, sizeof(name), "%d", (int)pid);
	if (!read_text(name, "status", text, sizeof(text)))
		return 0;
	return 1024 * (kib_of(text, "\nRssAnon:") + kib_of(text, "\nRssShmem:"));
}
