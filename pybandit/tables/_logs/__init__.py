"""Log files of evaluation tools: one file for each tool.

Each module has

- `NAME`, the tool, and `LOOKED_FOR`, the content that it is recognised by;
- `SAME`, the fields that must be equal if two files mean the same item;
- ``is_log(head)``: True if a file has scores, by its first JSON value;
- ``is_beside(head)``: True for files of the tool that have no scores of items;
- ``read(log, choice)``: yields the `Score` of each item.

`read` has the list of them, and makes the table.
"""
