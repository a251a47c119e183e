"""A cluster: works are handed to the workers of a Dask scheduler, and their runs come back.

Dask carries orders and results, and knows who is there. What goes where is
decided here (`handout`), because results count only from workers that are like
this host and agree with each other:

    place               `Cluster`, the workplace
    job, plan           the loop of one run: asks what is to be done, and does it
    connection, tls     to the scheduler, and its loss
    admission, look,    a worker before it gets work: what it is, what it must be,
      differences         the kernels that it lacks
    handout, moves,     which piece goes where; whether workers agree
      checks
    task, words         the far side: one order on a worker, and what is said
    fetch, delivery,    a run on its way back
      packing, storage
"""

from longfat.execution.cluster.place import Cluster
from longfat.execution.cluster.tls import Certificates

__all__ = ["Certificates", "Cluster"]
