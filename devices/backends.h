/* SPDX-License-Identifier: MIT */
/* Included twice by backends.c, for declarations and for the table: no guard. */
#ifdef CONFIG_DEVICE_CPU
BACKEND(cpu)
#endif
#ifdef CONFIG_DEVICE_CUDA
BACKEND(cuda)
#endif
#ifdef CONFIG_DEVICE_OPENCL
BACKEND(opencl)
#endif
#ifdef CONFIG_DEVICE_VULKAN
BACKEND(vulkan)
#endif
#ifdef CONFIG_DEVICE_NULL
BACKEND(null)
#endif
