"""Labs that come with the plug-in: one folder each."""
