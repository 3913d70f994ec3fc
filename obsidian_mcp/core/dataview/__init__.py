"""The query language of the plugin Dataview, without the plugin (specs/dataview.md).

- `characters`, `inline_fields`, `note_data`: what is read of a note's text; `literals`: its values.
- `vault_view`: the port that a query sees a vault through; `settings`: the plugin's settings.
- `values`, `durations`, `operators`, `functions`: what values are and how they combine.
- `records`, `pages`: rows, whose fields are computed when a query asks for them.
- `scanner`, `expression_parser`, `query_syntax`, `query_parser`: texts into nodes.
- `language`: the tables for the shared evaluator.
- `sources`, `query`, `task_answer`, `cells`: a query run, from FROM to the answer.
"""
