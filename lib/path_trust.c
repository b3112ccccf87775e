/* SPDX-License-Identifier: MIT */
/* file_trust_path(): walk a path from the root by descriptors and resolve links one by one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/file_trust.h"

#define LINKS_MOST 40 /* the kernel's limit */

/**
 * struct walk - progress of resolving a path
 * @fd: current folder
 * @real: its path; "" for the root
 * @rest: unresolved part of the path
 * @links: number of links followed
 */
struct walk {
	int fd;
	char *real;
	char rest[PATH_MAX];
	unsigned int links;
};

static int refuse(const char *part, const struct stat *st, const char *fault)
{
	const char *remedy = st->st_mode & S_IWOTH ? "chmod o-w" : "chmod g-w";

	if (st->st_uid && st->st_uid != geteuid())
		remedy = "chown root";
	part = *part ? part : "/";
	return tenon_error(-TENON_E_USAGE, "%s: %s, so it is not used: %s %s", part, fault, remedy,
			   part);
}

static int fail(const struct walk *w, const char *name, int code)
{
	return tenon_error(-TENON_E_IO, "%s%s%s: %s", w->real, *name ? "/" : "", name,
			   strerror(code));
}

/*
 * Test for a sticky folder of a trusted owner: other users may create files in it, but cannot
 * remove or rename those of the user.
 */
static bool protects_entries(const struct stat *st)
{
	return S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX &&
	       (!st->st_uid || st->st_uid == geteuid());
}

static int check(const char *part, const struct stat *st)
{
	const char *fault = file_trust_fault(st);

	return fault ? refuse(part, st, fault) : 0;
}

static int enter_root(struct walk *w)
{
	struct stat st;
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	*w->real = 0;
	if (fd < 0 || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return fail(w, "", errno);
	}
	if (w->fd >= 0)
		close(w->fd);
	w->fd = fd;
	return check("", &st);
}

/* Put the target of a link in front of the unresolved part. */
static int follow(struct walk *w, int link, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(link, "", target, sizeof(target));
	size_t left = strlen(w->rest) + 1;

	if (n < 0)
		return fail(w, name, errno);
	if (++w->links > LINKS_MOST)
		return fail(w, name, ELOOP);
	if ((size_t)n + 1 + left > sizeof(w->rest))
		return fail(w, name, ENAMETOOLONG);
	memmove(w->rest + n + 1, w->rest, left);
	memcpy(w->rest, target, (size_t)n);
	w->rest[n] = '/';
	return n && *target == '/' ? enter_root(w) : 0;
}

/* Go to the parent; it was checked on the way down. */
static int go_up(struct walk *w)
{
	char *slash = strrchr(w->real, '/');
	int fd;

	if (!slash)
		return 0;
	fd = openat(w->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fail(w, "..", errno);
	close(w->fd);
	w->fd = fd;
	*slash = 0;
	return 0;
}

/* Enter a part of the path. Consumes the descriptor @part. */
static int go_down(struct walk *w, int part, const char *name)
{
	size_t length = strlen(w->real);
	struct stat st;
	int err;

	if (length + 1 + strlen(name) >= PATH_MAX) {
		err = fail(w, name, ENAMETOOLONG);
		goto close_part;
	}
	if (fstat(part, &st)) {
		err = fail(w, name, errno);
		goto close_part;
	}
	snprintf(w->real + length, PATH_MAX - length, "/%s", name);
	if (S_ISLNK(st.st_mode)) {
		err = check(w->real, &st);
		w->real[length] = 0;
		if (!err)
			err = follow(w, part, name);
		goto close_part;
	}
	close(w->fd);
	w->fd = part;
	return protects_entries(&st) ? 0 : check(w->real, &st);

close_part:
	close(part);
	return err;
}

/* Take the next part off @rest; false at the end. */
static bool next_part(struct walk *w, char name[NAME_MAX + 2])
{
	size_t skip = strspn(w->rest, "/"), n = strcspn(w->rest + skip, "/");

	if (!n)
		return false;
	if (n > NAME_MAX + 1)
		n = NAME_MAX + 1; /* enough for open() to say that it is too long */
	memcpy(name, w->rest + skip, n);
	name[n] = 0;
	memmove(w->rest, w->rest + skip + n, strlen(w->rest + skip + n) + 1);
	return true;
}

static int walk_on(struct walk *w, const char *name)
{
	int part;

	if (!strcmp(name, "."))
		return 0;
	if (!strcmp(name, ".."))
		return go_up(w);
	part = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return part < 0 ? fail(w, name, errno) : go_down(w, part, name);
}

static int start(struct walk *w, const char *path)
{
	size_t length = 0;

	if (*path != '/') {
		if (!getcwd(w->rest, sizeof(w->rest)))
			return tenon_error(-TENON_E_IO, "%s: the current folder has no path: %s",
					   path, strerror(errno));
		length = strlen(w->rest);
	}
	if (length + 1 + strlen(path) >= sizeof(w->rest))
		return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(ENAMETOOLONG));
	snprintf(w->rest + length, sizeof(w->rest) - length, "/%s", path);
	return enter_root(w);
}

/* The last part may not be a sticky folder: other users can add files to it. */
static int check_last(const struct walk *w)
{
	struct stat st;

	return fstat(w->fd, &st) ? fail(w, "", errno) : check(w->real, &st);
}

int file_trust_path(const char *path, char real[PATH_MAX])
{
	struct walk w = { .fd = -1, .real = real };
	char name[NAME_MAX + 2];
	int err;

	err = start(&w, path);
	while (!err && next_part(&w, name))
		err = walk_on(&w, name);
	if (!err)
		err = check_last(&w);
	if (w.fd >= 0)
		close(w.fd);
	if (!*real)
		strcpy(real, "/");
	return err;
}
