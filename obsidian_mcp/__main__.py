"""`python -m obsidian_mcp` and the command `obsidian-mcp`."""

import os
import sys


def main() -> None:
    """Run the command line; a server answers its first questions before the rest of the program is loaded."""
    from obsidian_mcp.serve import early

    if early.is_server(sys.argv[1:]):
        import gc

        gc.disable()  # the imports make no garbage worth looking for; `stdio.run` freezes and enables
        early.begin(os.environ)
    from obsidian_mcp.cli import main as command

    command()


if __name__ == "__main__":
    main()
