"""A cluster: cases run on the workers of a Dask scheduler, and their runs are transferred back.

Dask schedules: it picks the worker for a case by load, priority and memory, steals
work for workers that are idle, and reruns a case whose worker is lost. Its `Security`
encrypts and authenticates. What Dask does not provide is here:

    executor      `Cluster`, the `Executor`
    connection    the connection to the scheduler, and its loss
    admission     which of the available workers get cases
    job, attempt  one call of the executor: submits cases to Dask, collects results
    worker        run on a worker: its description and preparation, and one case
    transfer      the plan of a job, what client and workers send each other, and the check
                  of what arrives
    options       the options of `longfat run`
    product       the declaration that longfat reads; it imports no other module of these
"""
