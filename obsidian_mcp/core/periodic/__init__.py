"""Notes made by rule: moment's formats, periodic notes, templates (specs/periodic.md)."""
