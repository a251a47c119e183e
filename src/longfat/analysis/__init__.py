"""What runs amount to: verdicts, advice, comparisons, queries."""
