"""What users ask of a vault, carried out: each file is one use case, above the files and changes of
`core/vault`."""
