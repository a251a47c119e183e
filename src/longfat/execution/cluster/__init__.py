"""A cluster: cases run on the workers of a Dask scheduler, and their runs are transferred back.

Dask schedules: it picks the worker for a case by load, priority and memory, steals
work for workers that are idle, and reruns a case whose worker is lost. What Dask
does not provide is here:

    executor            `Cluster`, the `Executor`
    connection, tls     the connection to the scheduler, and its loss
    members             the available workers
    admission           which of them are accepted; kernels for those that lack them
    checks              whether workers agree about one case
    job, attempt        one call of the executor: submits cases to Dask, collects results
    workers, task       run on a worker: its description, and one case
    messages            what client and workers send each other
    delivery, packing,  transfer of a run
      storage
"""

from longfat.execution.cluster.executor import Cluster
from longfat.execution.cluster.tls import Certificates

__all__ = ["Certificates", "Cluster"]
