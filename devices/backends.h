/* SPDX-License-Identifier: MIT */
/*
 * Included several times by backends.c, for declarations and for tables: no guard.
 *
 * BACKEND(name): a backend of this build. ABSENT(name): one that is left out, whose payloads are still
 * listed and found the end of; its folder has the formats as <name>_payload_formats.
 */
#ifdef CONFIG_DEVICE_CPU
BACKEND(cpu)
#endif
#ifdef CONFIG_DEVICE_CUDA
BACKEND(cuda)
#else
ABSENT(cuda)
#endif
#ifdef CONFIG_DEVICE_OPENCL
BACKEND(opencl)
#else
ABSENT(opencl)
#endif
#ifdef CONFIG_DEVICE_VULKAN
BACKEND(vulkan)
#else
ABSENT(vulkan)
#endif
#ifdef CONFIG_DEVICE_NULL
BACKEND(null)
#endif
