"""update with the systemd driver: what cases/update.py asks of files holds for those of a scope, whose unit knows the limits as well.

Skipped where systemd is not PID 1.
SPDX-License-Identifier: Apache-2.0
"""

from cases import systemd, update


class OfScopes(systemd.Scoped):
    def container(self, name=None, cgroup_parent=None):
        return self.as_scope(super().container(name, cgroup_parent))


class Limits(OfScopes, update.Limits):
    pass


class Documents(OfScopes, update.Documents):
    pass


class Refused(OfScopes, update.Refused):
    pass


class Together(OfScopes, update.Together):
    pass
