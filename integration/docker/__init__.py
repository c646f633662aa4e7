"""Docker as a client of the runtime under test.

SPDX-License-Identifier: Apache-2.0
"""
