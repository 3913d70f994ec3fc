"""The part Privacy of the console: what apps see of a vault (specs/console.md UI-50 to UI-69)."""
