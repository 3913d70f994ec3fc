"""Tasks of a vault as the Tasks plugin understands them (specs/tasks.md).

- `settings`, `statuses`: what the user has set in the plugin.
- `fields`, `line`, `recurrence`, `rule_text`, `task`: one task, read from its line and written.
- `find`, `task_change`, `change`, `change_status`, `next_date`, `card`: one task named and changed.
- `statements`, `filters`, `text_match`, `boolean`, `order`, `urgency`, `groups`, `query`,
  `explanation`, `environment`, `digits`: the plugin's query language.
- `listing`: the arguments of a list of tasks as filters.
- `answer`: what is answered about tasks.
"""
