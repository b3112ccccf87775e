/* SPDX-License-Identifier: MIT */
/* Choose the fake Vulkan and lavapipe by the environment, before anything opens a driver. */
#ifndef TESTS_VULKAN_VULKAN_ENVIRONMENT_H
#define TESTS_VULKAN_VULKAN_ENVIRONMENT_H

/*
 * Before anything else: point the library to the fake, and pin lavapipe where nobody chose a driver.
 * @validate: what TENON_FAKE_VULKAN becomes where it is not set; NULL for nothing
 */
void vulkan_environment(const char *validate);

#endif /* TESTS_VULKAN_VULKAN_ENVIRONMENT_H */
