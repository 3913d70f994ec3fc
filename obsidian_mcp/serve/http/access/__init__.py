"""Who comes in over HTTP, and what each may do: keys, limits, the refusal of everybody else.

    request ─▶ AccessControl.resolve ─▶ a source of principals (KeyRing) ─▶ Principal(name, limits)
                      └─ nobody knows it ─▶ BearerChallenge: the 401

Another way in (tokens of a sign-in, the cookie of a page) is another source.
"""
