/* SPDX-License-Identifier: MIT */
/* Take a URI apart: scheme, path and options, with escapes decoded. */
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_table.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Decode %XX in place; false for an incomplete or invalid escape. */
static bool decode(char *from, char *end, struct tenon_slice *out)
{
	char *to = from;

	out->data = from;
	for (; from < end; from++) {
		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		if (end - from < 3 || hex_digit(from[1]) < 0 || hex_digit(from[2]) < 0)
			return false;
		*to++ = (char)(hex_digit(from[1]) * 16 + hex_digit(from[2]));
		from += 2;
	}
	out->size = (size_t)(to - out->data);
	return true;
}

static char *end_of(char *text, const char *marks)
{
	return text + strcspn(text, marks);
}

static int read_options(const char *whole, char *at, struct device_uri *uri)
{
	while (*at) {
		char *end = end_of(at, "&"), *equals = memchr(at, '=', (size_t)(end - at));
		struct tenon_device_option *o = &uri->options[uri->option_count];
		bool more = *end == '&';

		if (uri->option_count == URI_OPTIONS_MOST)
			return tenon_error(-TENON_E_VALUE, "device \"%s\": more than %d keys",
					   whole, URI_OPTIONS_MOST);
		if (!equals || equals == at || !decode(equals + 1, end, &o->value) ||
		    !decode(at, equals, &o->key))
			return tenon_error(-TENON_E_VALUE,
					   "device \"%s\": want key=value&key=value after the '?'",
					   whole);
		uri->option_count++;
		at = end + more;
	}
	return 0;
}

int device_uri_read(const char *text, struct device_uri *uri)
{
	size_t length = strlen(text), name = strcspn(text, ":?");
	char *path, *end;

	memset(uri, 0, sizeof(*uri));
	/* two copies: one to decode in place, one for the undecoded query */
	uri->text = malloc(2 * (length + 1));
	if (!uri->text)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device's name");
	memcpy(uri->text, text, length + 1);
	memcpy(uri->text + length + 1, text, length + 1);
	uri->driver = (struct tenon_slice){ uri->text, name };
	if (!name)
		return tenon_error(-TENON_E_VALUE,
				   "device \"%s\": want a name like \"cpu:0\", \"cpu\" or "
				   "\"cpu://path?key=value\"",
				   text);
	path = uri->text + name;
	if (!strncmp(path, "://", 3))
		path += 3;
	else if (*path == ':')
		path++;
	end = end_of(path, "?");
	uri->query = (struct tenon_slice){ "", 0 };
	if (*end == '?') {
		uri->query.data = uri->text + length + 1 + (end + 1 - uri->text);
		uri->query.size = strlen(uri->query.data);
		if (read_options(text, end + 1, uri))
			return -TENON_E_VALUE;
	}
	if (!decode(path, end, &uri->path))
		return tenon_error(-TENON_E_VALUE, "device \"%s\": '%%' without two digits", text);
	return 0;
}

void device_uri_fini(struct device_uri *uri)
{
	free(uri->text);
}
