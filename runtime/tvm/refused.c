/* SPDX-License-Identifier: MIT */
/* Global functions of TVM's runtime whose results serve C++ alone: they say so. */
#include "lib/brief_errors.h"
#include "runtime/tvm/tvm.h"

static PACKED_CALL(refuse_timer)
{
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"runtime.timer.cpu: a timer is an object with virtual functions of C++, which are "
		"not supported; use time_evaluator of the module");
}

static PACKED_CALL(refuse_metadata)
{
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"runtime.LoadMetaDataFromJSON: its result is for constructors of modules in TVM's "
		"compiler, which is missing here; load the module from a file");
}

const struct global_function tvm_refused_globals[] = {
	{ "runtime.LoadMetaDataFromJSON", refuse_metadata },
	{ "runtime.timer.cpu", refuse_timer },
	{ NULL, NULL },
};
