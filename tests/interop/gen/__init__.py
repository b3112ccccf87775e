# SPDX-License-Identifier: MIT
"""Generators of the interop data: one file a family of cases."""
