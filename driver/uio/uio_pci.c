/* SPDX-License-Identifier: MIT */
/* Map the BARs of a PCI device behind UIO, and unmask its interrupt. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/uio/uio.h"
#include "driver/uio/uio_private.h"
#include "lib/brief_errors.h"

#define RESOURCE_MEMORY 0x200 /* IORESOURCE_MEM */

/* the command register in PCI configuration space, and a bit of it */
#define COMMAND		  4
#define INTERRUPT_DISABLE 0x0400

static int check_bus(const struct uio *u)
{
	return u->config >= 0 ? 0
			      : tenon_error(-TENON_E_UNSUPPORTED,
					    "%s: driver \"%s\" has no BARs; uio_pci_generic has",
					    u->path, u->driver);
}

int uio_pci_enable_interrupt(struct uio *u)
{
	uint8_t bytes[2];
	int err;

	err = system_read_whole(u->calls, u->config, u->path, COMMAND, bytes, sizeof(bytes));
	if (err || !(bytes[1] & INTERRUPT_DISABLE >> 8))
		return err;
	bytes[1] &= (uint8_t) ~(INTERRUPT_DISABLE >> 8);
	return system_write_whole(u->calls, u->config, u->path, COMMAND, bytes, sizeof(bytes));
}

/* Not sscanf(): it would be 5 KiB of a static program. */
static bool read_number(const char **at, uint64_t *out)
{
	char *end;

	*out = strtoull(*at, &end, 16);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

/* The file "resource" has a line for each BAR: first byte, last byte, flags. */
static int read_resource(const struct uio *u, unsigned int index, struct uio_map *bar)
{
	char path[PATH_MAX], text[1024];
	const char *line = text;
	uint64_t first, last, flags;
	int err;

	snprintf(path, sizeof(path), "%s/device/resource", u->folder);
	err = system_read_text(u->calls, path, text, sizeof(text));
	if (err)
		return err;
	for (unsigned int i = 0; line && i < index; i++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line || !read_number(&line, &first) || !read_number(&line, &last) ||
	    !read_number(&line, &flags))
		return tenon_error(-TENON_E_FORMAT, "%s: line %u: expected three numbers", path,
				   index + 1);
	if (!(flags & RESOURCE_MEMORY) || last < first || last - first == UINT64_MAX)
		return tenon_error(-TENON_E_VALUE, "%s: BAR %u is no memory", u->path, index);
	bar->address = first;
	bar->size = last - first + 1;
	/* a small BAR may lie behind another one in its page, and whole pages are mapped */
	bar->offset = first % (uint64_t)sysconf(_SC_PAGESIZE);
	if (bar->size > UINT64_MAX - bar->offset)
		return tenon_error(-TENON_E_OVERFLOW, "%s: BAR %u has %" PRIu64 " bytes", u->path,
				   index, bar->size);
	return 0;
}

int uio_pci_map(struct uio *u, unsigned int index)
{
	char path[PATH_MAX];
	struct uio_map *bar;
	int fd, err;

	err = check_bus(u);
	if (err)
		return err;
	if (index >= UIO_PCI_BARS)
		return tenon_error(-TENON_E_VALUE, "%s: there is no BAR %u", u->path, index);
	bar = &u->bar[index];
	if (bar->base)
		return 0;
	err = read_resource(u, index, bar);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/device/resource%u", u->folder, index);
	fd = system_open(u->calls, path, O_RDWR);
	if (fd < 0)
		return fd;
	err = system_map(u->calls, fd, path, 0, bar->offset + bar->size, &bar->start);
	/* the mapping stays without its descriptor */
	system_close(u->calls, &fd);
	if (err)
		return err;
	bar->base = (volatile uint8_t *)bar->start + bar->offset;
	snprintf(bar->name, sizeof(bar->name), "BAR %u", index);
	return 0;
}
