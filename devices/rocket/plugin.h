/* SPDX-License-Identifier: MIT */
/* The row of rocket in the table of plug-ins (runtime/table/plugin_row.h). */
#include <tenon/uapi/rocket.h>

PLUGIN(DEVICE_ROCKET, rocket, BACKEND, TENON_DL_ROCKET, TENON_BACKEND_FORKS | TENON_BACKEND_PLACES,
       PAYLOADS)
NPU("rockchip,rk3588-rknn-core", "RK3588", "rocket", "DRM_ACCEL_ROCKET", false)
NPU("rockchip,rk3576-rknn-core", "RK3576", "rocket", "DRM_ACCEL_ROCKET", false)
NPU("rockchip,rk3568-rknn-core", "RK3568", "rocket", "DRM_ACCEL_ROCKET", false)
