/* SPDX-License-Identifier: MIT */
/*
 * The guest's two DRM devices, vgem and virtio-gpu, which let driver/drm run against a real kernel without a GPU.
 *
 * The fences that vgem makes for a program stand for work of a device; each ends when the program says so.
 */
#ifndef TESTS_DRIVER_GUEST_CARDS_H
#define TESTS_DRIVER_GUEST_CARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/drm/drm.h"

/* Open the first node of a kind ("/dev/dri/card%d", from @first on) with this driver. Return: whether there is one. */
bool card_open(const char *format, int first, const char *driver, struct drm *out);

/* Begin work of vgem that writes to a buffer. Return: 0, and the number of its fence; the negative errno. */
int card_begin_work(struct drm *vgem, const struct drm_buffer *b, uint32_t *fence);

/* End it. Return: 0; the negative errno, which it is too when the work had ended. */
int card_signal(struct drm *vgem, uint32_t fence);

/* The same. Return: whether it could be ended, or is too late to be. */
bool card_end_work(struct drm *vgem, uint32_t fence);

/*
 * The kernel ends a fence after ten seconds: on a machine that stalls so long, nothing can be said about one.
 * Return: whether the work that began last may have been ended so.
 */
bool card_too_late(void);

/* Return: whether a wait with this result was held by a fence, as far as can be said. */
bool card_is_held(int err);

#endif /* TESTS_DRIVER_GUEST_CARDS_H */
