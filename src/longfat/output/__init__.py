"""What people look at: plots, reports, the live view of a terminal."""
