/* SPDX-License-Identifier: MIT */
/* Convert errno to a status and raise an error that says what failed. */
#include <errno.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/syscall/syscall.h"
#include "lib/brief_errors.h"

int system_status(int error)
{
	switch (error) {
	case ENOMEM:
	case ENOSPC:
		return -TENON_E_NOMEM;
	case ENOENT:
		return -TENON_E_NOT_FOUND;
	case ENODEV:
	case ENXIO:
	case ESHUTDOWN:
	case EBADFD:
	case ECANCELED:
		return -TENON_E_LOST;
	case EIO:
	case EBUSY:
	case EREMOTEIO:
		return -TENON_E_DEVICE;
	case ETIME:
	case ETIMEDOUT:
		return -TENON_E_TIMEOUT;
	case ENOTTY:
	case ENOSYS:
	case EOPNOTSUPP:
		return -TENON_E_UNSUPPORTED;
	case EINVAL:
	case EFAULT:
	case ERANGE:
		return -TENON_E_VALUE;
	case EOVERFLOW:
	case E2BIG:
	case EFBIG:
		return -TENON_E_OVERFLOW;
	case EEXIST:
		return -TENON_E_EXISTS;
	default:
		return -TENON_E_IO;
	}
}

int system_error(int error, const char *name, const char *action)
{
	return tenon_error(system_status(error), "%s: cannot %s: %s", name, action,
			   strerror(error));
}
