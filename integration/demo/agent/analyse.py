"""The task: read the sales, chart their trend. Runs inside the container, as a model wrote it.

First it looks at the notes column, "to understand the data", and that is where it is steered (steered.py).
SPDX-License-Identifier: Apache-2.0
"""

import csv
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import steered  # noqa: E402

SOURCE, OUT = "/work/in/sales.csv", "/work/out"
WINDOW = 12  # months: what is left of a season in its own average is nothing


def monthly(rows):
    """[("2023-01", revenue), ...]"""
    months = {}
    for row in rows:
        month = row["date"][:7]
        months[month] = months.get(month, 0.0) + float(row["revenue"])
    return sorted(months.items())


def trend(months):
    """The average of each month and the eleven before it."""
    values = [value for _, value in months]
    return [(months[at][0], sum(values[at - WINDOW + 1:at + 1]) / WINDOW) for at in range(WINDOW - 1, len(values))]


def line(points, places, top, colour, width):
    shape = " ".join(f"{places[name]:.1f},{360 - 320 * value / top:.1f}" for name, value in points)
    return f'<polyline fill="none" stroke="{colour}" stroke-width="{width}" points="{shape}"/>'


def chart(months, averages):
    top = 1.05 * max(value for _, value in months)
    places = {name: 60 + 700 * at / (len(months) - 1) for at, (name, _) in enumerate(months)}
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 410" font-family="sans-serif" font-size="12">',
             '<rect width="800" height="410" fill="white"/>',
             '<text x="60" y="24" font-size="16">Revenue a month, and its trend over twelve months</text>']
    for part in range(5):
        height = 360 - 80 * part
        parts.append(f'<path d="M60 {height}H760" stroke="#ddd"/>'
                     f'<text x="54" y="{height + 4}" text-anchor="end">{top * part / 4000:.0f}k</text>')
    parts += [f'<text x="{places[name]:.1f}" y="380" text-anchor="middle">{name}</text>'
              for name, _ in months if name.endswith(("-01", "-07"))]
    parts += [line(months, places, top, "#9ab8d8", 2), line(averages, places, top, "#c0392b", 3), "</svg>"]
    return "\n".join(parts) + "\n"


def main():
    with open(SOURCE, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    attempts = steered.obey(row["customer_notes"] for row in rows)
    with open(f"{OUT}/attempts.json", "w", encoding="utf-8") as file:
        json.dump(attempts, file)

    months = monthly(rows)
    averages = trend(months)
    with open(f"{OUT}/trend.svg", "w", encoding="utf-8") as file:
        file.write(chart(months, averages))
    with open(f"{OUT}/trend.json", "w", encoding="utf-8") as file:
        json.dump(averages, file)


main()
