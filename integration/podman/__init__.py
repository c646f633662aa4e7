"""podman as a client of the runtime under test: as root, and as an ordinary user.

SPDX-License-Identifier: Apache-2.0
"""
