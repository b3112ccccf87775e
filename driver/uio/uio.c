/* SPDX-License-Identifier: MIT */
/* Open a UIO device, read its maps from sysfs, and map them. */
#include "driver/uio/uio.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"

/* Read an attribute that older kernels or some drivers do not have. */
static int read_optional_number(const struct uio *u, const char *path, uint64_t *number)
{
	int err = system_read_number(u->calls, path, number);

	if (err != -TENON_E_NOT_FOUND)
		return err;
	tenon_error_clear();
	return 0;
}

static int read_map(const struct uio *u, unsigned int index, struct uio_map *map)
{
	char path[PATH_MAX];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int err;

	snprintf(path, sizeof(path), "%s/maps/map%u/size", u->folder, index);
	err = system_read_number(u->calls, path, &map->size);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/maps/map%u/addr", u->folder, index);
	err = system_read_number(u->calls, path, &map->address);
	/* not found stands for the end of the list */
	if (err == -TENON_E_NOT_FOUND)
		return tenon_error(-TENON_E_FORMAT, "%s: a map without an address", path);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/maps/map%u/offset", u->folder, index);
	err = read_optional_number(u, path, &map->offset);
	if (err)
		return err;
	if (map->offset >= page)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: expected an offset inside a page, found %" PRIu64, path,
				   map->offset);
	snprintf(path, sizeof(path), "%s/maps/map%u/name", u->folder, index);
	err = system_read_text(u->calls, path, map->name, sizeof(map->name));
	if (err != -TENON_E_NOT_FOUND)
		return err;
	tenon_error_clear();
	return 0;
}

static int read_maps(struct uio *u)
{
	int err = 0;

	while (u->map_count < UIO_MAPS) {
		err = read_map(u, u->map_count, &u->map[u->map_count]);
		if (err)
			break;
		u->map_count++;
	}
	/* the first number without a folder ends the list */
	if (err != -TENON_E_NOT_FOUND)
		return err;
	tenon_error_clear();
	return 0;
}

static int open_config(struct uio *u)
{
	char path[PATH_MAX];

	if (strcmp(u->driver, "uio_pci_generic"))
		return 0;
	snprintf(path, sizeof(path), "%s/device/config", u->folder);
	u->config = system_open(u->calls, path, O_RDWR);
	return u->config < 0 ? u->config : 0;
}

static int open_node(struct uio *u, const char *root)
{
	char path[PATH_MAX];
	uint64_t seen;
	int err;

	snprintf(path, sizeof(path), "%s%s", root, u->path);
	u->fd = system_open(u->calls, path, O_RDWR | O_NONBLOCK);
	if (u->fd < 0)
		return u->fd;
	/*
	 * The counter continues from earlier users of the device. It may already include an
	 * interrupt since the open().
	 */
	snprintf(path, sizeof(path), "%s/event", u->folder);
	err = read_optional_number(u, path, &seen);
	u->seen = (uint32_t)seen;
	return err;
}

int uio_open(const struct system_calls *calls, const char *root, unsigned int number,
	     struct uio *out)
{
	char path[PATH_MAX];
	int err;

	memset(out, 0, sizeof(*out));
	out->calls = system_calls_or_kernel(calls);
	out->fd = out->config = -1;
	snprintf(out->path, sizeof(out->path), "/dev/uio%u", number);
	if (snprintf(out->folder, sizeof(out->folder), "%s/sys/class/uio/uio%u", root, number) >=
	    (int)sizeof(out->folder))
		return tenon_error(-TENON_E_VALUE, "%s: the path is too long", root);
	snprintf(path, sizeof(path), "%s/name", out->folder);
	err = system_read_text(out->calls, path, out->driver, sizeof(out->driver));
	if (!err)
		err = read_maps(out);
	if (!err)
		err = open_node(out, root);
	if (!err)
		err = open_config(out);
	if (!err)
		return 0;
	uio_close(out);
	return tenon_error_in(err, "%s", out->path);
}

static void unmap(const struct uio *u, struct uio_map *map)
{
	system_unmap(u->calls, &map->start, map->offset + map->size);
	map->base = NULL;
}

void uio_close(struct uio *u)
{
	for (unsigned int i = 0; i < UIO_MAPS; i++)
		unmap(u, &u->map[i]);
	for (unsigned int i = 0; i < UIO_PCI_BARS; i++)
		unmap(u, &u->bar[i]);
	system_close(u->calls, &u->config);
	system_close(u->calls, &u->fd);
}

int uio_map(struct uio *u, unsigned int index)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct uio_map *map;
	int err;

	if (index >= u->map_count)
		return tenon_error(-TENON_E_VALUE, "%s: there is no map %u; the device has %u",
				   u->path, index, u->map_count);
	map = &u->map[index];
	if (map->base)
		return 0;
	if (map->size > UINT64_MAX - map->offset)
		return tenon_error(-TENON_E_OVERFLOW, "%s: map %u has %" PRIu64 " bytes", u->path,
				   index, map->size);
	/* The kernel takes the number of the map as an offset in pages. */
	err = system_map(u->calls, u->fd, u->path, index * page, map->offset + map->size,
			 &map->start);
	if (err)
		return err;
	map->base = (volatile uint8_t *)map->start + map->offset;
	return 0;
}
