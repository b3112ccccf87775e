# SPDX-License-Identifier: MIT
"""Compile trained networks to modules that Tenon runs."""
