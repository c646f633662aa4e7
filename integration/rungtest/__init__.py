"""What the whole-binary tests share: a bundle, a runtime to call, and the proof that nothing is left.

One case runs against rung, runc or crun (RUNTIME), so that an expectation can be tried on an oracle first.
SPDX-License-Identifier: Apache-2.0
"""

from rungtest.bundle import Bundle, base_config
from rungtest.case import Case, differs, only_rung
from rungtest.container import Container
from rungtest.runtime import Finished, Runtime

__all__ = ["Bundle", "Case", "Container", "Finished", "Runtime", "base_config", "differs", "only_rung"]
