/* SPDX-License-Identifier: MIT */
/* Answer TVM's questions about a device from its properties. */
#include <stdio.h>
#include <tenon/string.h>

#include "runtime/device/device_core.h"
#include "runtime/device/device_table.h"

static int text_value(const char *text, struct tenon_value *out)
{
	if (!*text)
		return 0;
	return tenon_string_value(tenon_slice_of(text), out);
}

static int number_value(uint64_t number, struct tenon_value *out)
{
	if (number)
		*out = tenon_arg_int((int64_t)number);
	return 0;
}

static int available(struct tenon_device *d, struct tenon_value *out)
{
	uint64_t bytes = d->properties->total_memory;
	int err = 0;

	if (d->ops->available_memory)
		err = d->ops->available_memory(d, &bytes);
	return err ? err : number_value(bytes, out);
}

static int answer(struct tenon_device *d, int attribute, struct tenon_value *out)
{
	const struct tenon_device_properties *p = d->properties;
	char text[64];

	switch (attribute) {
	case TENON_ATTRIBUTE_MAX_THREADS:
		return number_value(p->max_threads, out);
	case TENON_ATTRIBUTE_WARP_SIZE:
		return number_value(p->warp_size, out);
	case TENON_ATTRIBUTE_MAX_SHARED:
		return number_value(p->max_shared, out);
	case TENON_ATTRIBUTE_COMPUTE_VERSION:
		return text_value(p->compute_version, out);
	case TENON_ATTRIBUTE_NAME:
		return text_value(p->name, out);
	case TENON_ATTRIBUTE_CLOCK_KHZ:
		return number_value(p->clock_khz, out);
	case TENON_ATTRIBUTE_PROCESSORS:
		return number_value(p->processors, out);
	case TENON_ATTRIBUTE_MAX_BLOCK:
		if (!p->max_block[0])
			return 0;
		snprintf(text, sizeof(text), "[%u, %u, %u]", p->max_block[0], p->max_block[1],
			 p->max_block[2]);
		return text_value(text, out);
	case TENON_ATTRIBUTE_MAX_REGISTERS:
		return number_value(p->max_registers, out);
	case TENON_ATTRIBUTE_GCN_ARCH:
		return text_value(p->architecture, out);
	case TENON_ATTRIBUTE_API_VERSION:
		return number_value((uint64_t)(uint32_t)p->api_version, out);
	case TENON_ATTRIBUTE_DRIVER_VERSION:
		return text_value(p->driver, out);
	case TENON_ATTRIBUTE_L2_BYTES:
		return number_value(p->l2_bytes, out);
	case TENON_ATTRIBUTE_TOTAL_MEMORY:
		return number_value(p->total_memory, out);
	case TENON_ATTRIBUTE_AVAILABLE_MEMORY:
		return available(d, out);
	default:
		return 0; /* an attribute of a newer TVM: unknown */
	}
}

/* Opening takes time and device memory, so do not open a device only to query it. */
static bool exists(DLDevice id)
{
	struct tenon_device *d = device_find(id);
	const struct tenon_backend *b;
	uint32_t count = 0;
	bool usable;

	if (d) {
		usable = !device_is_lost(d);
		tenon_object_unref(d);
		return usable;
	}
	b = tenon_backend_of_type(id.device_type);
	if (b && tenon_backend_count(b, &count))
		tenon_error_clear();
	return id.device_id >= 0 && (uint32_t)id.device_id < count;
}

int tenon_device_attribute(DLDevice id, int attribute, struct tenon_value *out)
{
	struct tenon_device *d;
	int err;

	*out = tenon_arg_none();
	if (attribute == TENON_ATTRIBUTE_EXISTS) {
		*out = tenon_arg_int(exists(id));
		return 0;
	}
	err = tenon_device_get(id, &d);
	if (err)
		return err;
	err = answer(d, attribute, out);
	tenon_object_unref(d);
	return err;
}
