"""Readers of log files of evaluation tools, one module per tool.

Each module has

- `NAME`, the tool, and `LOOKED_FOR`, the content by which its files are recognised;
- `SAME`, the fields that must be equal for the same item in two files;
- `MEANS`, a message for files of the tool without scores;
- ``is_log(head)``: True for files with scores, by the first JSON value;
- ``is_beside(head)``: True for files of the tool that have no scores of items;
- ``read(log, choice)``: yields the `Score` of each item.

`read` has the list of the modules, and makes the table.
"""
