"""The studio: a network drawn, run and watched in the browser.

This package is the server, the page is the repository's `web/`. The values that they
exchange are listed in the page's `api/types.ts`, with the same names.

    serve, app           the process, and the application with all routes
    auth                 the access check: token, Host, Origin, and security headers
    requests             the fields of requests, checked; error_responses: errors as JSON
    workspace            the one folder that is read and written
    documents            files opened, saved, converted; `checked` describes a study
    labs, jobs, runs     labs' texts, cases that run, and their results
    live/                sessions: machines whose clock the page controls
"""
