"""Points on which the sources are silent or disagree: one named constant each, with the value chosen here (BASE-90).

A user with the app can settle each with one formula in a base.
"""

from __future__ import annotations

EMPTY_LIST_IS_TRUE = False
EMPTY_OBJECT_IS_TRUE = False
ZERO_DURATION_IS_TRUE = False

NOT_NULL_IS_NULL = True
"""`!missing` is null, so a filter with it lists nothing; False makes it true."""

ORDERED_WITH_NULL = False
"""The value of `<`, `>`, `<=`, `>=` with null or with a pair that has no order."""

TEXT_CONTAINS_IGNORES_CASE = True
"""`contains`, `containsAll`, `containsAny` of a text; release note 1.9.1 says so, nothing since."""

LOGIC_GIVES_BOOLEANS = True
"""`a && b` and `a || b` are booleans; False gives the operand, as JavaScript does."""

NULL_IN_LIST_IS_EMPTY = True
"""`list(null)` is an empty list; False makes it a list of one null."""

AVERAGE_DIGITS = 2
"""Places to which the summaries Average and Stddev are rounded."""

STDDEV_OF_POPULATION = True

LINK_EQUALS_TEXT = True
"""A link equals a text that is its target or its `[[…]]` form."""

ATTACHMENTS_KEEP_EXTENSION = True
"""`file.name` of a file that is no note has its extension."""

ISO_TEXTS_ARE_DATES = True
"""A property whose text is an ISO date or date-time is a date, whatever types.json says."""

DEFAULT_COLUMNS = ("file.name",)
"""Columns of a view without `order`."""
