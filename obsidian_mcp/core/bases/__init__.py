"""Obsidian Bases, evaluated on the files alone (specs/bases.md).

- `base_file`: the YAML of a base as a `Base`, and where its values stand; `validation`: every mistake.
- `parser`: formulas and filters into the nodes of `expressions.syntax`.
- `values`, `dates`, `operators`: what values are and how they combine.
- `functions`, `text_methods`, `list_methods`, `date_methods`, `file_methods`: the functions, one table for each type.
- `language`: these tables as a `Language`.
- `view`: one view over the vault: filter, sort, limit, group, cells.
- `summaries`: the built-in summaries.
"""
