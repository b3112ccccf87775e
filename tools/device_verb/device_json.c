/* SPDX-License-Identifier: MIT */
/* What tenon device did, as JSON. */
#include "tools/device_verb/device.h"
#include "tools/json/json_value.h"

int device_reset_json(const struct device_reset *r, FILE *out)
{
	const struct tenon_device_properties *p = tenon_device_properties(r->device);
	DLDevice id = tenon_device_id(r->device);
	cJSON *json = cJSON_CreateObject();

	json_set(json, "device", json_of_text(tenon_slice_of(r->uri)));
	json_set(json, "number", json_of_int(id.device_id));
	json_set(json, "model", json_of_text(tenon_slice_of(p->name)));
	json_set(json, "driver", json_of_text(tenon_slice_of(p->driver)));
	json_set(json, "version", json_of_text(tenon_slice_of(p->compute_version)));
	json_set(json, "nanoseconds", json_of_int((int64_t)r->nanoseconds));
	return json_print(json, out);
}

int device_program_json(const struct device_logic *l, const struct fpga *f,
			const struct fpga_bitstream *b, FILE *out)
{
	cJSON *json = cJSON_CreateObject();

	json_set(json, "manager", json_of_text(tenon_slice_of(l->manager)));
	json_set(json, "driver", json_of_text(tenon_slice_of(f->name)));
	json_set(json, "part", json_of_text(b->part));
	json_set(json, "region", json_of_text(b->region));
	json_set(json, "firmware", json_of_text(b->firmware));
	json_set(json, "bytes", json_of_int((int64_t)b->bytes.size));
	return json_print(json, out);
}

int device_overlay_json(const struct device_logic *l, bool is_applied, FILE *out)
{
	cJSON *json = cJSON_CreateObject();

	json_set(json, "overlay", json_of_text(tenon_slice_of(l->overlay)));
	json_set(json, "applied", cJSON_CreateBool(is_applied));
	return json_print(json, out);
}
