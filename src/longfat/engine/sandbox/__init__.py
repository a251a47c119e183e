"""The sandbox of a machine: what its process may see, call and use of the host."""
