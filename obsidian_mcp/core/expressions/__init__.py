"""The evaluator that the query languages share, each a parser and a `Language` of tables (specs/expressions.md). An
expression without a value raises `ExpressionError`, a query refused as a whole `QueryInvalid`."""
