"""The contracts of other programs: one folder each, which no other package knows; `compose` mounts
them."""
