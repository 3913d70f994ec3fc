"""The evaluator that the query languages share: Bases, Dataview (specs/expressions.md).

A language is a parser and a `Language`, the tables in which the languages differ. This package
holds what they have in common, and imports no language:

- `syntax`: the nodes that every parser makes, and the error with the place where it was noticed.
- `values`: links, files, and the error of an expression; `dates`: dates and durations.
- `javascript`: numbers, texts and indexes as JavaScript treats them; `regexps`: its regular
  expressions, with a time limit.
- `evaluate`: nodes become functions, and the functions run once per row.
- `rows`: rows are filtered, sorted, grouped, flattened, limited, and their errors collected.
- `budget`: bounds the memory of a query. Time is bounded by the call's deadline.
- `vault_view`: the port through which a query sees the vault.
- `answer`: result cells, columns, groups and pages.

An expression without a value raises `ExpressionError`, a query refused as a whole `QueryInvalid`.
"""
