/* SPDX-License-Identifier: MIT */
/* Delete the oldest entries when the cache exceeds its limit. */
#include "lib/disk_cache_trim.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array_room.h"

#define DEFAULT_MIB 256
#define MIB_MOST    (UINT64_C(1) << 40)
#define TEMPORARY   7 /* ".XXXXXX" */

struct entry {
	struct timespec used;
	uint64_t size;
	char name[DISK_CACHE_NAME + TEMPORARY + 1];
};

struct entries {
	struct entry *entry;
	size_t count;
	size_t room;
	uint64_t size;
};

uint64_t disk_cache_limit(void)
{
	const char *text = secure_getenv("TENON_CACHE_SIZE");
	uint64_t mib = DEFAULT_MIB;
	char *end;

	if (text && isdigit((unsigned char)*text)) {
		mib = strtoull(text, &end, 10);
		if (*end || mib > MIB_MOST)
			mib = DEFAULT_MIB;
	}
	return mib << 20;
}

/* Remove entries only: the user may have chosen a folder with other files. */
static bool is_entry(const char *name)
{
	size_t digits = strspn(name, "0123456789abcdef"), length = strlen(name);

	return digits == DISK_CACHE_NAME &&
	       (length == DISK_CACHE_NAME ||
		(length == DISK_CACHE_NAME + TEMPORARY && name[digits] == '.'));
}

static bool add(struct entries *all, int folder, const char *name)
{
	struct entry *more;
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return true;
	if (!array_reserve(all->entry, all->room, all->count + 1))
		return false;
	more = &all->entry[all->count++];
	more->used = st.st_mtim;
	more->size = (uint64_t)st.st_size;
	memcpy(more->name, name, strlen(name) + 1);
	all->size += more->size;
	return true;
}

static int older_first(const void *a, const void *b)
{
	const struct timespec *x = &((const struct entry *)a)->used,
			      *y = &((const struct entry *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

void disk_cache_trim(int folder, uint64_t most)
{
	struct entries all = { NULL, 0, 0, 0 };
	/* open it again: a duplicate would share the position of readdir() */
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	size_t i;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d)))
		if (is_entry(e->d_name) && !add(&all, dirfd(d), e->d_name))
			break;
	if (all.size > most)
		qsort(all.entry, all.count, sizeof(*all.entry), older_first);
	else
		all.count = 0;
	for (i = 0; i < all.count && all.size > most - most / 4; i++)
		if (!unlinkat(dirfd(d), all.entry[i].name, 0))
			all.size -= all.entry[i].size;
	closedir(d);
	free(all.entry);
}
