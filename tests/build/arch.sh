#!/bin/sh
# SPDX-License-Identifier: MIT
exec sh packaging/arch/check
