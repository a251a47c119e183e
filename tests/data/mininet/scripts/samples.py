"""Samples a queue for a script, until it is ended."""
from subprocess import PIPE, Popen
from time import sleep


def sample_queue(interface, path):
    open(path, "w").close()
    while True:
        shown = Popen("tc -s qdisc show dev %s" % interface, shell=True, stdout=PIPE)
        with open(path, "ab") as file:
            file.write(shown.stdout.read())
        sleep(0.01)
