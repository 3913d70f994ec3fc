"""The part Apps of the console: who works with the vaults (specs/console.md UI-70 to UI-89)."""
