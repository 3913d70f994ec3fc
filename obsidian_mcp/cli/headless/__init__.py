"""The official `obsidian` command from the files alone (specs/headless.md).

Scripts that were written for the app's command run without the app. `commands.txt` has every
command with its words and the module that answers it; the function there has the command's name,
with `_` for `:` (`daily:read` is `daily_read`), takes a DropInCall and returns the text to print.
Output and errors are the original's to the letter, because scripts compare them; DropInRefused
carries an error.
"""
