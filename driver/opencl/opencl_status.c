/* SPDX-License-Identifier: MIT */
/* Names of OpenCL's status codes, for error messages. */
#include "driver/opencl/opencl_api.h"

/* one string, to need no relocations: number, name, number, name, unordered */
static const char names[] = "\002DEVICE_NOT_AVAILABLE\0"
			    "\003COMPILER_NOT_AVAILABLE\0"
			    "\004MEM_OBJECT_ALLOCATION_FAILURE\0"
			    "\005OUT_OF_RESOURCES\0"
			    "\006OUT_OF_HOST_MEMORY\0"
			    "\013BUILD_PROGRAM_FAILURE\0"
			    "\016EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST\0"
			    "\036INVALID_VALUE\0"
			    "\042INVALID_CONTEXT\0"
			    "\044INVALID_COMMAND_QUEUE\0"
			    "\046INVALID_MEM_OBJECT\0"
			    "\052INVALID_BINARY\0"
			    "\053INVALID_BUILD_OPTIONS\0"
			    "\063INVALID_ARG_SIZE\0"
			    "\064INVALID_KERNEL_ARGS\0"
			    "\066INVALID_WORK_GROUP_SIZE\0"
			    "\067INVALID_WORK_ITEM_SIZE\0"
			    "\073INVALID_OPERATION\0"
			    "\077INVALID_GLOBAL_WORK_SIZE\0";

const char *opencl_status_name(int status)
{
	const char *at = names;

	while (*at) {
		if (*at++ == -status)
			return at;
		while (*at++)
			;
	}
	return "error";
}
