"""The console: pages in the browser on which a person sees what assistants did, takes it back, and
decides what they may see (specs/console.md).

request ─▶ Console ─▶ origin_check ─▶ ConsoleSessions ─▶ Part.show or Part.act ─▶ page.py
"""
