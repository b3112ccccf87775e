/* SPDX-License-Identifier: MIT */
/*
 * The backends, one per line: option, name, device type, flags. backends.c includes this several
 * times, for declarations and for tables, so there is no include guard.
 *
 * BACKEND: <name>_payload_kinds and <name>_payload_formats describe its payloads.
 * LISTED_BACKEND: likewise, and builds without the backend also have the formats, so that they can
 * list its payloads and find where these end. HOST_BACKEND: runs no payloads.
 */
HOST_BACKEND(DEVICE_CPU, cpu, kDLCPU, TENON_BACKEND_FORKS)
LISTED_BACKEND(DEVICE_CUDA, cuda, kDLCUDA, 0)
LISTED_BACKEND(DEVICE_OPENCL, opencl, kDLOpenCL, 0)
LISTED_BACKEND(DEVICE_VULKAN, vulkan, kDLVulkan, 0)
BACKEND(DEVICE_NULL, null, TENON_DL_NULL, TENON_BACKEND_FORKS)
BACKEND(DEVICE_MORTISE, mortise, TENON_DL_MORTISE, TENON_BACKEND_PLACES)
BACKEND(DEVICE_ETHOSU, ethosu, TENON_DL_ETHOSU, TENON_BACKEND_FORKS | TENON_BACKEND_PLACES)
BACKEND(DEVICE_ROCKET, rocket, TENON_DL_ROCKET, TENON_BACKEND_FORKS | TENON_BACKEND_PLACES)
HOST_BACKEND(REMOTE_CLIENT, rpc, TENON_DL_RPC,
	     TENON_BACKEND_FORKS | TENON_BACKEND_PLACES | TENON_BACKEND_CONCURRENT_OPEN)
