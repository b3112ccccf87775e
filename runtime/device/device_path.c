/* SPDX-License-Identifier: MIT */
/* Choose a device by the path of its URI: an index, or parts of the device's name, driver or UUID. */
#include <string.h>
#include <strings.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_table.h"

static int parse_number(struct tenon_slice s, uint32_t *out)
{
	uint64_t n = 0;
	size_t i;

	if (!s.size || s.size > 9)
		return -1;
	for (i = 0; i < s.size; i++) {
		if (s.data[i] < '0' || s.data[i] > '9')
			return -1;
		n = 10 * n + (uint64_t)(s.data[i] - '0');
	}
	*out = (uint32_t)n;
	return 0;
}

static void uuid_text(const uint8_t uuid[16], char text[33])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < 16; i++) {
		text[2 * i] = digits[uuid[i] >> 4];
		text[2 * i + 1] = digits[uuid[i] & 15];
	}
	text[32] = 0;
}

static bool text_has(const char *text, struct tenon_slice part)
{
	for (; *text; text++)
		if (!strncasecmp(text, part.data, part.size))
			return true;
	return false;
}

static bool part_fits(struct tenon_slice path, const struct tenon_device_properties *p)
{
	char uuid[33], wanted[33];
	size_t i, n = 0;

	if (path.size > 5 && !memcmp(path.data, "uuid:", 5)) {
		for (i = 5; i < path.size && n < 32; i++)
			if (path.data[i] != '-')
				wanted[n++] = path.data[i];
		wanted[n] = 0;
		uuid_text(p->uuid, uuid);
		return n == 32 && !strncasecmp(uuid, wanted, sizeof(uuid));
	}
	return text_has(p->name, path) || text_has(p->driver, path);
}

static bool path_fits(struct tenon_slice path, const struct tenon_device_properties *p)
{
	struct tenon_slice part;
	const char *slash;

	do {
		slash = memchr(path.data, '/', path.size);
		part = path;
		if (slash)
			part.size = (size_t)(slash - path.data);
		if (!part_fits(part, p))
			return false;
		path.data += part.size + 1;
		path.size -= part.size + (slash != NULL);
	} while (slash);
	return true;
}

/* "pocl/1": remove and return the number after the last '/'; 0 when there is none. */
static uint32_t take_number(struct tenon_slice *path)
{
	const char *slash = memrchr(path->data, '/', path->size);
	struct tenon_slice digits;
	uint32_t number;

	if (!slash)
		return 0;
	digits.data = slash + 1;
	digits.size = path->size - (size_t)(digits.data - path->data);
	if (parse_number(digits, &number))
		return 0;
	path->size = (size_t)(slash - path->data);
	return number;
}

int device_path_find(const struct tenon_backend *b, struct tenon_slice path, uint32_t count,
		     uint32_t *index)
{
	struct tenon_device_properties p;
	struct tenon_slice parts = path;
	uint32_t i, skip;

	*index = 0;
	if (!path.size || !parse_number(path, index)) {
		if (*index < count)
			return 0;
		return tenon_error(-TENON_E_DEVICE, "%s:%u: %s has %u device%s", b->name, *index,
				   b->name, count, count == 1 ? "" : "s");
	}
	skip = take_number(&parts);
	for (i = 0; i < count; i++) {
		memset(&p, 0, sizeof(p));
		p.size = sizeof(p);
		if (backend_opened(b)->describe(i, &p)) {
			tenon_error_clear(); /* try the other devices */
		} else if (path_fits(parts, &p) && !skip--) {
			*index = i;
			return 0;
		}
	}
	return tenon_error(-TENON_E_DEVICE,
			   "none of the %u devices of %s has a name, driver or uuid with \"%.*s\"",
			   count, b->name, (int)path.size, path.data);
}
