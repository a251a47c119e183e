"""General parts without networks: guarded processes, atomic files, checksums, decoding."""
