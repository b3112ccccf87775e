/* SPDX-License-Identifier: MIT */
/* Kinds and formats of OpenCL modules, which the table of backends lists. */
#ifndef DEVICES_OPENCL_OPENCL_PAYLOAD_H
#define DEVICES_OPENCL_OPENCL_PAYLOAD_H

#include <tenon/backend/payload_format.h>

/* kinds of modules, ended by NULL */
extern const char *const opencl_payload_kinds[];

/* ended by NULL; in the library also when the backend is left out */
extern const struct tenon_payload_format *const opencl_payload_formats[];

#endif /* DEVICES_OPENCL_OPENCL_PAYLOAD_H */
