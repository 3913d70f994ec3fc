"""The search language: tokens, parser, evaluation on one document."""
