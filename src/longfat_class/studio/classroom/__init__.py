"""One studio for a class: a link and a folder for each student, and machines that they share.

Each student has a separate application (`app.make_app`), with its own workspace, drafts, jobs
and sessions; none of it is visible to other students. They share the computer, and `machine_queue`
decides who may have a machine.
"""
