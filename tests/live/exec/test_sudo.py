"""`sudo` and `su` in a machine, where everything is root's already."""

from __future__ import annotations

from tests.live.exec.command import run

# Lines of a shell, what each prints, and its exit status.
LINES = [
    ("sudo id -u", "0", 0),
    ("sudo -nE tc qdisc add dev lo root netem delay 5ms; tc qdisc del dev lo root", "", 0),
    ("sudo -H -u root -- id -u", "0", 0),
    ("sudo --preserve-env --non-interactive --user=root id -u", "0", 0),
    ("sudo --user root id -u", "0", 0),
    ("sudo -p prompt -S id -u", "0", 0),
    ("""sudo A=1 B='2 3' sh -c 'echo "$A $B $USER $SUDO_USER"'""", "1 2 3 root root", 0),
    ("KEPT=yes sudo sh -c 'echo $KEPT'", "yes", 0),
    ("sudo -D /usr/share pwd", "/usr/share", 0),
    ("cd /usr; sudo -i pwd", "/root", 0),
    ("sudo sh -c 'exit 3'", "", 3),
    ("echo 'id -u; exit 4' | sudo bash", "0", 4),
    ("echo 'id -u; exit 4' | sudo su -", "0", 4),
    ("echo 'id -u; exit 4' | sudo -s", "0", 4),
    ("su -c 'id -u; exit 5'", "0", 5),
    ("sudo su nobody -s /bin/sh -c 'id -un'", "nobody", 0),
    ("sudo -u nobody id -un", "nobody", 0),
    ("sudo -u '#1234' id -u", "1234", 0),
    ("sudo -u games -g tty id -gn", "tty", 0),
    ("sudo -b true; sudo -v; sudo -k; sudo -K", "", 0),
    ("sudo missing", "sudo: missing: command not found", 1),
    ("sudo cd /", "sudo: cd: command not found", 1),
    ("sudo -u stranger id", "sudo: unknown user stranger", 1),
    ("sudo -u", "sudo: option requires an argument -- 'u'", 1),
    ("sudo -Z id", "sudo: invalid option -- 'Z'", 1),
    ("sudo --frob id", "sudo: unrecognized option '--frob'", 1),
    ("sudo", "usage: sudo [-AbEHikNnPSsv] [-C num] [-D directory] [-g group] [-h host] "
     "[-p prompt]", 1),
    ("sudo -u nobody sudo id", "sudo: nobody cannot become root: only root can", 1),
]  # fmt: skip


def test_sudo_runs_a_command_with_its_options_understood() -> None:
    script = "".join(
        f"({line}) >/tmp/output 2>&1; echo = $?; head -n 1 /tmp/output\n" for line, _, _ in LINES
    )
    expected = "".join(
        f"= {status}\n{text}\n" if text else f"= {status}\n" for _, text, status in LINES
    )
    assert run("bash", given=script.encode()).stdout.decode() == expected
