"""`longfat studio --class`: the process that serves a class."""

from __future__ import annotations

import csv
import os
import sys
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.studio.app import STATIC
from longfat.studio.auth import Keys, our_hosts
from longfat.studio.browser_sessions import BrowserSessions
from longfat.studio.credentials import Credentials, ServerProof, Tokens, new_token
from longfat.studio.serve import check_page, listening_at, run_server, url_of
from longfat.studio.state import WorkspaceState, workspace_id
from longfat_class.studio.assignments.assignment import read_assignments
from longfat_class.studio.classroom.app import TEACHER, ClassApp, check_students
from longfat_class.studio.classroom.limits import VARIABLE
from longfat_class.studio.classroom.teacher import SCRIPT, TEACHERS_PAGE
from longfat_class.study.roster import read_roster

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from longfat.studio.address import Address
    from longfat_class.studio.classroom.limits import Limits


def serve_class(
    *,
    root: Path,
    roster: Path,
    limits: Limits,
    address: Address,
    browser: bool,
    new_tokens: bool = False,
    new_links: Sequence[str] = (),
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
        new_tokens: make new links for all, also the teacher: earlier ones open nothing any more,
            and all sessions end.
        new_links: the folders of students for whom to do the same.
        assignments: the folders of labs with exercises.
        static: the folder of the built page.

    Raises:
        InputError: the roster, a lab with exercises or the address is wrong, a student for a new
            link is not in the roster, or a folder cannot be made.
        HostError: the page is not built, the port is taken, or a studio already runs there.
    """
    address.check()
    check_page(static, names=("index.html", SCRIPT))
    students = read_roster(roster)
    if not root.is_dir():
        raise InputError(f"{root}: there is no such folder")
    root = root.resolve()
    check_students(students, root=root)
    for folder in new_links:
        if folder not in students:
            raise InputError(
                f"--new-link {folder}: the roster has no such folder{nearest(folder, students)}; "
                f"it has {listed(students)}"
            )
    given = read_assignments(assignments, workspace=root)
    with WorkspaceState(root) as state, listening_at(address, state.last_port) as listening:
        port = listening.getsockname()[1]
        secure = address.tls_cert is not None
        hosts = our_hosts(address.host, port, secure=secure)
        owners = (TEACHER, *students)
        credentials = _credentials(state, owners, anew=owners if new_tokens else new_links)

        def keys(owner: str, workspace: str, jar: str) -> Keys:
            return Keys(
                credentials=credentials,
                owner=owner,
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
            credentials=credentials,
            keys=keys,
            url=url,
            limits=limits,
            assignments=given,
            static=static,
            state=state.folder,
        )
        links = csv.writer(sys.stdout, lineterminator="\n")
        links.writerow(("folder", "name", "link"))
        links.writerows(
            (one.folder, one.name, app.link_of(one.folder)) for one in app.students.values()
        )
        sys.stdout.flush()
        print(f"longfat studio: {limits.words()}", file=sys.stderr)
        token = {"token": credentials.tokens.token_of(TEACHER)}
        teacher = url_of(address.host, port, secure=secure, query=token, path=TEACHERS_PAGE)
        state.note_running(url=teacher, port=port)
        run_server(
            app, listening=listening, address=address, url=teacher, browser=browser, stop=app.stop
        )


def _credentials(
    state: WorkspaceState, owners: Collection[str], *, anew: Collection[str]
) -> Credentials:
    """Return the credentials: stored tokens, and new ones for owners without one.

    A class's links stay valid as long as its course, also from other machines.

    Args:
        state: the state of the class.
        owners: the students' folders, and the teacher.
        anew: those of them who get new links.
    """
    kept = {name: token for name, token in state.class_tokens().items() if name not in anew}
    # Whatever ends here, sessions end no later than their tokens.
    sessions = BrowserSessions(
        state.sessions_file(of_class=True), owners=[name for name in owners if name in kept]
    )
    tokens = {name: kept.get(name) or new_token() for name in owners}
    state.keep_class_tokens(tokens)
    return Credentials(
        tokens=Tokens(tokens, store=state.keep_class_tokens),
        sessions=sessions,
        proof=ServerProof(state.proof_secret()),
    )
