"""The product: one function = one tool.

The signature of a function with `@tool` is the schema of the tool's arguments, its docstring the
description that models read, and so both are as short as they can be: every word costs each
conversation tokens. Defaults, limits and wording for models are decided here; what is done is in
the core. The record above a tool is its answer: each field is a member of the JSON, and one that is
None is left out (TOOL-06). Imports inside a function are of what only some calls need.
"""
