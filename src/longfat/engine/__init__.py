"""A virtual computer without networks: kernels, sandboxes, machines."""
