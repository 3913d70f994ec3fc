"""The product: one function = one tool."""
