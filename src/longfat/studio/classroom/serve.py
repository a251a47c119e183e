"""`longfat studio --class`: the process that serves a class."""

from __future__ import annotations

import csv
import json
import os
import secrets
import sys
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.studio.app import STATIC
from longfat.studio.assignments.assignment import read_assignments
from longfat.studio.auth import Keys, our_hosts
from longfat.studio.classroom.app import TEACHER, TEACHERS_PAGE, ClassApp, check_students
from longfat.studio.classroom.limits import VARIABLE
from longfat.studio.serve import check_page, listening_at, run_server, url_of
from longfat.studio.state import WorkspaceState, workspace_id
from longfat.study.grading.roster import read_roster

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from longfat.studio.address import Address
    from longfat.studio.classroom.limits import Limits

_SHORTEST_TOKEN = 32


def serve_class(
    *,
    root: Path,
    roster: Path,
    limits: Limits,
    address: Address,
    browser: bool,
    new_tokens: bool = False,
    assignments: Sequence[Path] = (),
    static: Path = STATIC,
) -> None:
    """Run the studio of a class until a signal ends it.

    Standard output gets each student's link as CSV, standard error the teacher's.

    Args:
        root: the folder of the students' folders.
        roster: the roster.
        limits: the limits of the class.
        address: where to listen.
        browser: open the teacher's page in a browser.
        new_tokens: generate all tokens again: earlier links become invalid.
        assignments: the folders of labs with exercises.
        static: the folder of the built page.

    Raises:
        InputError: the roster, a lab with exercises or the address is wrong, or a folder cannot
            be made.
        HostError: the page is not built, the port is taken, or a studio already runs there.
    """
    address.check()
    check_page(static)
    students = read_roster(roster)
    if not root.is_dir():
        raise InputError(f"{root}: there is no such folder")
    root = root.resolve()
    check_students(students, root=root)
    given = read_assignments(assignments, workspace=root)
    with WorkspaceState(root) as state, listening_at(address, state.last_port) as listening:
        port = listening.getsockname()[1]
        secure = address.tls_cert is not None
        hosts = our_hosts(address.host, port, secure=secure)
        tokens = _tokens(state, students, anew=new_tokens)

        def keys(token: str, workspace: str, jar: str) -> Keys:
            return Keys(
                token=token,
                hosts=hosts,
                port=port,
                secure=secure,
                workspace=workspace,
                jar=f"{jar}-{workspace_id(root)}",
            )

        def url(token: str) -> str:
            return url_of(address.host, port, secure=secure, query={"token": token})

        # Machines read their quota from the environment.
        os.environ[VARIABLE] = limits.quota(os.environ.get(VARIABLE, ""))
        app = ClassApp(
            root=root,
            roster=students,
            tokens=tokens,
            keys=keys,
            url=url,
            limits=limits,
            assignments=given,
            static=static,
            state=state.folder,
        )
        links = csv.writer(sys.stdout, lineterminator="\n")
        links.writerow(("folder", "name", "link"))
        links.writerows((one.folder, one.name, one.url) for one in app.students.values())
        sys.stdout.flush()
        print(f"longfat studio: {limits.words()}", file=sys.stderr)
        token = {"token": tokens[TEACHER]}
        teacher = url_of(address.host, port, secure=secure, query=token, path=TEACHERS_PAGE)
        state.note_running(url=teacher, port=port)
        run_server(
            app, listening=listening, address=address, url=teacher, browser=browser, stop=app.stop
        )


def _tokens(state: WorkspaceState, students: Iterable[str], *, anew: bool) -> dict[str, str]:
    """Return the tokens: the stored ones, and new ones for students without one.

    A class's links stay valid as long as its course, also from other machines. To revoke one,
    remove the student from the roster; `--new-token` generates all of them again.
    """
    kept = {} if anew else state.class_tokens()
    names = (TEACHER, *students)
    found = {
        name: kept[name]
        if len(kept.get(name, "")) >= _SHORTEST_TOKEN
        else secrets.token_urlsafe(32)
        for name in names
    }
    state.keep_class_tokens(json.dumps(found))
    return found
