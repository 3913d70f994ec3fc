"""What a change means to the person who reviews it: words of prose, keys of properties, cells of
tables, targets of links, lines of code (specs/console.md UI-31 to 33). Pure: two texts go in."""
