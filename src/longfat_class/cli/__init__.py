"""Commands for classes, a module each."""
