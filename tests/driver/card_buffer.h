/* SPDX-License-Identifier: MIT */
/* What tests of shared buffers ask of the kernel besides driver/drm and driver/dmabuf. */
#ifndef TESTS_DRIVER_CARD_BUFFER_H
#define TESTS_DRIVER_CARD_BUFFER_H

#include "driver/dmabuf/dmabuf.h"
#include "driver/drm/drm.h"

/* Allocate a buffer of @size bytes, whole pages, on a card node, without a call of its driver ("dumb"), and map it. Return: 0; the negative errno or status. */
int card_buffer_create(struct drm *card, uint64_t size, struct drm_buffer *out);

/* Wait for the fences of a dma-buf: a reader for writers, a writer for all. Return: 0; -TENON_E_TIMEOUT; negative. */
int card_buffer_wait(const struct dmabuf *b, enum dmabuf_access access, uint64_t deadline);

#endif /* TESTS_DRIVER_CARD_BUFFER_H */
