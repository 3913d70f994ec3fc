"""Obsidian Bases, evaluated on the files alone (specs/bases.md).

- `base_file`: a base; `base_reader`: its YAML read; `places`, `validation`: where its values stand,
  and every mistake.
- `parser`: formulas and filters into the nodes of `expressions.syntax`.
- `values`, `dates`, `operators`: what values are and how they combine.
- `method`: a function with its parameters; `globals`, `text_methods`, `list_methods`,
  `date_methods`, `file_methods`: the functions, a table for each type.
- `language`: these tables as a `Language`.
- `view`: one view over the vault: filter, sort, limit, group, cells; `summaries`: of its columns.
- `table_rows`: a base over a Markdown table.
- `new_item`: what a new note needs so that a view lists it.
"""
