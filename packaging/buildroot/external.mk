# SPDX-License-Identifier: MIT
include $(sort $(wildcard $(BR2_EXTERNAL_TENON_PATH)/package/*/*.mk))
