/* SPDX-License-Identifier: MIT */
/* The payload format "cmdstream", which backends put in their list of formats. */
#ifndef DEVICES_CMDSTREAM_CMDSTREAM_PAYLOAD_H
#define DEVICES_CMDSTREAM_CMDSTREAM_PAYLOAD_H

/*
 * Each backend that runs command streams has this format in tenon_backend.formats. The target that a payload names is
 * the backend that runs it.
 */

#include <string.h>
#include <tenon/backend/payload_format.h>
#include <tenon/string.h>

/** cmdstream_field - tenon_payload_format.field */
int cmdstream_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info);

/** cmdstream_visit - tenon_payload_format.visit */
int cmdstream_visit(const struct tenon_payload_info *info, const struct tenon_visitor *v);

struct cmdstream_target;

/** cmdstream_show - tenon_payload_format.show, with the target whose code can be explained */
int cmdstream_show(const struct tenon_payload_info *info, const struct cmdstream_target *target,
		   struct tenon_buffer *out);

struct cmdstream;

/**
 * cmdstream_verify_read - read the program of tenon_payload_format.check; for a target's own function, which checks the
 *	configuration words next
 * @r: its request
 * @target: what the stream must be for
 * @out: receives the stream
 *
 * Return: 0; -TENON_E_USAGE for options; as cmdstream_read().
 */
int cmdstream_verify_read(const struct tenon_payload_request *r,
			  const struct cmdstream_target *target, struct cmdstream *out);

/**
 * cmdstream_verify_kernels - check the code of all kernels, and report what each uses
 * @word: bytes of a word, in which code is counted
 * @device: what the stream is for, by its configuration: "RK3588"
 *
 * Return: 0; as cmdstream_check().
 */
int cmdstream_verify_kernels(const struct cmdstream *s, const struct cmdstream_target *target,
			     uint32_t word, const char *device, struct tenon_report *report);

/* ---- what a library has that leaves the rest to a plug-in */

static inline struct tenon_slice cmdstream_backend(const struct tenon_payload_info *info)
{
	return info->name;
}

static inline bool cmdstream_recognise(const struct tenon_payload_file *file,
				       struct tenon_slice bytes)
{
	return bytes.size >= 4 && !memcmp(bytes.data, "TCSM", 4);
}

static const char *const cmdstream_kinds[] = { "cmdstream", NULL };

static const struct tenon_payload_file cmdstream_files[] = {
	{ "cmdstream", "cmdstream", NULL },
	{ NULL, NULL, NULL },
};

/* CMDSTREAM_FORMAT - initialise a format; the functions are those above, or open the plug-in that has them */
#define CMDSTREAM_FORMAT(field_function, visit_function, show_function)                            \
	{                                                                                          \
		.size = sizeof(struct tenon_payload_format), .kinds = cmdstream_kinds,             \
		.fields = "S",                                                                     \
		.remedy = "Enable the backend of its target, such as CONFIG_DEVICE_MORTISE, with " \
			  "CONFIG_MORTISE_BOARDS or CONFIG_INSPECT.",                              \
		.files = cmdstream_files, .field = field_function, .visit = visit_function,        \
		.recognise = cmdstream_recognise, .backend = cmdstream_backend,                    \
		.show = show_function,                                                             \
	}

#endif /* DEVICES_CMDSTREAM_CMDSTREAM_PAYLOAD_H */
