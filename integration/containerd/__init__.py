"""containerd as a client of the runtime under test: through ctr, and through the plugin that Kubernetes talks to.

SPDX-License-Identifier: Apache-2.0
"""
