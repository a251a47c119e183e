"""A cluster: cases are run by the workers of a Dask scheduler, and their runs come back.

Dask schedules: it picks the worker for a case by load, priority and memory, steals
work for workers that are idle, and runs a case again whose worker is lost. What Dask
does not have is here:

    executor            `Cluster`, the `Executor`
    connection, tls     the connection to the scheduler, and its loss
    members             the workers that are there
    admission           which of them may take part; kernels for those that lack them
    checks              whether workers agree about one case
    job, attempt        one call of the executor: cases to Dask, results from it
    workers, task       run on a worker: what it is, and one case
    messages            what client and workers send each other
    delivery, packing,  a run on its way back
      storage
"""

from longfat.execution.cluster.executor import Cluster
from longfat.execution.cluster.tls import Certificates

__all__ = ["Certificates", "Cluster"]
