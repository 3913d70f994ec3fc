"""Days, weeks, zones and formats of dates.

- `clock`: the present time and time zones, which are asked of the system here alone.
- `iso`: dates as ISO 8601 writes them.
- `day_phrase`, `days`: days and periods in words, and which days they mean.
- `periods`, `weeks`, `locale`: periods that notes are made for, weeks, and languages.
- `formats`: the engine of date formats; `moment`, `moment_parse`, `luxon`: the two formats.
"""
