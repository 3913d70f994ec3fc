"""Notes made by rule: settings, periodic notes, templates (specs/periodic.md)."""
