"""The command line: every tool as a command for people, and what only a terminal needs.

- `main`, `grammar`, `options`, `slips`, `help`: words into a command and its values;
`commands.json` has what the tools do not say, such as examples and short options. -
`tool_commands`: the commands of tools; `setup_commands`, `index_commands`, `key_commands`,
`serve_commands`, `view_commands`: all others. - `answers`, `cells`, `query_output`, `render`:
answers as text; `stdout`, `progress_bar`: where it goes. - `completion`: what shells complete. -
`headless`: the drop-in for the app's own command.

A person gets whole answers, without a model's limits (CLI-10), and one line for an error (CLI-02).
"""
