"""The claim language: its grammar, its terms, and their values over one case or many."""
