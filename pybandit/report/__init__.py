"""Parts shared by the reports of all studies: page, style, tables, figures.

The reports are `pybandit.lab.write_report` and `pybandit.webtests.write_report`.
"""
