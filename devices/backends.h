/* SPDX-License-Identifier: MIT */
/*
 * The backends, a line each: option, name, device type, flags. Included several times by backends.c, for
 * declarations and for tables: no guard.
 *
 * BACKEND: what its payloads are is in <name>_payload_kinds and <name>_payload_formats.
 * LISTED_BACKEND: the same, and the formats are known to builds that leave the backend out, so that its
 * payloads are still listed and found the end of. HOST_BACKEND: runs no payloads.
 */
HOST_BACKEND(DEVICE_CPU, cpu, kDLCPU, TENON_BACKEND_FORKS)
LISTED_BACKEND(DEVICE_CUDA, cuda, kDLCUDA, 0)
LISTED_BACKEND(DEVICE_OPENCL, opencl, kDLOpenCL, 0)
LISTED_BACKEND(DEVICE_VULKAN, vulkan, kDLVulkan, 0)
BACKEND(DEVICE_NULL, null, TENON_DEVICE_NULL, TENON_BACKEND_FORKS)
BACKEND(DEVICE_MORTISE, mortise, TENON_DEVICE_MORTISE, 0)
