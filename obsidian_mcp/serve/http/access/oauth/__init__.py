"""The sign-in of one owner: an authorization server for programs of remote hosts (specs/remote.md).

    program ─▶ /.well-known/…   `metadata`: where everything is
            ─▶ /register        `registration_form`, or a document of its own: `client_document`
    browser ─▶ /authorize       `authorization_request` ─▶ `owner_check` ─▶ consent ─▶ a code
    program ─▶ /token, /revoke  `issuer`: codes and tokens of a grant
            ─▶ /mcp             `token_source`: a token is a principal with limits

The rules are plain functions and records; `*_pages` answer requests; what is kept is behind the
port `ledger`, what is fetched behind that of `programs`.
"""
