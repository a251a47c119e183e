"""Output for users: plots, reports, the live view of a terminal."""
