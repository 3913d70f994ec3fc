"""The search language of the app, for one document at a time (specs/query.md).

- `lexer`, `parser`, `nodes`: a query as tokens, and as a tree.
- `evaluate`, `conditions`: the tree as conditions, tried on many documents.
- `document`: one of them.
- `finders`, `property_tests`: the leaves: words, phrases, regular expressions, tags, properties.
- `regexp`, `regexp_reader`, `regexp_characters`: JavaScript's regular expressions.

Which documents are tried at all is decided in `core/search`, from the index.
"""
