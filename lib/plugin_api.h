/* SPDX-License-Identifier: MIT */
/* Mark functions that plug-ins and the command call, with a private version and prefix. */
#ifndef LIB_PLUGIN_API_H
#define LIB_PLUGIN_API_H

/*
 * int f(int a) TO_PLUGINS(f): a function that the library's own plug-ins or the command call. The
 * shared library exports it under a private version (lib/libtenon.map), so that files of another
 * release fail to link, and with a prefix, so that a program linked with libtenon.a exports no
 * common names.
 */
#define TO_PLUGINS(name) __asm__("tenon__" #name) __attribute__((visibility("default")))

#endif /* LIB_PLUGIN_API_H */
