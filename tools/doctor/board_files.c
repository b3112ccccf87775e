/* SPDX-License-Identifier: MIT */
/* Read sysfs, devicetree and firmware below a root. */
#include "lib/sha256.h"
#include "tools/doctor/board_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/uapi/mortise.h>
#include <unistd.h>

#include "tools/text/text.h"

/* firmware is small; a larger file is something else */
#define FIRMWARE_MOST (64u << 20)

static const char *full(const char *root, const char *path, char *out)
{
	snprintf(out, BOARD_PATH, "%s%s", root, path);
	return out;
}

bool board_text(const char *root, const char *path, char *text, size_t room)
{
	char name[BOARD_PATH];
	int fd = open(full(root, path, name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t used = 0;
	ssize_t n;

	*text = 0;
	if (fd < 0)
		return false;
	while (used + 1 < room && (n = read(fd, text + used, room - 1 - used)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		used += (size_t)n;
	}
	close(fd);
	while (used && strchr(" \t\n", text[used - 1]))
		used--;
	text[used] = 0;
	return true;
}

bool board_exists(const char *root, const char *path)
{
	char name[BOARD_PATH];

	return !access(full(root, path, name), F_OK);
}

bool board_link_name(const char *root, const char *path, char *name, size_t room)
{
	char link[BOARD_PATH], target[BOARD_PATH], *slash;
	ssize_t n = readlink(full(root, path, link), target, sizeof(target) - 1);

	*name = 0;
	if (n <= 0)
		return false;
	target[n] = 0;
	slash = strrchr(target, '/');
	snprintf(name, room, "%s", slash ? slash + 1 : target);
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(a, b);
}

size_t board_entries(const char *root, const char *path, const char *prefix,
		     char (*names)[BOARD_NAME], size_t most)
{
	char name[BOARD_PATH];
	const struct dirent *e;
	size_t count = 0;
	DIR *folder = opendir(full(root, path, name));

	while (folder && count < most && (e = readdir(folder))) {
		if (*e->d_name == '.' || strncmp(e->d_name, prefix, strlen(prefix)) ||
		    strlen(e->d_name) >= BOARD_NAME)
			continue;
		strcpy(names[count++], e->d_name);
	}
	if (folder)
		closedir(folder);
	qsort(names, count, sizeof(*names), by_name);
	return count;
}

static const char *user_name(uid_t id, char *text, size_t room)
{
	const struct passwd *p = getpwuid(id);

	snprintf(text, room, "%u", (unsigned int)id);
	return p ? p->pw_name : text;
}

static const char *group_name(gid_t id, char *text, size_t room)
{
	const struct group *g = getgrgid(id);

	snprintf(text, room, "%u", (unsigned int)id);
	return g ? g->gr_name : text;
}

bool board_node(const char *root, const char *path, char *why, size_t room, char *remedy,
		size_t remedy_room)
{
	char name[BOARD_PATH], owner[16], group[16];
	struct stat st;

	*remedy = 0;
	if (stat(full(root, path, name), &st)) {
		snprintf(why, room, "%s: %s", path, strerror(errno));
		snprintf(remedy, remedy_room,
			 "the kernel knows the device: let udev or devtmpfs make the node");
		return false;
	}
	snprintf(why, room, "%s, %s:%s %04o", path, user_name(st.st_uid, owner, sizeof(owner)),
		 group_name(st.st_gid, group, sizeof(group)), (unsigned int)st.st_mode & 07777);
	if (!access(name, R_OK | W_OK))
		return true;
	snprintf(why + strlen(why), room - strlen(why), ", cannot be opened by %s: %s",
		 user_name(geteuid(), owner, sizeof(owner)), strerror(errno));
	if ((st.st_mode & 060) == 060 && st.st_gid)
		snprintf(remedy, remedy_room, "usermod -aG %s %s, and log in again",
			 group_name(st.st_gid, group, sizeof(group)),
			 user_name(geteuid(), owner, sizeof(owner)));
	else
		snprintf(remedy, remedy_room,
			 "a udev rule that gives the node to a group of yours: MODE=\"0660\", "
			 "GROUP=\"…\"");
	return false;
}

/* The version lies in the image of mortise, at a multiple of 8. */
static void add_version(const char *bytes, size_t size, char *text, size_t room)
{
	struct mortise_image image;

	for (size_t at = 0; at + sizeof(image) <= size; at += 8) {
		memcpy(&image, bytes + at, sizeof(image));
		if (memcmp(image.word, MORTISE_IMAGE_WORD, sizeof(MORTISE_IMAGE_WORD)))
			continue;
		snprintf(text, room, ", mortise %u.%u.%u, ABI %u.%u", image.version >> 16 & 0xff,
			 image.version >> 8 & 0xff, image.version & 0xff, image.abi >> 16,
			 image.abi & 0xffff);
		return;
	}
}

static char *read_file(const char *name, size_t *size)
{
	FILE *f = fopen(name, "re");
	char *bytes = f ? malloc(FIRMWARE_MOST) : NULL;

	errno = f ? ENOMEM : errno;
	if (bytes)
		*size = fread(bytes, 1, FIRMWARE_MOST, f);
	if (f)
		fclose(f);
	return bytes;
}

bool board_firmware(const char *root, const char *path, char *text, size_t room)
{
	char name[BOARD_PATH], hex[SHA256_TEXT], bytes_text[SIZE_TEXT];
	size_t size = 0;
	char *bytes = read_file(full(root, path, name), &size);

	if (!bytes) {
		snprintf(text, room, "%s: %s", path, strerror(errno));
		return false;
	}
	sha256_of(bytes, size, hex);
	snprintf(text, room, "%s, %s, sha256 %s", path, size_text(size, bytes_text), hex);
	add_version(bytes, size, text + strlen(text), room - strlen(text));
	free(bytes);
	return true;
}
