"""The studio: a network drawn, run and watched in the browser.

The server is this room, the page is the repository's `web/`; what they say to
each other is listed in the page's `api/types.ts`, with the same names.

    serve, app       the process, and all routes put together
    gate             who may ask: token, Host, Origin, and what a browser may do
    answers, asked   errors as JSON, and what is asked, checked
    workspace        the one folder that is read and written
    documents        files opened, saved, converted; `checked` tells what is in a study
    labs, jobs, runs labs' texts, cases that run, and what they gave
    live/            sessions: a machine whose clock the page holds
"""
