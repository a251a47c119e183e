"""Parts that know nothing of networks: guarded processes, whole files, checksums, decoding."""
