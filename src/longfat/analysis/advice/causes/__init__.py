"""Root causes of a TCP flow's rate, by what shows them.

Each module yields findings from one kind of evidence: `dropped` from the ledger of losses,
`queues` from links and queues on both ways, `waiting` from what the sender waited for, `growth`
from windows that stay small, `cpu` from the time that a host's work takes.
"""
