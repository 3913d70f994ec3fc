"""Completion in PowerShell, which click does not know by itself (CLI-14)."""

from __future__ import annotations

import os
from typing import ClassVar

from click.shell_completion import CompletionItem, ShellComplete, add_completion_class, split_arg_string

SCRIPT = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $env:COMP_WORDS = $commandAst.ToString()
    $env:COMP_CWORD = $wordToComplete
    $env:%(complete_var)s = "powershell_complete"
    %(prog_name)s | ForEach-Object {
        $value, $help = $_ -split "`t", 2
        $text = if ($value -match '\\s') { "'" + ($value -replace "'", "''") + "'" } else { $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', ($help + ' '))
    }
    $env:%(complete_var)s = $null
}
"""


@add_completion_class
class PowerShellComplete(ShellComplete):
    name: ClassVar[str] = "powershell"
    source_template: ClassVar[str] = SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is typed, and the one that is typed, as the script passes them."""
        typed = os.environ.get("COMP_CWORD", "")
        words = split_arg_string(os.environ.get("COMP_WORDS", ""))[1:]
        return (words[:-1] if typed and words and words[-1] == typed else words), typed

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.value}\t{item.help or ''}"
