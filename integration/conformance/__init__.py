"""One case runs under rung, runc and crun, and everything that can be seen of it is compared."""
# SPDX-License-Identifier: Apache-2.0
