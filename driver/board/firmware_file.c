/* SPDX-License-Identifier: MIT */
/* Search the folders for an image of the firmware and read it. */
#include "driver/board/firmware_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/uapi/mortise.h>
#include <unistd.h>

#include "generated/install_paths.h"
#include "lib/brief_errors.h"
#include "lib/disk_cache.h"
#include "lib/library_path.h"
#include "lib/option.h"
#include "lib/whole_io.h"

/* firmware is small; a larger file is something else */
#define SIZE_MOST (UINT64_C(16) << 20)

/* ---- search */

/**
 * struct search - search for an image
 * @name: of the file
 * @path: of the file that was tried last
 * @tried: all that were not there
 */
struct search {
	const char *name;
	char *path;
	struct tenon_buffer tried;
};

static bool try_folder(struct search *s, const char *folder, int size, const char *below)
{
	if (snprintf(s->path, PATH_MAX, "%.*s%s/%s", size, folder, below, s->name) >= PATH_MAX)
		return false;
	if (!access(s->path, R_OK))
		return true;
	/* in the folder of a build, "tenon" is the command */
	if (errno == ENOTDIR)
		return false;
	tenon_buffer_printf(&s->tried, "%s%s (%s)", s->tried.size ? ", " : "", s->path,
			    strerror(errno));
	return false;
}

static bool try_environment(struct search *s)
{
	const char *folders = secure_getenv("TENON_FIRMWARE_PATH"), *end;

	for (; folders && *folders; folders = *end ? end + 1 : end) {
		end = strchrnul(folders, ':');
		if (end > folders && try_folder(s, folders, (int)(end - folders), ""))
			return true;
	}
	return false;
}

static bool try_beside_library(struct search *s)
{
	char library[PATH_MAX];
	int size;

	/* this code may be in a plug-in; that function is in the library */
	if (!library_path_of((const void *)(uintptr_t)tenon_error_status, library))
		return false;
	size = (int)(strrchr(library, '/') - library);
	return try_folder(s, library, size, "/firmware") ||
	       try_folder(s, library, size, "/tenon/firmware");
}

int firmware_file_find(const char *name, char path[PATH_MAX])
{
	struct search s = { name, path, TENON_BUFFER_INIT };
	bool found = try_environment(&s) || try_beside_library(&s) ||
		     try_folder(&s, TENON_FIRMWARE_FOLDER, INT_MAX, "");
	int err = 0;

	if (!found && s.tried.status)
		err = tenon_error(-TENON_E_NOMEM, "no memory to search %s", name);
	else if (!found)
		err = tenon_error(-TENON_E_DEVICE,
				  "the firmware %s is not found; tried %s. \"make %s\" builds "
				  "it and \"make install\" installs it; TENON_FIRMWARE_PATH names "
				  "other folders",
				  name, s.tried.data ? s.tried.data : "no folder",
				  strstr(name, ".elf") ? "firmware" : "rtl");
	tenon_buffer_fini(&s.tried);
	return err;
}

/* ---- description */

static int read_bytes(const char *path, int fd, char **bytes, size_t *size)
{
	struct stat st;
	int error;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > SIZE_MOST)
		return tenon_error(-TENON_E_IO, "%s: no file with firmware", path);
	*size = (size_t)st.st_size;
	*bytes = malloc(*size + 1);
	if (!*bytes)
		return tenon_error(-TENON_E_NOMEM, "no memory for %s", path);
	if (read_whole(fd, *bytes, *size))
		return 0;
	error = errno;
	free(*bytes);
	return tenon_error(-TENON_E_IO, "%s: cannot be read: %s", path,
			   error ? strerror(error) : "it has fewer bytes than its size says");
}

static void find_image(const char *bytes, size_t size, struct firmware_file *out)
{
	struct mortise_image image;
	size_t at;

	for (at = 0; at + sizeof(image) <= size; at += 8) {
		memcpy(&image, bytes + at, sizeof(image));
		if (memcmp(image.word, MORTISE_IMAGE_WORD, sizeof(MORTISE_IMAGE_WORD)))
			continue;
		out->abi = image.abi;
		out->version = image.version;
		return;
	}
}

static void find_hash(const char *bytes, size_t size, struct firmware_file *out)
{
	const struct tenon_slice part = { bytes, size };
	struct disk_cache_key key;
	size_t i;

	if (!OPTION_ON(KERNEL_CACHE))
		return;
	disk_cache_key(&part, 1, &key);
	for (i = 0; i < sizeof(key.bytes); i++)
		snprintf(out->hash + 2 * i, 3, "%02x", key.bytes[i]);
}

int firmware_file_read(const char *path, struct firmware_file *out)
{
	char *bytes = NULL;
	size_t size = 0;
	int fd, err;

	memset(out, 0, sizeof(*out));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return tenon_error(-TENON_E_IO, "%s: cannot be opened: %s", path, strerror(errno));
	err = read_bytes(path, fd, &bytes, &size);
	close(fd);
	if (err)
		return err;
	out->size = size;
	find_image(bytes, size, out);
	find_hash(bytes, size, out);
	free(bytes);
	return 0;
}
