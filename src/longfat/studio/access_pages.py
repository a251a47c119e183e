"""Pages for browsers without a session: how to come back. They show nothing of the workspace."""

from __future__ import annotations

LOGGED_OUT_PATH = "/logged-out"
"""Where a browser is sent after a logout; the page needs no credentials."""

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}: longfat studio</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0 auto; padding: 12vh 24px 24px; max-width: 34em;
  background: light-dark(#fff, #14181f); color: light-dark(#1b2230, #e4e8ef);
  font: 15px/1.6 system-ui, "Noto Sans", "DejaVu Sans", sans-serif; }}
h1 {{ font-size: 22px; margin: 0 0 12px; }}
p {{ margin: 0 0 12px; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{first}</p>
<p>To continue, open your link again: the URL that <code>longfat studio</code> printed in its
terminal, or in a class the link that your teacher gave you.</p>
</main>
</body>
</html>
"""


def logged_out_page() -> str:
    """Return the page after a logout."""
    return _PAGE.format(
        title="You are logged out",
        first="This browser has no access to the studio any more. Networks, runs and progress are "
        "kept, and machines that run go on.",
    )


def refused_page() -> str:
    """Return the page for a browser that has no session, or one that has ended."""
    return _PAGE.format(
        title="This browser is not logged in",
        first="This is longfat studio. It needs the token of your link; a login ends by itself "
        "after some time, by a logout, and when you get a new link.",
    )
