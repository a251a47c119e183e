"""The sandbox of a machine: what its process may see, call and use on the host."""
