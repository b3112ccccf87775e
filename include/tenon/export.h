/* SPDX-License-Identifier: MIT */
#ifndef TENON_EXPORT_H
#define TENON_EXPORT_H

/*
 * What a shared libtenon exports. The library itself is compiled with hidden visibility, so these names
 * are the only ones that programs see.
 */
#if defined(__GNUC__)
#define TENON_API __attribute__((visibility("default")))
#else
#define TENON_API
#endif

#endif /* TENON_EXPORT_H */
