"""Long runs that look for what is left behind."""
# SPDX-License-Identifier: Apache-2.0
