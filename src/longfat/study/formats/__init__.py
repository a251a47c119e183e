"""Other forms of a network: MiniEdit files, Mininet scripts, and studies that are written."""
