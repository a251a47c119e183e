"""The command line: one file a command, each thin; results on stdout, talk on stderr."""
