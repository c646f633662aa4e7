"""Each public function is a case: it drives a Trial, and what the Trial sees is compared between the runtimes."""
# SPDX-License-Identifier: Apache-2.0
