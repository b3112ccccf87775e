/* SPDX-License-Identifier: MIT */
#ifndef TENON_EXPORT_H
#define TENON_EXPORT_H

/**
 * DOC: exported names
 *
 * TENON_API marks the names that libtenon.so exports. The library is compiled with hidden
 * visibility, so it exports no others.
 */
#if defined(__GNUC__)
#define TENON_API __attribute__((visibility("default")))
#else
#define TENON_API
#endif

#endif /* TENON_EXPORT_H */
