"""One studio for a class: a link and a folder for each student, and machines that they share.

Each student has an application of their own (`app.make_app`), with a workspace, drafts, jobs and
sessions of their own; nothing of one is known to another's. What they share is the computer, and
`turns` says who may have a machine.
"""
