/* SPDX-License-Identifier: MIT */
#ifndef TENON_UAPI_TORQ_H
#define TENON_UAPI_TORQ_H

/**
 * DOC: programs for Synaptics' Torq
 *
 * The payload of a module of kind "torq" is a file of Synaptics' torq-compile, byte for byte: a module of IREE, NAME.vmfb,
 * or the flatbuffer of one executable, NAME.torq, with the identifier "SNPU". Each executable is a function, "main" if
 * there is one alone; it takes the memory that its bindings name, in the order of their numbers: inputs, then outputs.
 */

/* device type of such an NPU */
#define TENON_DL_TORQ 113

#endif /* TENON_UAPI_TORQ_H */
