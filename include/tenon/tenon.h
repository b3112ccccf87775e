/* SPDX-License-Identifier: MIT */
#ifndef TENON_TENON_H
#define TENON_TENON_H

/**
 * DOC: Tenon
 *
 * A small C runtime that opens compiled modules and runs their functions. A program needs
 * tenon_module_load(), tenon_module_get_function() and tenon_call(): see examples/call.c.
 *
 * This includes the headers that most programs need. Others are included by name: tenon/remote.h,
 * tenon/launcher.h, those of a single product (tenon/ethosu.h) and of the libraries beside this one
 * (tenon/link.h, tenon/rpc.h, tenon/llm.h, tenon/serve.h). Backends, payload formats and kinds of
 * modules also include headers of tenon/backend/.
 *
 * How things end: an object (device, module, function, tensor, queue, timeline …) is counted, and
 * tenon_object_unref() drops a reference. Models, remote sessions, cases and language models end with
 * a function named close. What a function returns in one block of memory ends with one named free.
 * A struct in the caller's own memory ends with fini, a value with tenon_value_release().
 *
 * A deadline is a point in time (tenon/timeline.h). A limit that is a span of time names its unit.
 */

#include <tenon/array.h>
#include <tenon/artifact.h>
#include <tenon/buffer.h>
#include <tenon/commands.h>
#include <tenon/device.h>
#include <tenon/dlpack.h>
#include <tenon/error.h>
#include <tenon/executable.h>
#include <tenon/export.h>
#include <tenon/fence.h>
#include <tenon/function.h>
#include <tenon/memory.h>
#include <tenon/model.h>
#include <tenon/module.h>
#include <tenon/object.h>
#include <tenon/params.h>
#include <tenon/prepare.h>
#include <tenon/probe.h>
#include <tenon/queue.h>
#include <tenon/regions.h>
#include <tenon/self_test.h>
#include <tenon/status.h>
#include <tenon/string.h>
#include <tenon/tensor.h>
#include <tenon/threads.h>
#include <tenon/timeline.h>
#include <tenon/trace.h>
#include <tenon/value.h>
#include <tenon/visit.h>
#include <tenon/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/** tenon_version - the library's version, "0.1.0" */
TENON_API const char *tenon_version(void);

/**
 * tenon_configuration - options that the library was built with
 *
 * Return: names of the enabled options, separated by spaces: "DSO TVM_LEGACY …".
 */
TENON_API const char *tenon_configuration(void);

#ifdef __cplusplus
}
#endif

#endif /* TENON_TENON_H */
