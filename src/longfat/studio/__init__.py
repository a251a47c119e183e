"""The studio: a network drawn, run and watched in the browser.

This package is the server, the page is the repository's `web/`. The values that they
exchange are declared here; the page's `api/types.ts` is generated from the declarations
(`tools/web_types.py`).

    serve, app           the process, and the application with all routes
    auth                 the access check: token, Host, Origin, and security headers
    http                 the fields of requests, checked, and errors as JSON
    workspace            the one folder that is read and written
    documents, views     files opened, saved, converted; what the page shows of a study
    labs, jobs, runs     labs' texts, cases that run, and their results
    live/                sessions: machines whose clock the page controls
"""
