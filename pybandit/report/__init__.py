"""What the reports of all studies share: page, style, tables, figures.

The reports are `pybandit.lab.write_report` and `pybandit.webtests.write_report`.
"""
