"""What the demonstration prints: the attempts side by side, and the chart that came out all the same.

SPDX-License-Identifier: Apache-2.0
"""

import textwrap

# name -> (what was attempted, what of the grant stops it)
ATTEMPTS = {
    "read_credentials": ("read cloud credentials", "no path of the grant names them: left out"),
    "send": ("send them to a collector", "no network: no route to anywhere"),
    "metadata": ("ask the metadata service", "no network: no route to anywhere"),
    "overwrite": ("overwrite another task's file", "no path of the grant names /data: left out"),
    "image": ("add a start-up script", "rootfs: readOnly"),
    "program": ("run a program of its own", "tmpfs: scratch is noexec"),
    "processes": ("start processes without end", "limits.pids"),
    "memory": ("fill the memory", "limits.memory"),
}

# What the grant allows of these; without it, config.json keeps the harm to 128 processes and 512 MiB.
MOST = {"processes": 24, "memory": 96}

BARS = "▁▂▃▄▅▆▇█"


def show(plain, granted, narrowed, charts, grant):
    print("A script that charts sales finds an instruction in the data, and obeys it.\n")
    print(_table([("it tries to", "without a grant", "with the grant", "what stopped it"),
                  *((title, plain.told(name), _upper(granted.told(name)), reason)
                    for name, (title, reason) in ATTEMPTS.items())]))
    print("The task was done in both runs:")
    for title, name, outcome in (("without a grant", "without-grant", plain), ("with the grant", "with-grant", granted)):
        print(f"  {title:15}  {_spark(outcome.trend)}  {charts}/trend-{name}.svg")
    if granted.trend:
        first, last = granted.trend[0], granted.trend[-1]
        print(f"  revenue a month, averaged over twelve: {first[1]:,.0f} ({first[0]}) to {last[1]:,.0f} ({last[0]})\n")
    fields = ", ".join(sorted({one["field"].split("[")[0] for one in narrowed}))
    print(textwrap.fill(f"The grant ({grant}) narrowed config.json in {len(narrowed)} places: {fields}. "
                        "In a bundle's folder, `rung plan --grant FILE` prints each with its reason.", 110))
    print()


def _upper(text):
    return text[:1].upper() + text[1:]


def _table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return "\n".join(lines) + "\n"


def _spark(trend):
    if not trend:
        return "no chart"
    values = [value for _, value in trend]
    low, high = min(values), max(values)
    return "".join(BARS[round((len(BARS) - 1) * (value - low) / ((high - low) or 1))] for value in values)
