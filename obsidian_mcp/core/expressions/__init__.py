"""The evaluator that the query languages share: Bases, Dataview (specs/expressions.md).

A language is a parser and a `Language`, the tables in which the languages differ. This package holds what they have in
common, and imports no language:

- `syntax`: the nodes that every parser makes, and `SyntaxProblem`, the error with the place where it was noticed.
- `values`: `Link`, `File`, `ExpressionError`. Numbers are always float, null is None, text str, lists list,
  objects dict (insertion order). A language may add types of its own.
- `dates`: `Date`, `Duration` and calendar arithmetic.
- `javascript`: numbers, texts and indexes as JavaScript treats them.
- `regexps`: `RegExp`, regular expressions of JavaScript with a time limit.
- `evaluate`: `Language`, `Context` (one run of one query), `Scope` (one row in it), `compile_expression`, which turns a
  node into a function from `Scope` to value.
- `rows`: the row loop (`filter_rows`, `sort_rows`, `group_rows`, `flatten_rows`, `limit_rows`), with errors collected.
- `limits`: `Budget`, which bounds the memory of a query. Time is bounded by the call's deadline.
- `answer`: result cells, columns, groups and pages.
- `vault_view`: the port through which a query sees the vault.

An expression without a value raises `ExpressionError`; a query that is refused as a whole raises `QueryInvalid`.
"""
