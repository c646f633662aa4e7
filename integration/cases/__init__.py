"""The cases, one file for each subject."""
# SPDX-License-Identifier: Apache-2.0
