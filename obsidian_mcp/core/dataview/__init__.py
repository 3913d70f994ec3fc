"""The query language of the plugin Dataview, without the plugin (specs/dataview.md)."""
