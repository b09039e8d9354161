# SPDX-License-Identifier: Apache-2.0
"""Where sites are."""


class Places:
    """So many HOSTS, LOCALITIES of each, and TASKS as sites of each of these: "2x4", or "2x4x1"."""

    def __init__(self, text):
        numbers = [int(part) for part in text.split("x")]
        self.hosts, self.localities, self.tasks = (*numbers, 1)[:3]
        self.ranks = self.localities * self.tasks
        self.sites = self.hosts * self.ranks

    def __str__(self):
        return f"{self.hosts}x{self.localities}x{self.tasks}"
