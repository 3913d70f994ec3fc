"""The command line: every tool as a command for people, and what only a terminal needs.

- `main`, `grammar`, `command_table`, `options`, `slips`, `typed_names`, `help`: words into a
  command and its values. `commands.json` has what the tools do not say, such as examples and
  short options.
- `tool_commands`: the commands of tools. `…_command` and `…_commands`: all others.
- `answers`, `cells`, `list_output`, `query_output`, `render`: answers as text. `stdout`, `pager`,
  `progress_bar`, `page_folder`: where it goes.
- `completion`: what shells complete. `editor`: a note in the person's editor.
- `headless`: the drop-in for the app's own command.

A person gets whole answers, without a model's limits (CLI-10), and one line for an error (CLI-02).
"""
