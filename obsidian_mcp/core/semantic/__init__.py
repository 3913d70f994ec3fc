"""Search by meaning: sections of notes as vectors of a model (specs/semantic.md).

It is off until the user chooses a model. It only adds to a search by words, which answers alone
where there is no model, or no answer from it. Models and vectors are adapters, behind the ports
`Embedder` and `Vectors` of `meaning`.
"""
