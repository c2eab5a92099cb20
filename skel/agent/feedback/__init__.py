"""Findings that follow up others: which program wrote a wrong element, which step broke it, which figure changed."""
