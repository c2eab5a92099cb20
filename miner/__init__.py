"""The miner: turns sources (packages, repositories, folders) into occurrences, claims and drafts."""
