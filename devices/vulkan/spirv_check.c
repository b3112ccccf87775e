/* SPDX-License-Identifier: MIT */
/* Walk through SPIR-V and compare what it declares with the device's limits. */
#include "devices/vulkan/spirv_check.h"

#include "lib/brief_errors.h"

#include <string.h>
#include <tenon/error.h>

#define MAGIC	     0x07230203u
#define HEADER_WORDS 5
#define IDS_MOST     0x3fffff

enum {
	OP_ENTRY_POINT = 15,
	OP_EXECUTION_MODE = 16,
	OP_CAPABILITY = 17,
	OP_DECORATE = 71,
	MODEL_GL_COMPUTE = 5,
	MODE_LOCAL_SIZE = 17,
	DECORATION_BINDING = 33,
	DECORATION_SET = 34,
};

static int check_header(const uint32_t *w, size_t count, const struct spirv_limits *l)
{
	if (count < HEADER_WORDS)
		return tenon_error(-TENON_E_TRUNCATED,
				   "SPIR-V of %zu words; its header alone has %d", count,
				   HEADER_WORDS);
	if (w[0] == __builtin_bswap32(MAGIC))
		return tenon_error(-TENON_E_FORMAT,
				   "SPIR-V of the other byte order; compile it for this one");
	if (w[0] != MAGIC)
		return tenon_error(-TENON_E_FORMAT, "no SPIR-V: it begins with %#x, want %#x", w[0],
				   MAGIC);
	if ((w[1] & 0xff0000ff) || w[1] >> 16 != 1)
		return tenon_error(-TENON_E_FORMAT, "SPIR-V of version %#x; want 1.0 to 1.255",
				   w[1]);
	if (w[1] > l->version)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "SPIR-V 1.%u; the device takes 1.%u at most. Compile it with a "
				   "target of this device",
				   w[1] >> 8 & 0xff, l->version >> 8 & 0xff);
	if (!w[3] || w[3] > IDS_MOST)
		return tenon_error(-TENON_E_FORMAT, "SPIR-V promises %u ids; want 1 to %u", w[3],
				   IDS_MOST);
	return 0;
}

/* Test whether a string within @words words equals @name. */
static bool name_is(const uint32_t *w, size_t words, struct tenon_slice name)
{
	const char *text = (const char *)w;

	return name.size < words * 4 && !memcmp(text, name.data, name.size) && !text[name.size];
}

static int check_block(const uint32_t *size, const struct spirv_limits *l)
{
	uint64_t threads = (uint64_t)size[0] * size[1];

	if (size[0] <= l->max_block[0] && size[1] <= l->max_block[1] &&
	    size[2] <= l->max_block[2] && threads <= l->max_threads &&
	    threads * size[2] <= l->max_threads)
		return 0;
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"made for blocks of %u x %u x %u threads; the device runs %u x %u x %u, %u "
		"in all. Compile it with a target of this device",
		size[0], size[1], size[2], l->max_block[0], l->max_block[1], l->max_block[2],
		l->max_threads);
}

static int check_capability(uint32_t capability, const struct spirv_limits *l)
{
	size_t i;

	for (i = 0; i < l->capability_count; i++) {
		if (l->capabilities[i] == capability)
			return 0;
	}
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "made for devices with capability %u of SPIR-V, which this one does not "
			   "have. Compile it with a target of this device",
			   capability);
}

static int check_decoration(const uint32_t *w, const struct spirv_limits *l)
{
	if (w[2] == DECORATION_BINDING && w[3] >= l->bindings)
		return tenon_error(-TENON_E_FORMAT,
				   "SPIR-V uses binding %u; its arguments give it %u", w[3],
				   l->bindings);
	if (w[2] == DECORATION_SET && w[3])
		return tenon_error(-TENON_E_FORMAT,
				   "SPIR-V uses descriptor set %u; there is 0 alone", w[3]);
	return 0;
}

/* @entry: id of the entry point; 0 until it is found */
static int check_instruction(const uint32_t *w, size_t n, struct tenon_slice name,
			     const struct spirv_limits *limits, uint32_t *entry)
{
	switch (w[0] & 0xffff) {
	case OP_CAPABILITY:
		return n >= 2 ? check_capability(w[1], limits) : 0;
	case OP_ENTRY_POINT:
		if (n >= 4 && w[1] == MODEL_GL_COMPUTE && name_is(w + 3, n - 3, name))
			*entry = w[2];
		return 0;
	case OP_EXECUTION_MODE:
		if (n >= 6 && *entry && w[1] == *entry && w[2] == MODE_LOCAL_SIZE)
			return check_block(w + 3, limits);
		return 0;
	case OP_DECORATE:
		return n >= 4 ? check_decoration(w, limits) : 0;
	default:
		return 0;
	}
}

int spirv_check(const uint32_t *words, size_t count, struct tenon_slice name,
		const struct spirv_limits *limits)
{
	uint32_t entry = 0;
	size_t at, n;
	int err;

	err = check_header(words, count, limits);
	for (at = HEADER_WORDS; !err && at < count; at += n) {
		n = words[at] >> 16;
		if (!n || n > count - at)
			return tenon_error(
				-TENON_E_TRUNCATED,
				"SPIR-V instruction at word %zu has %zu words, %zu are left", at, n,
				count - at);
		err = check_instruction(words + at, n, name, limits, &entry);
	}
	if (!err && !entry)
		err = tenon_error(-TENON_E_NOT_FOUND, "SPIR-V has no compute entry point \"%.*s\"",
				  (int)name.size, name.data);
	return err;
}
