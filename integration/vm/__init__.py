"""A virtual machine with Debian's kernel and pure cgroup v2, for what the development machine's kernel cannot show.

SPDX-License-Identifier: Apache-2.0
"""
